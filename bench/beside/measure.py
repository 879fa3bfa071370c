"""A measure beside the metrics: what it takes of a run, and what it says of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.tables.parts import Column, Line, Table

if TYPE_CHECKING:
    from sim.records import Record
    from sim.script import Script

__all__ = ["Measure", "Watch"]

Row = Mapping[str, Any]
Watch = Callable[["list[Record]"], dict[str, int]]


@dataclass(frozen=True, slots=True)
class Measure:
    """Something measured of every run beside its metrics, and told of each policy.

    *columns* are the values it adds to a row, whole numbers, each with its unit and meaning;
    *watch* makes what finds them in the records of the runs of one script. *told* says of the rows
    of one policy what the comparison says of it, by name; *line* shows that in *header*, and
    *note* explains it.
    """

    name: str
    """The option that asks for it, and its part of the JSON document."""
    about: str
    """What the option shows, in a sentence."""
    columns: Mapping[str, tuple[str, str]]
    watch: Callable[[Script], Watch]
    told: Callable[[Sequence[Row]], dict[str, Any]]
    title: str
    header: tuple[Column, ...]
    line: Callable[[Row, bool], tuple[str, ...]]
    note: str

    def lines(self, rows: Iterable[Row]) -> list[dict[str, Any]]:
        """Return a line for each scenario, price and policy of *rows*; `n` runs have the values.

        A run has none of them that came to nothing, or of which nothing was asked.
        """
        groups: dict[tuple[str, str, str], list[Row]] = {}
        for row in rows:
            if row.keys() >= self.columns.keys():
                mine = groups.setdefault((row["scenario"], row["price"], row["policy"]), [])
                if all(row[name] is not None for name in self.columns):
                    mine.append(row)
        return [
            {"scenario": scenario, "price": price, "policy": policy, "n": len(mine)}
            | self.told(mine)
            for (scenario, price, policy), mine in groups.items()
        ]

    def tables(self, lines: Iterable[Row], wide: bool) -> list[Table]:
        """Return a table for each scenario and price of *lines*, then the note on them."""
        groups: dict[tuple[str, str], list[Row]] = {}
        for line in lines:
            groups.setdefault((line["scenario"], line["price"]), []).append(line)
        several = len({price for _, price in groups}) > 1
        header = (Column("policy"), *self.header)
        tables = []
        for (scenario, price), mine in groups.items():
            title = f"{scenario}: {self.title}{f' at {price}' if several else ''}"
            shown = tuple(self._line(each, wide) for each in mine)
            tables.append(Table(title, header, shown))
        return [*tables, Table(notes=(self.note,))] if tables else []

    def _line(self, line: Row, wide: bool) -> Line:
        cells = self.line(line, wide) if line["n"] else ("–",) * len(self.header)
        return Line((line["policy"], *cells))
