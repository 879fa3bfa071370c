"""cline-stale-reads: reads that a newer one of the same file outdates, cleared in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole
from policies.parts.capping import CAP, capping
from policies.parts.reads import OlderReads
from policies.parts.stubs import stub

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.view import View

__all__ = ["ClineStaleReads"]


class ClineStaleReads(Clearing):
    """Clears outdated reads together, as soon as they are so many characters, for the cache's sake.

    A byte is a character. The harness tells ranges of a file apart, the model does not. Source:
    Cline at 21cb8d25, sdk/packages/core/src/session/services/message-builder.ts (read in source).
    """

    name = "cline-stale-reads"
    summary = "clears outdated reads of files together, once they come to 65,536 characters"
    source = "Cline SDK, message-builder.ts"
    version = "Cline 21cb8d25, read in source"
    options = (
        CAP,
        whole("batch", "least that is cleared together", "characters", 65_536, 0),
        whole("stub", "what is put in the place of each", "tokens", 10, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the clearing."""
        yield from capping(options, CAPS["cline"])
        yield _Builder(options["batch"], options["stub"])


class _Builder:
    def __init__(self, batch: int, tokens: int) -> None:
        self._batch = batch
        self._stub = tokens
        self._reads = OlderReads(tokens)

    def start(self, view: View) -> None:
        self._reads.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        waiting = self._reads.waiting()
        if sum(map(view.characters, waiting)) < self._batch:
            return
        for segment in waiting:
            yield stub(segment, self._stub, "outdated")
