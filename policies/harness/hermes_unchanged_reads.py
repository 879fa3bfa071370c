"""hermes-unchanged-reads: a file that was read before is not shown again, whatever became of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch, whole
from policies.parts.ranking import ByPosition, unpinned
from policies.parts.removal import EvictUntilFit
from policies.parts.unchanged import UnchangedReads
from policies.policy import Composed

__all__ = ["HermesUnchangedReads"]


class HermesUnchangedReads(Composed):
    """Evicts the oldest, and answers a second read of an unchanged file with a stub.

    Whether the first read is still in the window it does not ask; with ``checks=on`` it does, which
    is the repair. What makes room in that harness is no part of the report: here the oldest go,
    pins apart.

    Source: NousResearch/hermes-agent, issue 90949 (thread).
    """

    name = "hermes-unchanged-reads"
    summary = "evicts the oldest, and answers a second read of an unchanged file with a stub"
    source = "NousResearch/hermes-agent, issue 90949"
    version = "as of that issue (thread)"
    options = (
        switch("unchanged", "answer a second read of the same version with a stub"),
        switch("checks", "not where the first read has left the window", off=True),
        switch("evict", "evict from the front while the window does not fit"),
        whole("stub", "what is put in the place of such a read, with its tag", "tokens", 12, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the stubs and the eviction, in that order."""
        if options.on("unchanged"):
            yield UnchangedReads(options["stub"], checks=options.on("checks"))
        if options.on("evict"):
            yield EvictUntilFit(ByPosition(unpinned), "oldest")

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that room is spent in the turn that makes it."""
        if options.on("unchanged"):
            yield "spends"
