"""rolling-summary: every so many turns, the old ones become one summary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch, whole
from policies.parts.summarising import WHEN_FULL, SummariseOld, when_full
from policies.policy import Composed

__all__ = ["RollingSummary"]


class RollingSummary(Composed):
    """Summarises the oldest turns, the summary before among them, and keeps the newest as they are.

    What does not fit in between is left to a summary of everything, as in ``compaction``. Source:
    The Complexity Trap (arXiv 2508.21433), LLM summary: 21 turns at a time, the newest 10 kept (as
    a third party has it; the paper was not read again).
    """

    name = "rolling-summary"
    summary = "every so many turns, makes one summary of all but the newest turns"
    source = "field"
    options = (
        switch("summarise", "make a summary of the oldest turns"),
        whole("batch", "turns that are summarised together", "turns", 21, 1),
        whole("keep", "newest turns that stay", "turns", 10, 0),
        *WHEN_FULL,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the summaries of old turns and of everything, in that order."""
        if options.on("summarise"):
            share = options.value("compaction.share")
            yield SummariseOld(options["batch"], options["keep"], share)
        yield from when_full(options)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        return ("spends",)
