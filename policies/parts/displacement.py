"""Displacement: what would have to leave for something to come in, and whether it may."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.parts.units import counted, leading, under_way
from sim.segments import Kind, originals

if TYPE_CHECKING:
    from policies.options import Value
    from policies.parts.ranking import Ranking, Stays
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Displacement", "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something may come in.

    *how* is ``slack`` or ``swap``, or the reason why not: ``oversize``, ``pinned`` or ``margin``.
    *displaced* names one segment of each that would leave; *score* and *floor* are the saliences
    that were compared.
    """

    how: str
    score: float
    displaced: tuple[str, ...] = ()
    floor: float | None = None

    @property
    def granted(self) -> bool:
        """Whether it may come in."""
        return self.how in ("slack", "swap")


class Displacement:
    """Weighs what comes in against the shortest run of those who would have to leave.

    Occupancy is tokens, or the salience mass of all that is resident; then tokens must fit, too.
    A sum over the window is taken for each decision under ``mass``, and only then. The segment
    that covers a fact of what comes in never leaves for it, nor does its own call, nor a call
    whose result is still to come. A fact counts from the turn in which it shows.
    """

    def __init__(
        self,
        trigger: Value,
        occupancy: Value,
        comparison: Value,
        margin: Value,
        *,
        oversize: bool = True,
        swaps: bool = True,
        covers: bool = True,
    ) -> None:
        self._trigger = trigger
        self._occupancy = occupancy
        self._comparison = comparison
        self._margin = margin
        self._oversize = oversize
        self._swaps = swaps
        self._covers = covers
        self._head: Order | None = None

    def start(self, view: View) -> None:
        """Ask for system and task."""
        if self._head is None:
            self._head = view.position_order(lambda s: s.kind in (Kind.SYSTEM, Kind.TASK))

    def too_large(self, view: View, tokens: int) -> bool:
        """Whether *tokens*, as the harness counts them, exceed the budget less system and task."""
        return self._oversize and tokens > view.budget - counted(view, self._head or ())

    def need(self, view: View, tokens: int) -> int:
        """Return the tokens to be freed before *tokens* fit, all as the harness counts them.

        0 or less if they do.
        """
        full = view.budget
        if self._occupancy(view) == "tokens":
            full = math.floor(self._trigger(view) * view.budget + 1e-9)
        return view.tokens + tokens - full

    def weigh(
        self,
        view: View,
        segment: Segment,
        tokens: int,
        ranking: Ranking,
        base: Segment | None = None,
    ) -> Verdict:
        """Decide about *segment*, that would take *tokens*; who leaves first, *ranking* says.

        The *base* of a difference stays.
        """
        score = view.salience(segment)
        tokens = view.size(segment, tokens)
        if self.too_large(view, tokens):
            return Verdict("oversize", score)
        need, mass = self.need(view, tokens), self._mass(view, score)
        if need <= 0 and mass <= 0.0:
            return Verdict("slack", score)
        run: list[Segment] = []
        leaving: list[float] = []
        stays = self._stays(view, segment, base)
        for other in _distinct(view, ranking.candidates(view, need, stays)):
            unit = view.together(other)
            run.append(other)
            leaving.extend(view.salience(s) for s in leading(unit))
            need -= counted(view, unit)
            mass -= math.fsum(view.salience(s) for s in unit)
            if need <= 0 and mass <= 0.0:
                break
        names = tuple(s.id for s in run)
        if need > 0 or mass > 0.0:
            return Verdict("pinned", score, names)
        floor = _FLOORS[self._comparison(view)](leaving)
        swap = self._swaps and score > floor + self._margin(view)
        return Verdict("swap" if swap else "margin", score, names, floor)

    def _mass(self, view: View, score: float) -> float:
        if self._occupancy(view) == "tokens":
            return 0.0
        resident = math.fsum(view.salience(s) for s in view.window)
        return resident + score - float(self._trigger(view))

    def _stays(self, view: View, incoming: Segment, base: Segment | None) -> Stays:
        keys = _shown(view, incoming) if self._covers else []

        def covering(segment: Segment) -> bool:
            stands_in = segment.kind is Kind.SUMMARY or segment.is_surrogate
            covered = [key for key in keys if segment.carries(key)] if stands_in else []
            sources = originals((segment,)) if covered else ()
            return any(key in _shown(view, source) for source in sources for key in covered)

        def stays(segment: Segment) -> bool:
            if incoming.pair is not None and segment.pair == incoming.pair:
                return True
            if under_way(view, segment) or (base is not None and base in view.together(segment)):
                return True
            return bool(keys) and any(covering(s) for s in view.together(segment))

        return stays


def _shown(view: View, segment: Segment) -> list[str]:
    """Return the keys of the facts of *segment* that have shown by now."""
    return [fact.key for fact in segment.facts if fact.since <= view.turn]


def _distinct(view: View, candidates: Iterable[Segment]) -> Iterator[Segment]:
    """Yield *candidates* without those that leave with an earlier one."""
    gone: set[Segment] = set()
    for segment in candidates:
        if segment not in gone:
            gone.update(view.together(segment))
            yield segment


_FLOORS: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "sum": math.fsum}
