"""Asking the model for a summary: what it is sent, what that costs, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sim.attribution import Cause, own
from sim.prefix_cache import Usage
from sim.streams import uniform
from sim.summariser import given, rounds, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.summariser import Summariser
    from sim.world import World

__all__ = ["Asking", "Text", "cause_of"]


class Text(NamedTuple):
    """The text of a surrogate to be: its id, its size and the facts that it states."""

    surrogate: str
    tokens: int
    kept: frozenset[str]
    made_up: frozenset[str]
    given: int | None
    """Tokens that a summariser was sent, 0 if none was asked; None where it is a rewrite of the
    agent's own model."""


def cause_of(rewrite: Rewrite) -> str:
    """Return what the tokens of a surrogate are due to, one of ``sim.attribution.CAUSES``."""
    return "compaction" if rewrite.whole else "rewrite"


class Asking:
    """Sends sources to a summariser, with its limits and failures, at its own price if it has one.

    A summariser with a price row of its own is another model: it reads nothing from the cache.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def ask(
        self, rewrite: Rewrite, summariser: Summariser, sources: Sequence[Segment]
    ) -> Text | None:
        """Return the summary of *sources*, in the order of the request, or None if there is none.

        Where nothing of them fits what the summariser may be given, nobody is asked: a fixed text
        of the size asked for, which states nothing, takes their place.
        """
        world = self._world
        output = summariser.written(rewrite.tokens)
        shown = self._shown(summariser, sources, output)
        if shown is None:
            self._wasted("overflow", sources)
            return None
        if not shown:
            return Text(world.new_id(), output, frozenset(), frozenset(), 0)
        for attempt in range(summariser.tries):
            root, round_ = rounds(sources[0])
            event = root, sources[-1].id, world.view.turn, round_, attempt
            if uniform(world.seed, "summariser.fail", *event) < world.settings.summariser_fail:
                self._wasted("failed", sources, *self._send(rewrite, summariser, shown, output))
                continue
            surrogate = world.new_id()
            sent = self._send(rewrite, summariser, shown, output)
            world.record("maintain", surrogate, *sent)
            kept, made_up = summarise(world.settings, world.seed, sources, shown, output)
            return Text(surrogate, output, kept, made_up, sent[0])
        return None

    def _shown(
        self, summariser: Summariser, sources: Sequence[Segment], output: int
    ) -> Mapping[Segment, int] | None:
        """Return what is given of each source, None if that is more than its window holds."""
        window = summariser.window
        rest = summariser.prompt + output
        if summariser.cached:
            held = self._world.window.tokens
            if window is None or held + rest <= window:
                return {source: source.tokens for source in sources}
            if not summariser.drops:
                return None
        everything = sum(source.tokens for source in sources)
        room = everything if window is None else max(0, window - rest)
        shown = given(summariser, sources, everything)
        if sum(shown.values()) <= room:
            return shown
        return given(summariser, sources, room) if summariser.drops else None

    def _send(
        self,
        rewrite: Rewrite,
        summariser: Summariser,
        shown: Mapping[Segment, int],
        output: int,
    ) -> tuple[int, int, int, float, tuple[Cause, ...]]:
        """Send one request, or as many as a summary takes; return what they add up to.

        That is input, what was read of it, output, dollars and causes.
        """
        world, cause = self._world, cause_of(rewrite)
        price, own_price = world.meter.price, world.writer
        tokens = read = written = 0
        usd = seconds = 0.0
        causes: list[tuple[Cause, ...]] = []
        for _ in range(summariser.calls):
            if summariser.cached and own_price is None:
                sent = world.request()
                prompt = Usage(summariser.prompt, 0, 0, summariser.prompt)
                usage = sent.usage
                extra = price.input_cost(prompt) + price.output_cost(output, usage.tokens)
                usd += price.input_cost(usage) + extra
                causes.append(_with(own(sent.causes, cause, extra), cause, summariser.prompt))
                tokens, read = tokens + usage.tokens + summariser.prompt, read + usage.read
                uncached = usage.tokens - usage.read + summariser.prompt
                seconds += price.speed.prefill_seconds(uncached, usage.read)
            else:
                asked = own_price or price
                size = world.window.tokens if summariser.cached else sum(shown.values())
                size += summariser.prompt
                usage = Usage(size, 0, 0, size)
                paid = asked.input_cost(usage) + asked.output_cost(output, size)
                usd += paid
                causes.append((Cause(cause, size, paid),))
                tokens += size
                seconds += asked.speed.prefill_seconds(size, 0)
            written += output
            seconds += (own_price or price).speed.decode_seconds(output)
        world.rewriting_seconds = max(world.rewriting_seconds, seconds)
        return tokens, read, written, usd, _summed(causes)

    def _wasted(
        self,
        why: str,
        sources: Sequence[Segment],
        tokens: int = 0,
        read: int = 0,
        output: int = 0,
        usd: float = 0.0,
        causes: tuple[Cause, ...] = (),
    ) -> None:
        names = tuple(source.id for source in sources)
        self._world.record("wasted", why, names, tokens, read, output, usd, causes)


def _with(causes: Iterable[Cause], cause: str, tokens: int) -> tuple[Cause, ...]:
    """Return *causes* with so many more *tokens* of one of them, whose price is in it already."""
    return tuple(
        Cause(each.cause, each.tokens + tokens, each.usd) if each.cause == cause else each
        for each in causes
    )


def _summed(requests: Sequence[tuple[Cause, ...]]) -> tuple[Cause, ...]:
    """Return the causes of several requests as one."""
    if len(requests) == 1:
        return requests[0]
    found: dict[str, tuple[int, float]] = {}
    for causes in requests:
        for cause, tokens, usd in causes:
            before = found.get(cause, (0, 0.0))
            found[cause] = before[0] + tokens, before[1] + usd
    return tuple(Cause(cause, *sums) for cause, sums in found.items())
