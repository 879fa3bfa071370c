"""goose: past 0.8 of the window, the user's newest message and a summary are all that stays."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, switch
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.compacting import OnOverflow
from policies.parts.history import History, typed
from policies.parts.units import size
from sim.actions import Evict
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Goose"]

_SHARES = (0, 10, 20, 50, 100)
"""Percent of the results that are left out of what is summarised, try by try."""


class Goose(Summarising):
    """Summarises everything but the newest message of the user, the task if there is no other.

    Where that is more than the summariser takes, a tenth of the results is left out, from the
    middle outwards, then a fifth, a half and all; here they leave, with their calls, before it is
    asked. It acts where the provider refuses, too. With ``pairs``, which was switched on and off
    across versions, the oldest call and its result become a summary while there are more than W
    over 10,000 of them, at least 10 and at most 100. Source: goose,
    crates/goose/src/context_mgmt/mod.rs at 0036b819 (read in source).
    """

    name = "goose"
    summary = "past 0.8 of the window, summarises everything but the user's newest message"
    source = "goose, context_mgmt"
    version = "goose 0036b819, read in source"
    options = (
        CAP,
        number("threshold", "share of W above which it compacts", 0.8, 0.0, 1.0),
        switch("pairs", "summarise the oldest call and result where there are many", off=True),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction, and the summaries of pairs in front of it."""
        yield from capping(options, CAPS["goose"])
        asking = Asking.of(options)
        if options.on("pairs"):
            yield _Pairs(Asking.of(options))
        yield _Everything(asking, options["threshold"])


class _Everything(OnOverflow):
    def __init__(self, asking: Asking, threshold: float) -> None:
        super().__init__(asking)
        self._threshold = threshold

    def due(self, view: View) -> bool:
        return view.tokens > self._threshold * view.context_window

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        last = next((segment for segment in reversed(history) if typed(segment)), None)
        return [segment for segment in history if segment is not last]

    def compact(self, view: View) -> Generator[Action, None, bool]:
        sources = self.chosen(view, list(self.history))
        for segment in self._left_out(view, sources):
            if segment.resident:
                yield Evict(segment.id, "left out")
        return (yield from super().compact(view))

    def _left_out(self, view: View, sources: Sequence[Segment]) -> list[Segment]:
        """Return the results that are too much for the summariser, from the middle outwards."""
        room = view.context_window - self.asking.length(view, sources)
        results = [segment for segment in sources if is_result(segment)]
        for percent in _SHARES:
            count = max(1, len(results) * percent // 100) if percent else 0
            left_out = _from_the_middle(results)[:count]
            if size(sources) - size(left_out) <= room:
                return left_out
        return []


def _from_the_middle(results: Sequence[Segment]) -> list[Segment]:
    """Return *results* from the middle outwards, the one before the middle first."""
    middle = len(results) // 2
    order = sorted(range(len(results)), key=lambda at: (abs(2 * (at - middle) + 1), at))
    return [results[at] for at in order]


class _Pairs:
    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._results = History(lambda s: is_result(s) and not s.sources)

    def start(self, view: View) -> None:
        self._results.start(view)

    def before_call(self, view: View) -> Iterator[Action]:
        most = max(10, min(100, view.context_window // 10_000))
        while len(self._results) > most:
            oldest = next(iter(self._results))
            window = view.context_window
            pair = view.together(oldest)
            came = yield from self._asking.ask(view, pair, Summariser(window=window))
            if not came:
                return
