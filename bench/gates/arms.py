"""The arms of an experiment on a pinned scenario: its scripts, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.script import Script, Stimulus

__all__ = ["Saving", "cost", "rows_by_seed", "saving", "script", "with_stimuli"]

_NORMAL_95 = 1.96

Saving = tuple[float, float, float]
"""A saving in per cent, and the two ends of its 95 % interval."""


def script(name: str, settings: Mapping[str, object], seed: int = 0) -> Script:
    """Return the script of *seed* of a pinned scenario, with *settings* over its own.

    Raises InputError for a setting or a name that there is not.
    """
    from scenarios.catalogue import load

    return load(name, settings).script(seed)


def with_stimuli(script: Script, stimuli: Iterable[Stimulus]) -> Script:
    """Return *script* with *stimuli* too, each at the front of its turn."""
    both = sorted([*stimuli, *script.stimuli], key=lambda stimulus: stimulus.turn)
    return replace(script, stimuli=tuple(both))


def cost(script: Script, policy: str = "no-op") -> float:
    """Return the US dollars of *script* under *policy*; InputError if the policy is unknown."""
    from bench.cells import run_one

    metrics, _ = run_one(script, policy)
    return float(metrics["total_cost_usd"])


def saving(costs: Sequence[float], base: Sequence[float]) -> Saving:
    """Return what *costs* save against *base*, both in the order of the seeds, with the interval.

    It is a share of all that *base* cost, so a long session counts for more than a short one. The
    interval is that of a ratio of sums, by the spread of what each seed leaves over.
    """
    total = sum(base)
    ratio = sum(costs) / total
    left = sum((one - ratio * other) ** 2 for one, other in zip(costs, base, strict=True))
    count = len(base)
    half = _NORMAL_95 * sqrt(left * count / max(1, count - 1)) / total
    middle = 1.0 - ratio
    return 100 * middle, 100 * (middle - half), 100 * (middle + half)


def rows_by_seed(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], list[float]]:
    """Return the total cost of each (scenario, policy) of *rows* by seed."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["scenario"], row["policy"]), []).append(row["total_cost_usd"])
    return found
