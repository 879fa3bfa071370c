"""Paying back: removal that waits until it saves more than the broken prefix costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.parts.ranking import ByPosition
from policies.parts.units import leading, size
from sim.actions import Evict

if TYPE_CHECKING:
    from policies.options import Value
    from sim.segments import Segment
    from sim.view import View

__all__ = ["PayBack", "known", "so_far"]

Unit = list["Segment"]
"""What leaves together."""

Horizon = Callable[["View"], float]
"""How many calls are still to come, the next one included."""


def so_far(view: View) -> float:
    """Return as many calls as there were so far: with no other knowledge, half of it is over."""
    return max(1, view.cache.calls)


def known(view: View) -> float:
    """Return the turns to go, as a policy could only know that is told the end."""
    return view.turns - view.turn + 1


class PayBack:
    """Evicts what is below a salience where that saves more than it costs.

    A removal saves b·L·r. It costs S·(w − r), and a *refetch* share of b at w for what will have to
    be brought back. In a *batch*, all that is below the limit behind some position goes together,
    so that the prefix is broken once; of these batches the best is taken. Without, each segment is
    weighed by itself, from the end (*last_first*) or from the front, given those taken before it.
    With *cold*, it acts only where nothing is cached any more, so that a cut costs nothing. Where
    the window does not fit, the best batch that makes it fit is taken even at a loss.
    """

    def __init__(
        self,
        below: Value,
        horizon: Horizon,
        refetch: float,
        member: Callable[[Segment], bool],
        *,
        batch: bool = True,
        last_first: bool = True,
        cold: bool = False,
    ) -> None:
        self._below = below
        self._horizon = horizon
        self._refetch = refetch
        self._batch = batch
        self._cold = cold
        self._candidates = ByPosition(member, last_first or batch)

    def start(self, view: View) -> None:
        """Ask for the candidates by position."""
        self._candidates.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        """Evict what pays back, or what is needed to fit."""
        cache = view.cache
        saved = self._horizon(view) * cache.read - self._refetch * cache.write
        lost = cache.write - cache.read
        pick = self._best if self._batch else self._greedy
        for unit in pick(view, saved, lost):
            yield Evict(unit[0].id, "pays back")

    def _best(self, view: View, saved: float, lost: float) -> list[Unit]:
        """Return the batch from the end that gains most, of those that make the window fit."""
        need, barred = view.over, self._barred(view)
        cut, best, count = _Cut(view), 0.0, 0
        fits = need <= 0
        for unit in self._units(view):
            cut.add(unit)
            gain = cut.gain(saved, lost)
            if not fits and cut.tokens >= need:
                fits, best, count = True, gain, len(cut.units)
            elif (not barred or not fits) and gain > best:
                best, count = gain, len(cut.units)
            if fits and (barred or (view.tokens - cut.behind) * saved - cut.behind * lost <= best):
                break
        return cut.units[:count] if fits else cut.units

    def _greedy(self, view: View, saved: float, lost: float) -> list[Unit]:
        """Return each that gains something, given those before it, or is needed to fit."""
        barred, cut = self._barred(view), _Cut(view)
        for unit in self._units(view):
            with_it = cut.joined(unit)
            gains = with_it.gain(saved, lost) > cut.gain(saved, lost)
            if (gains and not barred) or cut.tokens < view.over:
                cut = with_it
        return cut.units

    def _barred(self, view: View) -> bool:
        """Whether it waits until nothing is cached."""
        return self._cold and view.cache.live > 0

    def _units(self, view: View) -> Iterator[Unit]:
        """Yield what leaves together and is below the limit, in the order of position."""
        limit, seen = self._below(view), set[str]()
        for segment in self._candidates.candidates(view):
            if segment.id in seen:
                continue
            unit = view.together(segment)
            seen.update(s.id for s in unit)
            if all(view.salience(s) < limit for s in leading(unit)):
                yield unit


class _Cut:
    """Units that leave together: b, and S, what stays behind the first of them and is cached."""

    __slots__ = ("_cached", "_front", "_view", "tokens", "units")

    def __init__(self, view: View) -> None:
        self._view = view
        self._front: Segment | None = None
        self._cached = 0
        self.units: list[Unit] = []
        self.tokens = 0

    def add(self, unit: Unit) -> None:
        """Take *unit* as well."""
        for segment in unit:
            if self._front is None or segment.slot < self._front.slot:
                self._front = segment
            self._cached += self._view.cache.cached(segment)
        self.units.append(unit)
        self.tokens += size(unit)

    def joined(self, unit: Unit) -> _Cut:
        """Return another cut that takes *unit* as well."""
        other = _Cut(self._view)
        other._front, other._cached, other.tokens = self._front, self._cached, self.tokens
        other.units = list(self.units)
        other.add(unit)
        return other

    @property
    def behind(self) -> int:
        """S: the cached tokens that stay behind the first segment that leaves."""
        front, cache = self._front, self._view.cache
        if front is None:
            return 0
        return max(0, cache.behind(front) - self._cached + cache.cached(front))

    def gain(self, saved: float, lost: float) -> float:
        """Return what the cut gains, where a token gone saves and one behind it costs so much."""
        return self.tokens * saved - self.behind * lost
