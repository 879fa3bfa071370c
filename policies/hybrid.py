"""hybrid: old results are stubs at once, and old turns a summary later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch, whole
from policies.parts.clearing import AllButNewest
from policies.parts.summarising import WHEN_FULL, SummariseOld, when_full
from policies.policy import Composed

__all__ = ["Hybrid"]


class Hybrid(Composed):
    """Masks results as ``masking`` does, and summarises old turns as ``rolling-summary`` does.

    Source: The Complexity Trap (arXiv 2508.21433), hybrid: 43 turns at a time, the newest 10 kept
    (as a third party has it; the paper was not read again).
    """

    name = "hybrid"
    summary = "masks old results every turn, and summarises old turns every so often"
    source = "field"
    options = (
        switch("mask", "clear what is not among the newest results"),
        switch("summarise", "make a summary of the oldest turns"),
        whole("batch", "turns that are summarised together", "turns", 43, 1),
        whole("keep", "newest results, and newest turns, that stay", "each", 10, 0),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 12, 1),
        *WHEN_FULL,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the masking and the two summaries, in that order."""
        if options.on("mask"):
            yield AllButNewest(options["keep"], 0, 0, options["stub"])
        if options.on("summarise"):
            share = options.value("compaction.share")
            yield SummariseOld(options["batch"], options["keep"], share)
        yield from when_full(options)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)
