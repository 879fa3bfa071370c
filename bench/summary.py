"""The summary of a comparison: a line a scenario, price, policy and metric, from the rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.statistics import Estimate, difference, estimate, median, ranks

if TYPE_CHECKING:
    from bench.statistics import Sample
    from sim.metrics import Metric

__all__ = ["COLUMNS", "default_baseline", "summarise", "summary_lines"]

Row = Mapping[str, Any]

COLUMNS = (
    "scenario",
    "policy",
    "metric",
    "price",
    "mean",
    "ci_low",
    "ci_high",
    "n",
    "diff_mean",
    "diff_ci_low",
    "diff_ci_high",
    "diff_n",
    "baseline",
    "rank",
    "median",
    "completed",
    "attempted",
)
"""Keys of a summary row, in the order of every output.

*mean*, *median* and the interval *ci_low*–*ci_high* are of the *n* seeds that have a value; a
metric declared ``completed_only`` has one only where the run completed. The differences are the
policy's values less the baseline's, paired on the *diff_n* seeds that have both.
*completed* and *attempted* count the policy's runs; a policy that is not applicable attempted none.
"""


def default_baseline(policies: Sequence[str]) -> str:
    """Return ``no-op`` if it is one of *policies*, in canonical order, else the first of them."""
    return "no-op" if "no-op" in policies else policies[0]


def _baseline_of(runs: Mapping[str, Sequence[Row]]) -> str:
    """Return the default baseline of a scenario: one that is applicable, if any is."""
    able = [p for p, rows in runs.items() if any(r["status"] != "not-applicable" for r in rows)]
    return default_baseline(able or list(runs))


def summarise(
    rows: Sequence[Row], metrics: Sequence[Metric], baseline: str | None = None
) -> list[dict[str, Any]]:
    """Return the summary of *rows*: what :func:`summary_lines` yields."""
    return list(summary_lines(rows, metrics, baseline))


def summary_lines(
    rows: Sequence[Row], metrics: Sequence[Metric], baseline: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the summary of *rows*: scenarios, prices and policies in their order, then *metrics*.

    *baseline* is the policy that differences are taken to, by default :func:`default_baseline` of
    those that are applicable to the scenario. Many recorded sessions have far more lines than
    rows, so that they are made one scenario at a time.
    """
    groups: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        runs = groups.setdefault((row["scenario"], row["price"]), {})
        runs.setdefault(row["policy"], []).append(row)
    for (scenario, price), runs in groups.items():
        against = baseline or _baseline_of(runs)
        yield from _summarise_group(scenario, price, runs, metrics, against)


def _summarise_group(
    scenario: str,
    price: str,
    runs: Mapping[str, Sequence[Row]],
    metrics: Sequence[Metric],
    baseline: str,
) -> list[dict[str, Any]]:
    seeds = sorted({row["seed"] for policy in runs.values() for row in policy})
    places = {seed: place for place, seed in enumerate(seeds)}
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for metric in metrics:
        samples = {policy: _sample(rows, metric, places) for policy, rows in runs.items()}
        order = ranks(list(samples.values()), metric.better)
        for (policy, sample), rank in zip(samples.items(), order, strict=True):
            own = estimate(sample)
            apart = _apart(sample, samples.get(baseline))
            lines[policy, metric.name] = {
                "scenario": scenario,
                "policy": policy,
                "metric": metric.name,
                "price": price,
                "mean": own.mean,
                "ci_low": own.low,
                "ci_high": own.high,
                "n": own.n,
                "diff_mean": apart.mean,
                "diff_ci_low": apart.low,
                "diff_ci_high": apart.high,
                "diff_n": apart.n,
                "baseline": baseline,
                "rank": rank,
                "median": median(sample),
                "completed": sum(row["status"] == "completed" for row in runs[policy]),
                "attempted": sum(row["status"] != "not-applicable" for row in runs[policy]),
            }
    return [lines[policy, metric.name] for policy in runs for metric in metrics]


def _sample(rows: Sequence[Row], metric: Metric, places: Mapping[int, int]) -> Sample:
    """Return the values of *metric* by seed, NaN where there is none that may be compared."""
    import numpy as np

    sample = np.full(len(places), np.nan)
    for row in rows:
        value = row[metric.name]
        if value is not None and (row["status"] == "completed" or not metric.completed_only):
            sample[places[row["seed"]]] = value
    return sample


def _apart(sample: Sample, baseline: Sample | None) -> Estimate:
    """Return the paired difference to the baseline; with one pair nothing is claimed."""
    if baseline is None:
        return Estimate(None, None, None, 0)
    apart = difference(sample, baseline)
    return apart if apart.n > 1 else Estimate(None, None, None, apart.n)
