"""Tables as a page shows them: headers on one line, and what a column is sorted by."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bench.tables.parts import Table

__all__ = ["Cell", "Column", "Row", "Shown", "shown", "sort_key"]

_NUMBER = re.compile(r"[$★=≤~+\s]*([−-]?)\$?(\d[\d,]*(?:\.\d+)?|\.\d+)([kMG]?)")

_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}

_NOTHING = frozenset({"", "–"})

_WHOLE = 32
"""Characters of what is not broken over lines, at most."""

_FEWEST = 3
"""Rows from which there is something to sort."""


@dataclass(frozen=True, slots=True)
class Column:
    """A header; numbers stand to the *right*."""

    header: str
    right: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """A text, and the *key* by which its column is sorted: a number or nothing.

    It stays on one line where it is *whole*: a name or a number with its interval.
    """

    text: str
    key: float | None = None

    @property
    def whole(self) -> bool:
        """Whether it is short and one thing."""
        return len(self.text) <= _WHOLE and (self.key is not None or " " not in self.text)


@dataclass(frozen=True, slots=True)
class Row:
    """Cells; a *marked* row stands out."""

    cells: tuple[Cell, ...]
    marked: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """A table for the page; *sortable* if the order of its rows is not what it says."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
    sortable: bool

    @property
    def aligned(self) -> bool:
        """Whether its notes are laid out with spaces, as a map of letters is."""
        return any("  " in note for note in self.notes)


def shown(table: Table, sortable: bool = True) -> Shown:
    """Return *table* for the page; it can be *sortable* unless the order of its rows says more."""
    columns = tuple(Column(_on_a_line(each.header), each.right) for each in table.columns)
    rows = tuple(
        Row(tuple(Cell(_on_a_line(text), sort_key(text)) for text in line.cells), line.marked)
        for line in table.rows
    )
    groups = any(not line.cells[0].strip() for line in table.rows[1:] if line.cells)
    may = sortable and len(rows) >= _FEWEST and not (groups and table.columns[0].header.strip())
    return Shown(table.title, columns, rows, table.notes, may)


def sort_key(text: str) -> float | None:
    """Return the number that *text* begins with, as in ``−13 [−14, −12]``; None if there is none.

    A star is the first place.
    """
    if text.strip() == "★":
        return 1.0
    found = _NUMBER.match(text)
    if found is None or text.strip() in _NOTHING:
        return None
    sign, digits, factor = found.groups()
    return float(digits.replace(",", "")) * _FACTORS[factor] * (-1.0 if sign else 1.0)


def _on_a_line(text: str) -> str:
    """Return a text that was broken over lines, at spaces or behind hyphens, on one."""
    return " ".join(text.replace("-\n", "-").split())
