"""The summary of a comparison: a line a scenario, price, policy and metric, from the rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.samples import Group, Row, Runs, comparable, grouped, places, samples
from bench.statistics import (
    Estimate,
    Sample,
    difference,
    estimate,
    median,
    p_values,
    q_values,
    ranks,
    zero_limit,
)

if TYPE_CHECKING:
    from sim.metrics import Metric

__all__ = ["COLUMNS", "SAYS", "baseline_of", "default_baseline", "summarise", "summary_lines"]

_OF_METRIC = "that of the metric"

SAYS: Mapping[str, tuple[str, str, str | None]] = {
    "scenario": ("string", "name of the scenario, or of the recorded session", None),
    "policy": ("string", "label of the policy", None),
    "metric": ("string", "what was measured", None),
    "price": ("string", "row of the price book", None),
    "mean": ("number", "mean over the seeds that have a value", _OF_METRIC),
    "ci_low": ("number", "lower end of the 95 % interval of the mean", _OF_METRIC),
    "ci_high": ("number", "upper end of it", _OF_METRIC),
    "n": ("integer", "seeds that have a value; of costs and peaks, completed runs", "count"),
    "zero_limit": (
        "number",
        "exact one-sided 95 % limit of a share that was zero in all of them",
        "share",
    ),
    "diff_mean": ("number", "mean of the policy less the baseline, paired by seed", _OF_METRIC),
    "diff_ci_low": ("number", "lower end of the 95 % interval of that difference", _OF_METRIC),
    "diff_ci_high": ("number", "upper end of it", _OF_METRIC),
    "diff_n": ("integer", "seeds on which both have a value", "count"),
    "p_value": (
        "number",
        "of the paired permutation test of no difference; none for the baseline",
        "probability",
    ),
    "q_value": (
        "number",
        "what it is worth among all differences of that metric in the comparison",
        "probability",
    ),
    "baseline": ("string", "the policy that differences are taken to", None),
    "rank": ("integer", "place among the policies, from 1; null where none is better", None),
    "median": ("number", "median over the seeds that have a value", _OF_METRIC),
    "completed": ("integer", "runs of the policy that completed", "count"),
    "attempted": ("integer", "runs of the policy; none if it is not applicable", "count"),
}
"""Keys of a summary row, in the order of every output, each with its type, meaning and unit.

A metric declared ``completed_only`` has a value only where the run completed.
"""

COLUMNS = tuple(SAYS)
"""Keys of a summary row, in the order of every output."""


def default_baseline(policies: Sequence[str]) -> str:
    """Return ``no-op`` if it is one of *policies*, in canonical order, else the first of them."""
    return "no-op" if "no-op" in policies else policies[0]


def baseline_of(runs: Runs) -> str:
    """Return the default baseline of a scenario: one that is applicable, if any is."""
    able = [p for p, rows in runs.items() if any(r["status"] != "not-applicable" for r in rows)]
    return default_baseline(able or list(runs))


def summarise(
    rows: Sequence[Row], metrics: Sequence[Metric], baseline: str | None = None
) -> list[dict[str, Any]]:
    """Return the summary of *rows*: what :func:`summary_lines` yields."""
    return list(summary_lines(rows, metrics, baseline))


def summary_lines(
    rows: Sequence[Row],
    metrics: Sequence[Metric],
    baseline: str | None = None,
    front: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield the summary of *rows*: scenarios, prices and policies in their order, then *metrics*.

    *baseline* is the policy that differences are taken to, by default :func:`default_baseline` of
    those that are applicable to the scenario. *front* are columns of the rows that tell groups
    apart besides scenario and price, and stand in front of each line. Many recorded sessions have
    far more lines than rows, so that they are made one scenario at a time; only p-values are found
    before.
    """
    groups = grouped(rows, front)
    against = {key: baseline or baseline_of(runs) for key, runs in groups.items()}
    found = _q_values(groups, metrics, against)
    for key, runs in groups.items():
        apart = dict(zip(front, key[2:], strict=True))
        for line in _summarise_group(key, runs, metrics, against[key], found):
            yield {**apart, **line} if apart else line


def _q_values(
    groups: Mapping[Group, Runs], metrics: Sequence[Metric], against: Mapping[Group, str]
) -> dict[tuple[Group, str, str], tuple[float, float]]:
    """Return the p-value and q-value of each difference by group, policy and metric.

    The family of a difference is all those of its metric.
    """
    found: dict[tuple[Group, str, str], tuple[float, float]] = {}
    several = {
        key: runs for key, runs in groups.items() if len(places(runs)) > 1 and against[key] in runs
    }
    for metric in metrics:
        family: dict[tuple[Group, str, str], float] = {}
        for key, runs in several.items():
            others = samples(runs, comparable(metric))
            base = others.pop(against[key])
            apart = [values - base for values in others.values()]
            for policy, p in zip(others, p_values(apart), strict=True):
                if p is not None:
                    family[key, policy, metric.name] = p
        adjusted = q_values(list(family.values()))
        for cell, q in zip(family, adjusted, strict=True):
            found[cell] = family[cell], q
    return found


def _summarise_group(
    key: Group,
    runs: Runs,
    metrics: Sequence[Metric],
    baseline: str,
    tested: Mapping[tuple[Group, str, str], tuple[float, float]],
) -> list[dict[str, Any]]:
    scenario, price, *_ = key
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for metric in metrics:
        found = samples(runs, comparable(metric))
        order = ranks(list(found.values()), metric.better)
        for (policy, values), rank in zip(found.items(), order, strict=True):
            own = estimate(values)
            apart = _apart(values, found.get(baseline))
            p, q = tested.get((key, policy, metric.name), (None, None))
            zero = metric.unit == "share" and own.n > 1 and own.mean == 0.0
            lines[policy, metric.name] = {
                "scenario": scenario,
                "policy": policy,
                "metric": metric.name,
                "price": price,
                "mean": own.mean,
                "ci_low": own.low,
                "ci_high": own.high,
                "n": own.n,
                "zero_limit": zero_limit(own.n) if zero else None,
                "diff_mean": apart.mean,
                "diff_ci_low": apart.low,
                "diff_ci_high": apart.high,
                "diff_n": apart.n,
                "p_value": p,
                "q_value": q,
                "baseline": baseline,
                "rank": rank,
                "median": median(values),
                "completed": sum(row["status"] == "completed" for row in runs[policy]),
                "attempted": sum(row["status"] != "not-applicable" for row in runs[policy]),
            }
    return [lines[policy, metric.name] for policy in runs for metric in metrics]


def _apart(sample: Sample, baseline: Sample | None) -> Estimate:
    """Return the paired difference to the baseline; with one pair nothing is claimed."""
    if baseline is None:
        return Estimate(None, None, None, 0)
    apart = difference(sample, baseline)
    return apart if apart.n > 1 else Estimate(None, None, None, apart.n)
