"""naive-trim: ranks nothing but files, by retrieval rank, and drops the worst-ranked first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch
from policies.parts.ranking import ByRank
from policies.parts.removal import EvictUntilFit
from policies.policy import Composed

__all__ = ["NaiveTrim"]


class NaiveTrim(Composed):
    """Evicts the files that retrieval ranked worst; knows nothing of any other segment.

    Needs retrieval ranks. What no ranked file can free is left to the backstop. Source: S3, the
    harness whose log opens the chapter.
    """

    name = "naive-trim"
    summary = "evicts the worst-ranked files and knows nothing else"
    source = "S3"
    requires = frozenset({"ranks"})
    options = (switch("trim", "evict the worst-ranked files while the window does not fit"),)

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the pass."""
        if options.on("trim"):
            yield EvictUntilFit(ByRank(), "rank")
