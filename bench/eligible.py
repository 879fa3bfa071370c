"""Which policies may be chosen: those that keep what is pinned, do what they may, and end runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.samples import Row, Runs, completed, places, samples
from bench.statistics import best

__all__ = ["UNSAFE", "eligible", "fault", "unsafe"]

UNSAFE: Mapping[str, str] = {"pins_lost": "lost pins", "policy_bugs": "had policy bugs"}
"""Metrics of which no run may have any, and what is said of a policy that has some."""


def unsafe(row: Mapping[str, Any]) -> bool:
    """Whether a run removed or cut a pin, or its policy did what it may not."""
    return any(row.get(name) for name in UNSAFE)


def fault(rows: Sequence[Row], tolerated: Sequence[str] = ()) -> str | None:
    """Return why the policy of *rows* is none to choose, None if every run was safe.

    Metrics of :data:`UNSAFE` that are *tolerated* are passed over.
    """
    for name, says in UNSAFE.items():
        runs = sum(bool(row[name]) for row in rows)
        if runs and name not in tolerated:
            return says if len(rows) == 1 else f"{says} in {runs:,} of {len(rows):,} runs"
    return None


def eligible(runs: Runs) -> dict[str, Sequence[Row]]:
    """Return the policies of *runs* that may be chosen, with their rows.

    Each of its runs was safe, and the share of them that completed cannot be told from the best
    share of those that were, as another would win by dying early. Of a single run it is to have
    completed.
    """
    safe = {policy: rows for policy, rows in runs.items() if fault(rows) is None}
    if len(places(runs)) < 2:
        return {name: rows for name, rows in safe.items() if rows[0]["status"] == "completed"}
    shares = samples(safe, completed)
    found = {list(shares)[index] for index in best(list(shares.values()), "more")}
    return {policy: rows for policy, rows in safe.items() if policy in found}
