"""Samples of rows: the values of each policy by seed, so that they can be paired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.statistics import Sample
    from sim.metrics import Metric

__all__ = [
    "Group",
    "Row",
    "Runs",
    "comparable",
    "completed",
    "grouped",
    "places",
    "samples",
]

Row = Mapping[str, Any]

Group = tuple[Any, ...]
"""A scenario and a price, and what else tells one group from another."""

Runs = Mapping[str, Sequence[Row]]
"""The rows of one group by policy."""


def grouped(rows: Iterable[Row], front: Sequence[str] = ()) -> dict[Group, dict[str, list[Row]]]:
    """Return *rows* by scenario and price, then by policy, all in the order they come in.

    *front* are columns that tell groups apart, too.
    """
    groups: dict[Group, dict[str, list[Row]]] = {}
    for row in rows:
        key = row["scenario"], row["price"], *(row[name] for name in front)
        runs = groups.setdefault(key, {})
        runs.setdefault(row["policy"], []).append(row)
    return groups


def places(runs: Runs) -> dict[int, int]:
    """Return the place that each seed of *runs* has in a sample."""
    seeds = sorted({row["seed"] for rows in runs.values() for row in rows})
    return {seed: place for place, seed in enumerate(seeds)}


def samples(runs: Runs, value: Callable[[Row], float | None]) -> dict[str, Sample]:
    """Return the sample of each policy of *runs*: a row's *value*, NaN where it has none."""
    import numpy as np

    at = places(runs)
    made = {}
    for policy, rows in runs.items():
        made[policy] = np.full(len(at), np.nan)
        for row in rows:
            found = value(row)
            if found is not None:
                made[policy][at[row["seed"]]] = found
    return made


def comparable(metric: Metric) -> Callable[[Row], float | None]:
    """Return what says the value of *metric* that a row may be compared by, None where it has none.

    A cost or a peak may be compared only where the run completed, so that dying early is no win.
    """
    name, only = metric.name, metric.completed_only
    return lambda row: None if only and row["status"] != "completed" else row[name]


def completed(row: Row) -> float | None:
    """Return 1 for a run that completed and 0 for one that failed, None if none was attempted."""
    return None if row["status"] == "not-applicable" else float(row["status"] == "completed")
