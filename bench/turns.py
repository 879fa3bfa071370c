"""Turns: what each turn of a run came to, from its event records alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sim.metrics import METRICS, measure

if TYPE_CHECKING:
    from sim.records import Record

__all__ = ["OWN", "Turns", "columns", "turns_of"]

Turns = dict[str, list[Any]]
"""The turns of a run, or of every agent of a fleet: a list for each column."""

OWN: Mapping[str, tuple[str, str, str | None]] = {
    "agent": ("integer", "which of several agents, from 0", None),
    "turn": ("integer", "turn, from 1", None),
    "started_seconds": ("number", "when the turn began, from the beginning of the run", "s"),
    "turn_seconds": ("number", "from its beginning to that of the next, or to the end", "s"),
    "attempt": ("integer", "number of the attempt that it is, if it is one", None),
    "branch": ("string", "branch of the attempt: ok, failed or script; empty if it is none", None),
}
"""What a turn has besides metrics, each with its type, meaning and unit."""

_LARGEST = ("peak_tokens", "peak_demand_tokens")
"""Metrics of which a run has the largest of its turns."""

_NO_SUM = frozenset(
    {
        *_LARGEST,
        "attempts",
        "cache_hit_rate",
        "confabulation_rate",
        "first_confabulation_turn",
        "mean_tokens",
        "paid_back",
        "peak_share",
        "repeated_attempts",
        "resident_tokens",
        "total_seconds",
        "turns",
    }
)
"""Metrics of which a turn has no part of its own."""


def columns() -> list[str]:
    """Return the columns of turns: :data:`OWN`, then the metrics of a turn, measured in it alone.

    A metric of the run is the sum of those of its turns, a peak the largest of them.
    """
    return [*OWN, *(m.name for m in METRICS if m.name in _LARGEST or m.name not in _NO_SUM)]


def turns_of(records: Iterable[Record], agent: int = 0) -> Turns:
    """Return the turns of a run of *agent* from its *records*, in order."""
    found: Turns = {name: [] for name in columns()}
    run: Record | None = None
    turn: list[Record] = []
    for record in records:
        if record[0] == "run":
            run = record
        elif record[0] in ("turn", "end"):
            if run is not None and turn:
                _add(found, run, turn, agent, record[1])
            turn = [record]
        elif turn:
            turn.append(record)
    return found


def _add(found: Turns, run: Record, turn: list[Record], agent: int, until: float) -> None:
    """Add a *turn*, whose own record is its first, that lasted *until* a time."""
    _, started, number, attempt, branch, _ = turn[0]
    metrics = measure([run, *turn])
    own = (agent, number, started, until - started, attempt, branch)
    metrics.update(zip(OWN, own, strict=True))
    for name, values in found.items():
        values.append(metrics[name])
