"""lease: old tool results are cleared in batches, each replaced by a short stub."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from policies.options import Options, choice, switch, whole
from policies.parts.batches import Batches
from policies.parts.clearing import is_result
from policies.parts.frontier import Frontier
from policies.parts.summarising import WHEN_FULL, when_full
from policies.policy import Composed
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Lease"]


class Lease(Composed):
    """Clears tool results that have been in the window for some calls, when enough can go at once.

    With ``what=all`` the arguments of old calls and old thinking go, too, whatever their length.
    What a window over its share of the budget makes necessary is left to a summary of everything,
    as in ``compaction``. Source: FutureEnterprises/anatomy, docs/essay.md, one rule in two replays
    (results of at least 500 tokens, 3 calls, batches of 30,000, stubs of 40), and there its
    batches of results, arguments and thinking.
    """

    name = "lease"
    summary = "clears old tool results in batches, and compacts what still does not fit"
    source = "field"
    options = (
        switch("clear", "clear batches; off: only compact"),
        choice("what", "what is cleared", "results", "results", "all"),
        whole("least", "shortest result that is cleared", "tokens", 500, 1),
        whole("age", "calls that a segment is in before it can be cleared", "calls", 3, 0),
        whole("batch", "fewest tokens that are cleared together", "tokens", 30_000, 1),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 40, 1),
        switch("breakpoint", "keep a cache breakpoint in front of the next cut"),
        *WHEN_FULL,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the batches, the summary and the breakpoint, in that order."""
        least, everything = options["least"], options["what"] == "all"
        numbers = options["age"], options["batch"], options["stub"]
        batches = Batches(_old(least, everything), *numbers)
        if options.on("clear"):
            yield batches
        yield from when_full(options)
        if options.on("clear") and options.on("breakpoint"):
            yield Frontier(batches)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)


def _old(least: int, everything: bool) -> Callable[[View, Segment], bool]:
    """Return what is cleared: results from *least* tokens on, with *everything* words of calls."""

    def old(view: View, segment: Segment) -> bool:
        if is_result(segment):
            return view.size(segment) >= least
        return everything and segment.kind in (Kind.THINKING, Kind.TOOL_CALL)

    return old
