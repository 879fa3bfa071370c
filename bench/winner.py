"""Who wins: of the policies that meet every requirement, the best in one metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.eligible import fault
from bench.goals import Goal, Requirement
from bench.samples import Row, Runs, comparable, grouped, samples
from bench.statistics import best, difference, estimate, zero_limit

if TYPE_CHECKING:
    from bench.statistics import Sample

__all__ = ["winners"]


def winners(rows: Sequence[Row], goal: Goal) -> list[dict[str, Any]]:
    """Return a line for each scenario and price of *rows*: who wins by *goal*, and why no other.

    ``winner`` is the policy with the best mean of the goal's metric, over the `n` seeds on which
    all policies that meet the requirements have a value; None if none does. ``alike`` are those
    that meet them and cannot be told from it: the paired interval holds zero, or the values of a
    single run are the same. ``policies`` has a line for each, in the order of the rows:

    - ``meets``, whether it completed every run and meets each requirement, and ``why`` it does not,
      as sentences; a policy that failed a run, or is none to choose (`bench.eligible`) for
      something that no requirement is of, meets none;
    - ``mean``, ``ci_low``, ``ci_high`` of the goal's metric over those seeds, and the same of the
      difference to the winner, ``diff_mean``, ``diff_ci_low``, ``diff_ci_high``;
    - ``limits``, by metric, the exact one-sided 95 % limit of each share that a requirement is of
      and that was 0 in every run.
    """
    return [
        {"scenario": scenario, "price": price, "goal": str(goal), **_decided(runs, goal)}
        for (scenario, price), runs in grouped(rows).items()
    ]


def _decided(runs: Runs, goal: Goal) -> dict[str, Any]:
    import numpy as np

    why = {policy: _against(rows, goal) for policy, rows in runs.items()}
    inside = {policy: rows for policy, rows in runs.items() if not why[policy]}
    found = samples(inside, comparable(goal.metric))
    if found:
        whole = ~np.isnan(np.array(list(found.values()))).any(axis=0)
        found = {policy: values[whole] for policy, values in found.items()}
    n = len(next(iter(found.values()))) if found else 0
    order = _best(found, goal.better) if n else []
    winner = order[0] if order else None
    return {
        "winner": winner,
        "alike": order[1:],
        "n": n,
        "policies": [
            {
                "policy": policy,
                "meets": not why[policy],
                "why": why[policy],
                **_figures(found.get(policy), None if winner is None else found[winner]),
                "limits": {} if why[policy] else _limits(rows, goal.requirements),
            }
            for policy, rows in runs.items()
        ],
    }


def _best(found: Mapping[str, Sample], better: str) -> list[str]:
    """Return the best policy, then those that cannot be told from it."""
    policies, values = list(found), list(found.values())
    if len(values[0]) > 1:
        return [policies[index] for index in best(values, better)]
    top = (min if better == "less" else max)(float(each[0]) for each in values)
    return [policy for policy, each in found.items() if each[0] == top]


def _figures(values: Sample | None, winner: Sample | None) -> dict[str, float | None]:
    if values is None or winner is None:
        names = ("mean", "ci_low", "ci_high", "diff_mean", "diff_ci_low", "diff_ci_high")
        return dict.fromkeys(names)
    own, apart = estimate(values), difference(values, winner)
    return {
        "mean": own.mean,
        "ci_low": own.low,
        "ci_high": own.high,
        "diff_mean": apart.mean,
        "diff_ci_low": apart.low,
        "diff_ci_high": apart.high,
    }


def _against(rows: Sequence[Row], goal: Goal) -> list[str]:
    """Return why the policy of *rows* cannot win, nothing if it can."""
    if all(row["status"] == "not-applicable" for row in rows):
        return [f"not applicable: {rows[0]['reason']}"]
    failed = sum(row["status"] != "completed" for row in rows)
    if failed:
        return [f"failed {failed:,} of {len(rows):,} runs" if len(rows) > 1 else "failed"]
    unsafe = fault(rows, [each.metric.name for each in goal.requirements])
    if unsafe is not None:
        return [unsafe]
    unmet = [why for each in goal.requirements if (why := _unmet(rows, each))]
    name = goal.metric.name
    if not unmet and all(row[name] is None for row in rows):
        return [f"no run has a value of {name}"]
    return unmet


def _unmet(rows: Sequence[Row], requirement: Requirement) -> str | None:
    """Return why *rows* do not meet the *requirement*, None if they do."""
    name, value = requirement.metric.name, requirement.value
    values = [row[name] for row in rows if row[name] is not None]
    if not values:
        return f"no run has a value of {name}"
    if requirement.relation == "=":
        other = sum(each != value for each in values)
        return f"{name} is not {value:.9g} in {other:,} of {len(values):,} runs" if other else None
    mean = sum(values) / len(values)
    if requirement.relation == "<=":
        return f"mean {name} is {mean:.4g}, over {value:.9g}" if mean > value else None
    return f"mean {name} is {mean:.4g}, under {value:.9g}" if mean < value else None


def _limits(rows: Sequence[Row], requirements: Sequence[Requirement]) -> dict[str, float | None]:
    """Return the exact limit of each share that is required and was 0 in every run, by metric."""
    found = {}
    for metric in dict.fromkeys(each.metric for each in requirements):
        values = [row[metric.name] for row in rows if row[metric.name] is not None]
        if metric.unit == "share" and len(values) > 1 and not any(values):
            found[metric.name] = zero_limit(len(values))
    return found
