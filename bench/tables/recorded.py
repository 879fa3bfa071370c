"""Recorded against simulated cache reads, as tables for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.tables.parts import Column, Line, Table, tokens

__all__ = ["tables"]

_COLUMNS = (
    Column("calls are"),
    Column("calls", True),
    Column("recorded, %", True),
    Column("simulated, %", True),
    Column("off, %", True),
    Column("off a call", True),
    Column("flags, %", True),
)

_NOTE = (
    "Hits are shares of the prompt tokens; off is the sum of the absolute errors, as a share of "
    "them and in tokens a call; flags are calls said to read less than a fifth and did not, or the "
    "other way round."
)


def tables(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return a table for each format and reading of the cache in *rows*."""
    titles = list(dict.fromkeys((row["format"], row["arm"]) for row in rows))
    return [
        Table(
            title=f"{format}: {arm}",
            columns=_COLUMNS,
            rows=tuple(_line(row) for row in rows if (row["format"], row["arm"]) == (format, arm)),
            notes=(_NOTE,) if (format, arm) == titles[-1] else (),
        )
        for format, arm in titles
    ]


def _line(row: Mapping[str, Any]) -> Line:
    shares = (row["recorded_hit"], row["predicted_hit"], row["absolute_error"])
    off = "–" if row["off"] is None else tokens(row["off"])
    figures = (*map(_percent, shares), off, _percent(row["wrong_flags"]))
    return Line((row["part"], tokens(row["calls"]), *figures))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
