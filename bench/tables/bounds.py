"""The distance to the best possible, as tables for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench.tables.parts import Column, Line, Table, interval, short_tokens, tokens

__all__ = ["bound_tables"]

NOTE = (
    "missed: smallest size of what was asked for and was not there, whole and current, in tokens a "
    "run. bound: no policy misses less on the same script (docs/bound.md). reached: runs that "
    "missed no more."
)

_COLUMNS = (
    Column("policy"),
    Column("missed", True),
    Column("bound", True),
    Column("above"),
    Column("times", True),
    Column("reached", True),
)


def bound_tables(lines: Iterable[Mapping[str, Any]], wide: bool) -> list[Table]:
    """Return a table for each scenario and price of *lines*, made by ``bench.bounds``."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["scenario"], line["price"]), []).append(line)
    several = len({price for _, price in groups}) > 1
    tables = []
    for (scenario, price), mine in groups.items():
        title = f"{scenario}: distance to the best possible{f' at {price}' if several else ''}"
        tables.append(Table(title, _COLUMNS, tuple(_line(each, wide) for each in mine)))
    return [*tables, Table(notes=(NOTE,))] if tables else []


def _line(line: Mapping[str, Any], wide: bool) -> Line:
    if not line["n"]:
        return Line((line["policy"], *("–" for _ in _COLUMNS[1:])))
    size = tokens if wide else short_tokens
    return Line(
        (
            line["policy"],
            size(line["missed"]),
            size(line["bound"]),
            interval(size, line["above"], line["ci_low"], line["ci_high"], wide),
            "–" if line["times"] is None else f"{line['times']:.2f}",
            f"{line['reached']:,}/{line['n']:,}",
        )
    )
