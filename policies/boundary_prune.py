"""boundary-prune: where one task ends, long results of it become one-line extracts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch, whole
from policies.parts.clearing import AtBoundaries
from policies.parts.frontier import Frontier
from policies.parts.summarising import WHEN_FULL, when_full
from policies.policy import Composed

__all__ = ["BoundaryPrune"]


class BoundaryPrune(Composed):
    """Clears the long results of all turns before, each time the user has something new to say.

    So the cut is near the end of the request, where the next task adds its own. What does not fit
    is left to a summary of everything, as in ``compaction``. Source: Anthropic, Optimizing for cost
    and intelligence (platform.claude.com): results of more than 2,000 characters, 500 tokens here,
    become a line of up to 200 characters and five references, 60 tokens here.
    """

    name = "boundary-prune"
    summary = "at each new message of the user, puts stubs in the place of long results"
    source = "field"
    options = (
        switch("prune", "clear long results where a task ends"),
        whole("least", "shortest result that is cleared", "tokens", 500, 1),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 60, 1),
        switch("breakpoint", "keep a cache breakpoint in front of the next cut"),
        *WHEN_FULL,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the pruning, the summary and the breakpoint, in that order."""
        pruning = AtBoundaries(options["least"], options["stub"])
        if options.on("prune"):
            yield pruning
        yield from when_full(options)
        if options.on("prune") and options.on("breakpoint"):
            yield Frontier(pruning)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)
