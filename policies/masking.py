"""masking: every result but the newest ones is a stub, from the first turn on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch, whole
from policies.parts.clearing import AllButNewest
from policies.parts.frontier import Frontier
from policies.parts.summarising import WHEN_FULL, when_full
from policies.policy import Composed

__all__ = ["Masking"]


class Masking(Composed):
    """Clears each result as soon as it is not among the newest, whatever that does to the prefix.

    What then does not fit is left to a summary of everything, as in ``compaction``. Source: The
    Complexity Trap (arXiv 2508.21433), observation masking with the newest 10 kept.
    """

    name = "masking"
    summary = "keeps the newest results and puts stubs in the place of all others, every turn"
    source = "field"
    options = (
        switch("mask", "clear what is not among the newest results"),
        whole("keep", "newest results that stay", "results", 10, 0),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 12, 1),
        switch("breakpoint", "keep a cache breakpoint in front of the next cut", off=True),
        *WHEN_FULL,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the masking, the summary and the breakpoint, in that order."""
        masking = AllButNewest(options["keep"], 0, 0, options["stub"])
        if options.on("mask"):
            yield masking
        yield from when_full(options)
        if options.on("mask") and options.on("breakpoint"):
            yield Frontier(masking)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)
