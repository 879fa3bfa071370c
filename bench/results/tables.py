"""The tables of a folder: what each of them holds of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.results.columns import (
    KEYS,
    Column,
    run_columns,
    summary_columns,
    turn_columns,
    varied,
    what_if_columns,
)

if TYPE_CHECKING:
    from bench.api import Comparison
    from bench.turns import Turns

__all__ = ["Table", "tables_of"]

Row = Mapping[str, Any]
Part = Mapping[str, Sequence[Any]]

RUN = ("scenario", "price", "policy", "seed")
"""What tells one run from another, besides settings that were varied."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the *key* that tells its rows apart, and its rows in *parts*, made as they are read.

    A part has the values of some rows by name of each of *columns*.
    """

    name: str
    says: str
    columns: Sequence[Column]
    key: tuple[str, ...]
    parts: Iterable[Part]

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}.parquet"


def tables_of(comparison: Comparison, turns: Sequence[Turns | None]) -> Iterator[Table]:
    """Yield the tables of *comparison*: runs, *turns* if any, summary; of a replay what-if.

    Columns of its rows in front of ``scenario`` are settings that were varied, and belong to the
    key of every table.
    """
    rows, front = comparison.rows, varied(comparison.columns)
    key = (*front, *RUN)
    yield _table("runs", "One row a run.", run_columns(comparison.columns, rows), key, rows)
    if turns:
        yield _turns(comparison, turns, key)
    yield _summary(comparison.lines, front)
    what_if = getattr(comparison, "what_if", None)
    if what_if:
        yield _what_if(what_if)


def _table(
    name: str, says: str, columns: Sequence[Column], key: tuple[str, ...], rows: Sequence[Row]
) -> Table:
    values = {column.name: [row.get(column.name) for row in rows] for column in columns}
    return Table(name, says, columns, key, [values])


def _summary(lines: Sequence[Row], front: tuple[str, ...]) -> Table:
    from bench.summary import COLUMNS

    columns = summary_columns([*front, *COLUMNS], lines)
    key = (*front, "scenario", "price", "policy", "metric")
    return _table("summary", "One row a scenario, price, policy and metric.", columns, key, lines)


def _turns(comparison: Comparison, found: Sequence[Turns | None], key: tuple[str, ...]) -> Table:
    from bench import turns

    told = {*key, *KEYS}
    names = [*(name for name in comparison.columns if name in told), *turns.columns()]
    columns = turn_columns(names, comparison.rows)
    says = "One row a turn of a run; sums over a run's turns are its metrics."
    return Table(
        "turns", says, columns, (*key, "agent", "turn"), _runs(comparison.rows, found, names)
    )


def _runs(
    rows: Sequence[Row], found: Iterable[Turns | None], names: Sequence[str]
) -> Iterator[Part]:
    """Yield the turns of each run, with the keys of its row in front."""
    for row, turns in zip(rows, found, strict=True):
        if turns is not None:
            count = len(turns["turn"])
            yield {name: turns[name] if name in turns else [row[name]] * count for name in names}


def _what_if(rows: Sequence[Row]) -> Table:
    from bench.replays.what_if import SAYS

    keys = ("scenario", "price", "policy")
    figures = {*SAYS, "queries", "policy_bugs"}
    names = [*keys, *(name for name in rows[0] if name in figures)]
    says = "One row a session, price and policy: what the policy saved against the recording."
    return _table("what_if", says, what_if_columns(names, rows), keys, rows)
