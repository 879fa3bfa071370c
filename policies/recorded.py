"""recorded: compacts where the recording's own harness did, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.options import Options, setting
from policies.parts.ranking import unpinned
from policies.parts.units import size
from policies.policy import Composed
from sim.actions import Rewrite

if TYPE_CHECKING:
    from policies.options import Value
    from sim.orders import Order
    from sim.view import View

__all__ = ["Recorded"]


class _Repeat:
    """Replaces what a recorded compaction removed by a summary of the recorded size.

    Where that size is not recorded it is *share* of what the summary stands for.
    """

    def __init__(self, share: Value) -> None:
        self._share = share
        self._unpinned: Order | None = None

    def start(self, view: View) -> None:
        """Ask for what is unpinned, in the order of the request."""
        self._unpinned = view.position_order(unpinned)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        """Compact if the recording did."""
        compaction = view.compaction
        if compaction is None:
            return
        kept = frozenset(compaction.kept)
        sources = [segment for segment in self._unpinned or () if segment.id not in kept]
        before, tokens = size(sources), compaction.tokens
        if tokens is None:
            tokens = max(1, int(self._share(view) * before))
        if 0 < tokens < before:
            yield Rewrite(tuple(s.id for s in sources), tokens, True, "recorded", whole=True)


class Recorded(Composed):
    """Makes the compactions of a recorded session, at their turns and in their sizes.

    Source: the recording; it declares that it spends, as every compaction does.
    """

    name = "recorded"
    summary = "compacts where the recorded session's own harness did, and nowhere else"
    source = "recording"
    requires = frozenset({"recording"})
    edits = False
    options = (setting("compaction.share"),)

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the compactions of the recording."""
        yield _Repeat(options.value("compaction.share"))

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that the summary's room is spent in the same turn."""
        return ("spends",)
