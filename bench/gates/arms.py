"""The arms of an experiment on a pinned scenario: its scripts, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from bench.gates.gate import Inputs
    from sim.script import Script, Stimulus

__all__ = [
    "Arm",
    "Rows",
    "Saving",
    "cost",
    "play",
    "saving",
    "script",
    "setting",
    "usd",
    "with_stimuli",
]

_NORMAL_95 = 1.96

Saving = tuple[float, float, float]
"""A saving in per cent, and the two ends of its 95 % interval."""

Rows = Sequence[Mapping[str, Any]]
"""The rows of an arm, in the order of the seeds."""


class Arm(NamedTuple):
    """A policy on a pinned scenario, with *settings* over the scenario's own."""

    policy: str
    settings: Mapping[str, object]


def script(name: str, settings: Mapping[str, object], seed: int = 0) -> Script:
    """Return the script of *seed* of a pinned scenario, with *settings* over its own.

    Raises InputError for a setting or a name that there is not.
    """
    from scenarios.catalogue import load

    return load(name, settings).script(seed)


def setting(name: str, key: str) -> Any:
    """Return what the pinned scenario *name* has for *key*; raises InputError if it is unknown."""
    from scenarios.catalogue import load

    return load(name).settings[key]


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


def play(name: str, arms: Mapping[str, Arm], seeds: int, inputs: Inputs) -> dict[str, Rows]:
    """Return the rows of each of *arms*, by its label, on so many *seeds* of the scenario *name*.

    Raises InputError for a name, a setting or a policy that there is not.
    """
    from bench.runs import Plan, execute
    from scenarios.catalogue import load

    done = 0

    def report(runs: int) -> None:
        nonlocal done
        done += runs
        inputs.report(done, seeds * len(arms))

    found: dict[str, list[Mapping[str, Any]]] = {label: [] for label in arms}
    for policy in dict.fromkeys(arm.policy for arm in arms.values()):
        scenarios = [
            replace(load(name, arm.settings), name=label)
            for label, arm in arms.items()
            if arm.policy == policy
        ]
        finished = execute(
            Plan(scenarios, {policy: policy}, seeds), inputs.jobs, on_finished=report
        )
        if finished.stopped is not None:
            raise finished.stopped
        for row in finished.rows:
            found[row["scenario"]].append(row)
    return {label: sorted(rows, key=lambda row: row["seed"]) for label, rows in found.items()}


def usd(rows: Rows) -> list[float]:
    """Return the total cost of each of *rows*."""
    return [row["total_cost_usd"] for row in rows]
