"""Columns of tables: type, unit, direction and meaning of each, taken from where it is declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

__all__ = [
    "KEYS",
    "Column",
    "run_columns",
    "summary_columns",
    "turn_columns",
    "varied",
    "what_if_columns",
]

KEYS: Mapping[str, str] = {
    "scenario": "name of the scenario, or of the recorded session",
    "policy": "label of the policy",
    "seed": "seed of the script",
    "price": "row of the price book",
    "setting": "number of the setting in a sweep, from 0",
}
"""What a row is of."""

ENDS: Mapping[str, str] = {
    "status": "completed, failed or not-applicable",
    "reason": "why it did not complete, in a sentence",
}
"""What stands behind the metrics of a run."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    *type* is ``string``, ``integer``, ``number`` or ``boolean``, as a Table Schema names them,
    *says* what it means. *unit* and *better* (``less`` or ``more``) are None where there is none.
    """

    name: str
    type: str
    says: str
    unit: str | None = None
    better: str | None = None


def run_columns(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[Column]:
    """Return the columns *names* of *rows* of runs: keys, metrics, measures and varied settings."""
    known = {**_keys(), **_metrics(), **_measures()}
    known |= {name: Column(name, "string", says) for name, says in ENDS.items()}
    return _found(names, known, rows)


def summary_columns(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[Column]:
    """Return the columns *names* of the *rows* of a summary."""
    from bench.summary import SAYS

    known = {name: Column(name, *about) for name, about in SAYS.items()}
    return _found(names, {**_keys(), **known}, rows)


def turn_columns(names: Sequence[str], rows: Iterable[Mapping[str, Any]] = ()) -> list[Column]:
    """Return the columns *names* of the turns of runs; *rows* are those of the runs."""
    from bench.turns import OWN

    own = {name: Column(name, *about) for name, about in OWN.items()}
    return _found(names, {**_keys(), **_metrics(), **own}, rows)


def what_if_columns(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> list[Column]:
    """Return the columns *names* of *rows* that compare policies with a recording."""
    from bench.replays.what_if import SAYS

    known = {name: Column(name, *about) for name, about in SAYS.items()}
    return _found(names, {**_keys(), **_metrics(), **known}, rows)


def varied(names: Sequence[str]) -> tuple[str, ...]:
    """Return the settings that were varied from row to row: what stands in front of a row's keys.

    A row of runs, of turns or of a summary has its keys behind them, ``scenario`` first.
    """
    return tuple(names[: list(names).index("scenario")])


def _keys() -> dict[str, Column]:
    types = {"seed": "integer", "setting": "integer"}
    return {name: Column(name, types.get(name, "string"), says) for name, says in KEYS.items()}


def _metrics() -> dict[str, Column]:
    from sim.metrics import METRICS

    return {
        m.name: Column(m.name, "integer" if m.whole else "number", m.meaning, m.unit, m.better)
        for m in METRICS
    }


def _measures() -> dict[str, Column]:
    from bench.beside.registry import measures

    return {
        column: Column(column, "integer", says, unit)
        for measure in measures().values()
        for column, (unit, says) in measure.columns.items()
    }


def _found(
    names: Sequence[str], known: Mapping[str, Column], rows: Iterable[Mapping[str, Any]]
) -> list[Column]:
    """Return the columns *names*: *known* ones, and settings that *rows* differ in."""
    rows = list(rows) if set(names) - set(known) else []
    return [known.get(name) or _setting(name, rows) for name in names]


def _setting(name: str, rows: Iterable[Mapping[str, Any]]) -> Column:
    values = [row[name] for row in rows if row.get(name) is not None]
    return Column(name, _type(values), f"the setting {name}, varied from row to row", _unit(name))


def _type(values: Sequence[Any]) -> str:
    if values and all(isinstance(value, bool) for value in values):
        return "boolean"
    if values and all(isinstance(v, Integral) and not isinstance(v, bool) for v in values):
        return "integer"
    if values and all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return "number"
    return "string"


def _unit(name: str) -> str | None:
    """Return the unit of a setting, as the reference of every key has it."""
    from scenarios.reference import every_key

    key = every_key().get(name)
    return None if key is None else key.unit or None
