"""Asking the model for a summary: what it is sent, what that costs, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sim.attribution import Cause, own
from sim.keeping import Keeping, Unwritten, rounds
from sim.prefix_cache import Usage
from sim.streams import uniform
from sim.summariser import Drafting, given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.summariser import Summariser
    from sim.world import World

__all__ = ["Asking", "Text", "cause_of"]


class Text(NamedTuple):
    """The text of a surrogate to be: its id, its size and the rule of what it states."""

    surrogate: str
    tokens: int
    keeping: Keeping
    given: int | None
    """Tokens that a summariser was sent, 0 if none was asked; None where it is a rewrite of the
    agent's own model."""


class _Request(NamedTuple):
    """What a summariser is asked with: how much of each source, and whether in the cached prefix.

    In the cached prefix it is given everything that is resident.
    """

    shown: Mapping[Segment, int]
    cached: bool


class _Paid(NamedTuple):
    """What requests add up to: input, what was read of it, output and dollars.

    Then how many they are, whether the cache saw them, and what their tokens are due to.
    """

    input: int = 0
    read: int = 0
    output: int = 0
    usd: float = 0.0
    calls: int = 0
    prefix: bool = False
    causes: tuple[Cause, ...] = ()


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
        request = self._request(summariser, sources, output)
        if request is None:
            self._wasted("overflow", sources)
            return None
        if not request.shown:
            return Text(world.new_id(), output, Unwritten(), 0)
        seconds = 0.0
        for attempt in range(summariser.tries):
            root, round_ = rounds(sources[0])
            event = root, sources[-1].id, world.view.turn, round_, attempt
            fails = uniform(world.seed, "summariser.fail", *event) < world.settings.summariser_fail
            surrogate = "" if fails else world.new_id()
            paid, took = self._send(rewrite, summariser, request, output)
            seconds += took
            world.rewriting_seconds = max(world.rewriting_seconds, seconds)
            if fails:
                self._wasted("failed", sources, paid)
                continue
            world.record("maintain", surrogate, *paid)
            ratio = sum(request.shown.values()) / output
            keeping = Drafting(world.settings, world.seed, request.shown, ratio)
            return Text(surrogate, output, keeping, paid.input)
        return None

    def _request(
        self, summariser: Summariser, sources: Sequence[Segment], output: int
    ) -> _Request | None:
        """Return what is asked with, None if that is more than its window holds."""
        window = summariser.window
        rest = summariser.prompt + output
        if summariser.cached:
            if window is None or self._world.window.tokens + rest <= window:
                return _Request({source: source.tokens for source in sources}, True)
            if not summariser.drops:
                return None
        everything = sum(source.tokens for source in sources)
        room = everything if window is None else max(0, window - rest)
        shown = given(summariser, sources, everything)
        if sum(shown.values()) > room:
            if not summariser.drops:
                return None
            shown = given(summariser, sources, room)
        return _Request(shown, False)

    def _send(
        self, rewrite: Rewrite, summariser: Summariser, request: _Request, output: int
    ) -> tuple[_Paid, float]:
        """Send one request, or as many as a summary takes; return them as one, and the seconds."""
        world, cause = self._world, cause_of(rewrite)
        price, own_price = world.meter.price, world.writer
        tokens = read = 0
        usd = seconds = 0.0
        prefix = request.cached and own_price is None
        causes: list[tuple[Cause, ...]] = []
        for _ in range(summariser.calls):
            if prefix:
                sent = world.request(summariser.prompt, cause)
                usage = sent.usage
                output_usd = price.output_cost(output, usage.tokens)
                paid = price.input_cost(usage) + output_usd
                causes.append(own(sent.causes, cause, output_usd))
            else:
                asked = own_price or price
                held = world.window.tokens if request.cached else sum(request.shown.values())
                size = held + summariser.prompt
                usage = Usage(size, 0, 0, size)
                paid = asked.input_cost(usage) + asked.output_cost(output, size)
                causes.append((Cause(cause, size, paid),))
            usd += paid
            tokens, read = tokens + usage.tokens, read + usage.read
            speed = (own_price or price).speed
            seconds += speed.prefill_seconds(usage.tokens - usage.read, usage.read)
            seconds += speed.decode_seconds(output)
        calls = summariser.calls
        return _Paid(tokens, read, output * calls, usd, calls, prefix, _summed(causes)), seconds

    def _wasted(self, why: str, sources: Sequence[Segment], paid: _Paid | None = None) -> None:
        names = tuple(source.id for source in sources)
        self._world.record("wasted", why, names, *(paid or _Paid()))


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
