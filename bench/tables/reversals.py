"""Reversals of salience beside what each policy lost, as tables for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench.tables.parts import Column, Line, Table, short_tokens, tokens

__all__ = ["reversal_tables"]

NOTE = (
    "needed: asked for and not there, having left before, a run; missed: tokens of all that was "
    "asked for and not there. overtaken: of those needed, how many now rank above something that "
    "was kept and ranked above them; pairs reversed: of all such pairs, with the 95 % interval "
    "over runs (docs/model.md)."
)

_COLUMNS = (
    Column("policy"),
    Column("needed", True),
    Column("missed", True),
    Column("overtaken", True),
    Column("pairs reversed"),
)


def reversal_tables(lines: Iterable[Mapping[str, Any]], wide: bool) -> list[Table]:
    """Return a table for each scenario and price of *lines*, made by ``bench.reversals``."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["scenario"], line["price"]), []).append(line)
    several = len({price for _, price in groups}) > 1
    tables = []
    for (scenario, price), mine in groups.items():
        title = f"{scenario}: salience reversed between leaving and need"
        title += f" at {price}" if several else ""
        tables.append(Table(title, _COLUMNS, tuple(_line(each, wide) for each in mine)))
    return [*tables, Table(notes=(NOTE,))] if tables else []


def _line(line: Mapping[str, Any], wide: bool) -> Line:
    if not line["n"]:
        return Line((line["policy"], *("–" for _ in _COLUMNS[1:])))
    size = tokens if wide else short_tokens
    missed = "–" if line["missed"] is None else size(line["missed"])
    share = _percent(line["reversed"])
    if line["reversed"] is not None:
        share += f" [{100 * line['ci_low']:.1f}, {100 * line['ci_high']:.1f}]"
    return Line(
        (line["policy"], f"{line['needs']:.1f}", missed, _percent(line["overtaken"]), share)
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
