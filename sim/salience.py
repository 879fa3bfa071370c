"""Salience s(t) = r·d^(t−τ), and the order of segments by it.

r is the score given at turn τ and d the decay per turn. While nothing is re-scored, decay never
changes the order of two segments, so an order by ln r − τ·ln d stays valid from turn to turn. Keys
within 1e-9 of each other are compared by the exact product, then ties older first; where the
products underflow, by key.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sim.segments import Segment

__all__ = ["TIE", "Decay"]

TIE = 1e-9
"""Keys closer than this are compared by the exact product."""


class Decay:
    """Decay per turn, with its powers as repeated products, so that they are the same everywhere.

    *rate* lies in (0, 1].
    """

    __slots__ = ("_log", "_powers", "rate")

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._log = math.log(rate)
        self._powers = [1.0]

    def power(self, turns: int) -> float:
        """Return d^turns."""
        powers = self._powers
        while len(powers) <= turns:
            powers.append(powers[-1] * self.rate)
        return powers[turns]

    def at(self, segment: Segment, turn: int) -> float:
        """Return the salience of *segment* at *turn*."""
        return segment.score * self.power(turn - segment.scored_at)

    def key(self, segment: Segment) -> float:
        """Return the key that orders segments by salience at any turn."""
        if segment.score <= 0.0:
            return -math.inf
        return math.log(segment.score) - segment.scored_at * self._log

    def rank(self, segment: Segment) -> tuple[float, int, float]:
        """Return what puts segments in the order of their keys, those of equal salience together.

        Two segments of one key may still differ in the last digit of their product.
        """
        key = self.key(segment)
        if key == -math.inf or self.rate == 1.0:
            return key, 0, segment.score
        return key, segment.scored_at, segment.score

    def settle(self, near: Iterable[Segment], turn: int) -> list[Segment]:
        """Return segments whose keys lie within :data:`TIE` of each other's, lowest first."""
        rows = [(self.at(s, turn), self.key(s), s.seq, s) for s in near]
        if any(row[0] == 0.0 for row in rows):
            rows.sort(key=lambda row: (row[1], row[2]))
        else:
            rows.sort(key=lambda row: (row[0], row[2]))
        return [row[3] for row in rows]
