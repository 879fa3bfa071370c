"""Superseded material: older results of a tool, and the words and diffs of older attempts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from policies.parts.ranking import ByPosition
from policies.parts.rewriting import taggable
from policies.parts.units import counted, size
from sim.actions import Evict, Rewrite
from sim.segments import WORD_KINDS, Kind

if TYPE_CHECKING:
    from policies.options import Value
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Superseded"]


class Superseded:
    """Turns a superseded result, or a superseded attempt's words and diff together, into a line.

    *old* says which results are superseded. A line is made only where it is shorter than what it
    stands for; what cannot be tagged is evicted instead.
    """

    def __init__(self, old: Callable[[Segment], bool], line_tokens: Value) -> None:
        self._line_tokens = line_tokens
        self._results = ByPosition(
            lambda s: s.kind is Kind.TOOL_RESULT and not s.held and not s.sources and old(s),
            last_first=True,
        )
        self._words = ByPosition(
            lambda s: s.kind in WORD_KINDS and not s.held and not s.sources and s.superseded,
            last_first=True,
        )

    def start(self, view: View) -> None:
        """Ask for superseded results and words."""
        self._results.start(view)
        self._words.start(view)

    def units(self, view: View) -> Iterator[list[Segment]]:
        """Yield what would become one line each, last position first; read it before acting.

        The position of an attempt is that of its front-most member.
        """
        attempts = self._attempts(view)
        attempt = next(attempts, None)
        for result in self._results.candidates(view):
            while attempt is not None and attempt[0].slot > result.slot:
                yield attempt
                attempt = next(attempts, None)
            unit = view.together(result)
            if self._shortens(view, unit):
                yield unit
        while attempt is not None:
            yield attempt
            attempt = next(attempts, None)

    def _attempts(self, view: View) -> Iterator[list[Segment]]:
        """Yield the resident words and diffs of each superseded attempt, last front first."""
        waiting: list[tuple[int, list[Segment]]] = []
        seen: set[int | None] = set()
        for word in self._words.candidates(view):
            while waiting and -waiting[0][0] > word.slot:
                yield heappop(waiting)[1]
            if word.attempt in seen or word.attempt is None:
                continue
            seen.add(word.attempt)
            unit = [s for s in view.roles.words(word.attempt) if s in self._words]
            unit = list(dict.fromkeys(m for s in unit for m in view.together(s)))
            unit.sort(key=lambda s: s.slot)
            if self._shortens(view, unit):
                heappush(waiting, (-unit[0].slot, unit))
        while waiting:
            yield heappop(waiting)[1]

    def _shortens(self, view: View, unit: list[Segment]) -> bool:
        return size(unit) > int(self._line_tokens(view))

    def gain(self, view: View, unit: list[Segment]) -> int:
        """Return the tokens that a line in the place of *unit* frees, as the harness counts."""
        return counted(view, unit) - int(self._line_tokens(view))

    def action(self, view: View, unit: list[Segment]) -> Rewrite | Evict:
        """Return the line of *unit*, or the eviction of the last of it that cannot be tagged."""
        for segment in reversed(unit):
            if not taggable(view.together(segment)):
                return Evict(segment.id, "untaggable")
        tokens = int(self._line_tokens(view))
        return Rewrite(tuple(s.id for s in unit), tokens, True, "superseded", line=True)
