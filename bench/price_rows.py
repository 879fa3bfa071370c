"""A price book in memory: rows of prices and speeds, and where each of their fields is from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sim.prices import Price, Speed

__all__ = ["Book", "Origin", "PriceRow", "SpeedRow"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the value of a field is from: a *source* and its *date*, or neither if it is assumed.

    *row* is the row that says so, another one than the field's own where that row is `like` it.
    """

    row: str
    source: str = ""
    date: str = ""

    @property
    def assumed(self) -> bool:
        """Whether the value has no source."""
        return not self.source


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """A speed by its *name*, with the origin of each field; *file* is the book it is from."""

    name: str
    speed: Speed
    origins: Mapping[str, Origin]
    note: str
    file: Path


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A row of prices with the origin of each field that counts; *speed* is its speed's name."""

    price: Price
    speed: str
    origins: Mapping[str, Origin]
    note: str
    file: Path


@dataclass(frozen=True, slots=True)
class Book:
    """The rows of a book by name. *unsourced* are the rows of a user's that gave no origin."""

    prices: Mapping[str, PriceRow]
    speeds: Mapping[str, SpeedRow]
    unsourced: tuple[str, ...] = ()
