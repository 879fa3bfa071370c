"""compaction: over a share of the budget, everything becomes one summary and the run goes on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, setting, switch
from policies.parts.summarising import Compact
from policies.policy import Composed

__all__ = ["Compaction"]


class Compaction(Composed):
    """Rewrites all that is unpinned into one tagged summary; declares that it spends.

    Source: S3, what eviction is not; the shape of the field's own harnesses.
    """

    name = "compaction"
    summary = "over its share of the budget, makes one summary of everything unpinned"
    source = "field"
    edits = False
    options = (
        switch("compact", "make the summary"),
        setting("compaction.at"),
        setting("compaction.share"),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the compaction."""
        if options.on("compact"):
            yield Compact(options.value("compaction.at"), options.value("compaction.share"))

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that the summary's room is spent in the same turn."""
        return ("spends",)
