"""opencode: at the limit, all but the last two turns of the user is summarised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import OnOverflow
from policies.parts.history import behind_pairs, newest, typed
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Opencode"]


class Opencode(Summarising):
    """Keeps the last 2 turns of the user as far as a quarter of the room allows.

    A turn goes from one message of the user to the next. The one that does not fit is cut: its
    newest part stays. The room is W less the most that an answer takes (``output.reserve``), of
    which at most 20,000 count; at it, it compacts, and where the provider refuses. A summary before
    is part of the next. Source: opencode, packages/opencode/src/session/compaction.ts and
    overflow.ts at 08f74b9b (read in source).
    """

    name = "opencode"
    summary = "at the limit, summarises all but the last two turns of the user, or their ends"
    source = "opencode, compaction.ts"
    version = "opencode 08f74b9b, read in source"
    options = (
        CAP,
        whole("buffer", "most of W that is set aside for the answer", "tokens", 20_000, 0),
        whole("turns", "newest turns of the user that stay", "turns", 2, 0),
        number("keep", "share of the room that they may take", 0.25, 0.0, 1.0),
        whole("least", "least that they may take", "tokens", 2_000, 0),
        whole("most", "most that they may take", "tokens", 8_000, 0),
        whole("results", "what the summariser sees of a result", "characters", 2_000, 1),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["opencode"])
        yield _Session(Asking.of(options), options)


class _Session(OnOverflow):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._buffer: int = options["buffer"]
        self._turns: int = options["turns"]
        self._keep: float = options["keep"]
        self._least: int = options["least"]
        self._most: int = options["most"]
        self._results: int = options["results"]

    def _room(self, view: View) -> int:
        return view.context_window - min(self._buffer, view.settings.output_reserve)

    def due(self, view: View) -> bool:
        return view.tokens >= self._room(view)

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        sizes = [view.size(segment) for segment in history]
        starts = [at for at, segment in enumerate(history) if typed(segment)]
        kept = starts[-self._turns :] if self._turns else []
        first = kept[0] if kept else (0 if self._turns and not starts else len(history))
        most = max(self._least, min(self._most, int(self._keep * self._room(view))))
        cut = max(first, newest(sizes, most))
        return history[: behind_pairs(view, history, cut)]

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        cap = max(1, view.tokens_of(self._results, Kind.TOOL_RESULT))
        return (Summariser(window=view.context_window, result_cap=cap),)
