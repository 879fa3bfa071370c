"""The meter: what each request costs in tokens, seconds and dollars."""

from __future__ import annotations

from collections.abc import Sequence

from sim.prefix_cache import MAX_BREAKPOINTS, PrefixCache, Usage, make_cache
from sim.prices import Price
from sim.segments import Segment
from sim.window import Window

__all__ = ["Meter"]


class Meter:
    """Sends the window to a prefix cache, request by request, at one price.

    The prompt follows the window from the first change on, so a request costs as much time as
    has changed since the one before.
    """

    def __init__(self, window: Window, price: Price, breakpoints: Sequence[str]) -> None:
        self.price = price
        self.breakpoints: tuple[str, ...] = tuple(breakpoints)
        """Segments after which a breakpoint stands, besides one at the end if fewer than four do;
        empty: the rule's default."""
        self._window = window
        self._cache: PrefixCache = make_cache(price.rules)
        self._prompt = self._cache.prompt()

    def request(self, now: float, log: dict[str, Segment]) -> Usage:
        """Send the window as it is and return how its tokens were billed."""
        prompt, window = self._prompt, self._window
        if window.first_changed < len(prompt):
            prompt.truncate(window.first_changed)
        for segment in window.segments[len(prompt) :]:
            prompt.append(segment.id, segment.version, segment.tokens, segment.kind)
        window.first_changed = len(window.segments)
        return self._cache.call(prompt, now, self._places(log))

    def _places(self, log: dict[str, Segment]) -> list[int] | None:
        if not self.breakpoints:
            return None
        places = {
            self._window.index(log[name]) + 1
            for name in self.breakpoints
            if name in log and log[name].resident
        }
        if len(places) < MAX_BREAKPOINTS:
            places.add(len(self._window))
        return sorted(places - {0})[:MAX_BREAKPOINTS]

    def input_usd(self, usage: Usage) -> float:
        """Return the price of a request's input."""
        return self.price.input_cost(usage)

    def output_usd(self, tokens: int, request_tokens: int) -> float:
        """Return the price of *tokens* of output to a request of *request_tokens*."""
        return self.price.output_cost(tokens, request_tokens)

    def prefill_seconds(self, usage: Usage) -> float:
        """Return the seconds until the first token of the answer."""
        return self.price.speed.prefill_seconds(usage.tokens - usage.read, usage.read)

    def decode_seconds(self, tokens: int) -> float:
        """Return the seconds that *tokens* of output take."""
        return self.price.speed.decode_seconds(tokens)
