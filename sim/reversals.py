"""Reversals of a run: what ranked below the rest when it left, and above it when it was needed.

Decay alone never changes the order of two segments, so that the rank of one is its score and the
turn of that score until a query re-scores it. A policy that gives up the least salient is right as
long as the order holds; this counts how often it did not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sim.records import FIELDS, Record
from sim.salience import TIE

__all__ = ["Reversals", "reversals"]


class Reversals(NamedTuple):
    """How often the order of two segments was reversed between a departure and a need.

    A *need* is an asked segment that was not there at the call and had left before. Of each, the
    *pairs* are with every unpinned segment that was there at the first call without it and ranked
    above it when it left; *reversed* are those that rank below it after the turn of the need.
    *overtaken* are the needs with at least one of these.
    """

    needs: int
    overtaken: int
    pairs: int
    reversed: int


def reversals(records: Iterable[Record], decay: float) -> Reversals:
    """Return the reversals of a run, from its records and its *decay* of salience a turn.

    An explicit request re-scores nothing: it is a need, whose order is what it was.
    """
    known = list(records)
    reader = _Reader(decay, _needed(known))
    for record in known:
        reader.read(record)
    reader.settle()
    return Reversals(reader.needs, reader.overtaken, reader.pairs, reader.reversed)


_LEFT: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, ...]]] = {
    "evict": lambda values: (values["segment"],),
    "rewrite": lambda values: values["sources"],
    "truncate": lambda values: (values["segment"],),
}


_COMES = {"admit": 3, "fetch": 3, "reveal": 4}
"""Records by which a segment comes into the window, and where it stands in them."""


def _values(record: Record) -> dict[str, Any]:
    kind, _, _, *values = record
    return dict(zip(FIELDS[kind], values, strict=True))


def _gone(record: Record) -> tuple[str, ...]:
    """Return what left the window by *record*."""
    leaves = _LEFT.get(record[0])
    return () if leaves is None else leaves(_values(record))


def _comes(record: Record) -> str:
    """Return what came into the window by *record*, empty if nothing did."""
    at = _COMES.get(record[0])
    return "" if at is None else str(record[at])


def _needed(records: list[Record]) -> set[tuple[str, int]]:
    """Return the departures that a need follows: the segment, and the place of the record."""
    last: dict[str, int] = {}
    found = set()
    for place, record in enumerate(records):
        for name in _gone(record):
            last[name] = place
        last.pop(_comes(record), None)
        if record[0] == "missed" and (name := record[3]) in last:
            found.add((name, last[name]))
    return found


@dataclass(slots=True)
class _Reader:
    """Follows the scores of a run, and remembers for what will be needed who ranked above it."""

    decay: float
    needed: set[tuple[str, int]]
    needs: int = 0
    overtaken: int = 0
    pairs: int = 0
    reversed: int = 0
    _place: int = -1
    """Of the record being read."""
    _keys: dict[str, float] = field(default_factory=dict)
    """Ranks by id: ln of the score less its turn times ln of the decay."""
    _there: set[str] = field(default_factory=set)
    """Resident segments that the scenario does not pin."""
    _free: set[str] = field(default_factory=set)
    """All such segments, resident or not."""
    _leaving: dict[str, list[str]] = field(default_factory=dict)
    """What has left since the last call and will be needed, and who ranked above it then."""
    _above: dict[str, list[str]] = field(default_factory=dict)
    _asked: list[tuple[str, list[str]]] = field(default_factory=list)
    """Needs of this turn, whose scores may still change, and who ranked above them."""

    def read(self, record: Record) -> None:
        self._place += 1
        kind, _, turn = record[:3]
        for name in _gone(record):
            self._there.discard(name)
            if (name, self._place) in self.needed:
                mine = self._keys[name]
                self._leaving[name] = [b for b in self._there if self._keys[b] - mine > TIE]
        match kind:
            case "turn":
                self.settle()
            case "arrive":
                values = _values(record)
                self._score(values["segment"], values["score"], turn)
                if not values["pinned"]:
                    self._free.add(values["segment"])
            case "score":
                self._score(record[3], record[5], turn)
            case "admit" | "fetch" | "reveal":
                name = _comes(record)
                self._above.pop(name, None)
                if name in self._free:
                    self._there.add(name)
            case "call":
                for name, above in self._leaving.items():
                    self._above[name] = [b for b in above if b in self._there]
                self._leaving.clear()
            case "missed":
                if record[3] in self._above:
                    self._asked.append((record[3], self._above[record[3]]))

    def settle(self) -> None:
        """Count the needs of the turn that has ended."""
        for name, above in self._asked:
            mine = self._keys[name]
            passed = sum(mine - self._keys[b] > TIE for b in above)
            self.needs += 1
            self.overtaken += passed > 0
            self.pairs += len(above)
            self.reversed += passed
        self._asked.clear()

    def _score(self, name: str, score: float, turn: int) -> None:
        self._keys[name] = (
            math.log(score) - turn * math.log(self.decay) if score > 0.0 else -math.inf
        )
