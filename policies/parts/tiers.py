"""Tiers: the order of giving up by role in the loop, superseded material before anything else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from policies.parts.lines import Superseded
from policies.parts.ranking import ByPosition, Stays, nobody
from policies.parts.units import counted, shortest_run
from sim.actions import Evict
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Tiers", "thrifty"]

_T = TypeVar("_T")


class Tiers:
    """While the window does not fit: superseded material, then bulk files, then the rest.

    Bulk files are those that no current diagnostic names. Within a tier the last position goes
    first, since that invalidates the least of a cached prefix (*last_first* False: the front
    first). With *endgame* the last turn takes the smallest one that suffices, else the largest.
    With *spare* a file of this turn stays while another bulk file is left.
    """

    def __init__(
        self,
        lines: Superseded | None,
        *,
        bulk: bool = True,
        spare: bool = True,
        endgame: bool = True,
        last_first: bool = True,
    ) -> None:
        self._lines = lines
        self._bulk = bulk
        self._spare = spare
        self._endgame = endgame
        self._named: Callable[[str | None], bool] = lambda path: False
        self._files = ByPosition(lambda s: not s.held and self._is_bulk(s), last_first)
        self._rest = ByPosition(lambda s: not s.held and not self._is_bulk(s), last_first)

    def _is_bulk(self, segment: Segment) -> bool:
        return (
            self._bulk
            and segment.kind is Kind.FILE
            and not segment.sources
            and not self._named(segment.path)
        )

    def start(self, view: View) -> None:
        """Ask for bulk files and for the rest, each by position."""
        self._named = view.roles.named
        self._files.start(view)
        self._rest.start(view)
        if self._lines is not None:
            self._lines.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite | Evict]:
        """Give up, tier by tier, until the window fits or only pinned segments are left."""
        held = view.tokens + 1
        while view.over > 0 and view.tokens < held:
            held = view.tokens
            action = self.line(view, view.over)
            if action is None:
                break
            yield action
        for segment in shortest_run(view, self.candidates(view, view.over), view.over):
            yield Evict(segment.id, "bulk" if segment in self._files else "other")

    def line(self, view: View, need: int, base: Segment | None = None) -> Rewrite | Evict | None:
        """Return what to do with the next superseded material, None if none is left.

        The *base* of a difference stays.
        """
        lines = self._lines
        if lines is None:
            return None
        units: Iterable[list[Segment]] = lines.units(view)
        if base is not None:
            units = (unit for unit in units if base not in unit)
        if self._last(view):
            units = (unit for _, unit in thrifty(units, lambda u: lines.gain(view, u), need))
        unit = next(iter(units), None)
        return None if unit is None else lines.action(view, unit)

    def candidates(self, view: View, need: int, stays: Stays = nobody) -> Iterator[Segment]:
        """Yield what is given up for *need* tokens, superseded lines apart."""
        pools = self._pools(view, stays)
        return self._frugal(view, pools, need) if self._last(view) else chain.from_iterable(pools)

    def _pools(self, view: View, stays: Stays) -> Iterator[Iterable[Segment]]:
        late: list[Segment] = []
        yield self._early(view, stays, late)
        yield late
        yield self._rest.candidates(view, stays=stays)

    def _early(self, view: View, stays: Stays, late: list[Segment]) -> Iterator[Segment]:
        for segment in self._files.candidates(view, stays=stays):
            if self._spare and segment.admitted_turn == view.turn:
                late.append(segment)
            else:
                yield segment

    def _frugal(
        self, view: View, pools: Iterable[Iterable[Segment]], need: int
    ) -> Iterator[Segment]:
        gone: set[Segment] = set()
        for pool in pools:
            units: list[list[Segment]] = []
            for segment in pool:
                if segment not in gone:
                    units.append(view.together(segment))
                    gone.update(units[-1])
            for gain, unit in thrifty(units, lambda u: counted(view, u), need):
                need -= gain
                yield unit[0]

    def _last(self, view: View) -> bool:
        return self._endgame and view.last_turn


def thrifty(pool: Iterable[_T], gain: Callable[[_T], int], need: int) -> Iterator[tuple[int, _T]]:
    """Yield, with its gain, the smallest of *pool* that frees *need*, else the largest, and so on.

    *need* falls by what has been yielded. Equal ones come in the order of *pool*, and all of it
    comes in the end.
    """
    rows = sorted(((gain(item), item) for item in pool), key=lambda row: row[0])
    gains = [row[0] for row in rows]
    while rows:
        at = bisect_left(gains, need)
        if at == len(rows):
            at = bisect_left(gains, gains[-1])
        taken, item = rows.pop(at)
        del gains[at]
        need -= taken
        yield taken, item
