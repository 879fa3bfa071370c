"""pi: near the window, all but the newest tokens is summarised, a cut turn apart."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import OnOverflow
from policies.parts.history import before_pairs, behind_pairs, newest, typed
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Pi"]


class Pi(Summarising):
    """Summarises what stands in front of the newest 20,000 tokens, or so.

    The segment with which they are reached stays, too; the cut moves back from a result at the end,
    else forward, so that none loses its call. Where it falls into a turn of the user, what stands
    of that turn in front of it gets a summary of its own. An earlier summary is part of the next.
    It acts where the provider refuses, too. Source: pi, packages/coding-agent/src/core/compaction
    and docs/compaction.md at 83378aad (read in source).
    """

    name = "pi"
    summary = "near the window, summarises all but the newest tokens, a cut turn apart"
    source = "pi, core/compaction"
    version = "pi 83378aad, read in source"
    options = (
        CAP,
        whole("reserve", "what of W it leaves free", "tokens", 16_384, 0),
        whole("keep", "newest history that stays", "tokens", 20_000, 0),
        number("clip", "most that a summary has, as a share of the reserve", 0.8, 0.0, 1.0),
        whole("results", "what the summariser sees of a result", "characters", 2_000, 1),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["pi"])
        yield _Session(Asking.of(options), options)


class _Session(OnOverflow):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._reserve: int = options["reserve"]
        self._keep: int = options["keep"]
        self._clip: float = options["clip"]
        self._results: int = options["results"]

    def due(self, view: View) -> bool:
        return view.tokens > view.context_window - self._reserve

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        sizes = [view.size(segment) for segment in history]
        cut = max(0, newest(sizes, max(0, self._keep - 1)) - 1)
        behind = behind_pairs(view, history, cut)
        cut = behind if behind < len(history) else before_pairs(view, history, cut)
        return history[:cut]

    def compact(self, view: View) -> Generator[Action, None, bool]:
        history = list(self.history)
        older = self.chosen(view, history)
        split = self._turn(history, len(older))
        asked = self.summarisers(view, older)
        came = yield from self.asking.ask(view, older[:split], *asked)
        begun = yield from self.asking.ask(view, older[split:], *asked)
        return came or begun

    def _turn(self, history: Sequence[Segment], cut: int) -> int:
        """Return where the turn begins that is cut at *cut*; *cut* where none is."""
        if cut == len(history) or typed(history[cut]):
            return cut
        return next((at for at in range(cut - 1, -1, -1) if typed(history[at])), cut)

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        clip = max(1, int(self._clip * self._reserve))
        cap = max(1, view.tokens_of(self._results, Kind.TOOL_RESULT))
        return (Summariser(window=view.context_window, clip=clip, result_cap=cap),)
