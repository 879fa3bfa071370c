"""The difference of two results: a line for each figure, with a verdict, and one of them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from bench.diff.alike import check_alike
from bench.diff.chance import chances
from bench.diff.pairs import Group, groups, only_in, pair_values
from bench.results import Results
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from sim.metrics import Metric

__all__ = ["COMPLETED", "DEFAULT", "LEVEL", "Difference", "chosen", "diff"]

DEFAULT = (
    "confabulation_rate",
    "stale",
    "abstained",
    "deferred",
    "violations",
    "policy_bugs",
    "peak_tokens",
    "total_cost_usd",
    "total_seconds",
)
"""Metrics that are compared where none is named: every way to answer wrongly or not at all, what
the policy did that it may not, and what a team pays: the largest request, money and time."""

LEVEL = 0.05
"""Share of reports that name a change at all where chance is all there is, at most."""

COMPLETED = "completed"
"""A status of runs, and in place of a metric the share of those that have it."""

EVERY = "all"
"""Stands for every metric that has a better direction."""

_EQUAL = 1e-8
"""Values are the same that differ by this share of the larger: nine digits of them are stored."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two results.

    *lines* has one for each scenario, price, policy and metric, *failed* one for each run that
    completed in the first and did not in the second. *only_a* and *only_b* name what only one has.
    """

    lines: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    only_a: list[dict[str, Any]]
    only_b: list[dict[str, Any]]
    pairs: int
    most: int
    """Pairs of the largest group."""

    def of(self, verdict: str) -> list[dict[str, Any]]:
        """Return the lines of a *verdict*, the largest change first, in shares of what it was."""
        found = [line for line in self.lines if line["verdict"] == verdict]
        return sorted(found, key=_size, reverse=True)

    @property
    def regression(self) -> bool:
        """Whether anything is worse."""
        return any(line["verdict"] == "worse" for line in self.lines)

    def document(self, a: Results, b: Results) -> dict[str, Any]:
        """Return the parts of a JSON document; of *a* and *b*, what made them."""
        told = ("evictbench", "git_commit", "python", "libraries")
        return {
            "regression": self.regression,
            "lines": self.lines,
            "failed": self.failed,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "pairs": self.pairs,
            "level": LEVEL,
            "a": {name: a.manifest.get(name) for name in told},
            "b": {name: b.manifest.get(name) for name in told},
        }


def chosen(names: Sequence[str]) -> list[Metric]:
    """Return the metrics *names*, by default :data:`DEFAULT`; ``all``: every one with a direction.

    Raises InputError for an unknown one, and for one of which neither less nor more is better.
    """
    from sim.metrics import METRICS

    known = {metric.name: metric for metric in METRICS}
    directed = [metric for metric in METRICS if metric.better is not None]
    if EVERY in names:
        return directed
    for name in names:
        if name not in known:
            raise InputError(unknown("metric", name, [*(m.name for m in directed), EVERY]))
        if known[name].better is None:
            raise InputError(f"of {name}, neither less nor more is better")
    return [known[name] for name in dict.fromkeys(names or DEFAULT)]


def diff(a: Results, b: Results, metrics: Sequence[str] = (), tolerance: float = 0.0) -> Difference:
    """Return what differs in *b* from *a*, in *metrics* (see :func:`chosen`).

    A line has the values of its group, its `metric`, `unit` and `better` direction; ``a_mean`` and
    ``b_mean`` over the ``n`` pairs that have both, of which ``changed`` differ; their difference
    ``diff_mean`` with its 95 % interval; ``share``, that difference over the size of ``a_mean``,
    None if that is 0; and ``chance``, see `bench.diff.chance`. Its ``verdict`` is

    - ``worse`` or ``better``: the interval excludes 0, and chance is at most :data:`LEVEL`;
    - ``tolerated``: it would be, but is a change of less than *tolerance* percent;
    - ``chance``: pairs differ, as chance may make them differ;
    - ``one run``: a single pair differs, of which nothing can be claimed;
    - ``same``: no pair differs; ``none``: no pair has both values.

    Of each group a line says how many runs completed. It is ``worse`` if one that did does not any
    more: that is a fact, and no sample. Raises InputError for results that cannot be compared, an
    unknown metric, or a *tolerance* that is no percentage.
    """
    wanted = chosen(metrics)
    if not (isfinite(tolerance) and tolerance >= 0.0):
        raise InputError(f"the tolerance must be a percentage of at least 0, not {tolerance:g}")
    check_alike(a, b)
    found = groups(a, b)
    lines: list[dict[str, Any]] = []
    tested: list[tuple[dict[str, Any], Mapping[str, float]]] = []
    for group in found:
        lines.append(_completed(group))
        for metric in wanted:
            line, apart = _line(group, metric)
            lines.append(line)
            if line["changed"] and line["n"] > 1:
                tested.append((line, apart))
    found_chances = chances([apart for _, apart in tested])
    for (line, _), chance in zip(tested, found_chances, strict=True):
        line["chance"] = chance
    for line in lines:
        if "verdict" not in line:
            line["verdict"] = _verdict(line, tolerance / 100.0)
    return Difference(
        lines,
        [line for group in found for line in _failed(group)],
        only_in(a, b),
        only_in(b, a),
        sum(len(group.pairs) for group in found),
        max(len(group.pairs) for group in found),
    )


def _line(group: Group, metric: Metric) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the line of a metric without its verdict, and the differences by unit."""
    import numpy as np

    from bench.statistics import estimate

    values = list(pair_values(group, metric.name, metric.completed_only))
    apart = {unit: _less(other, one) for unit, one, other in values}
    found = estimate(np.array(list(apart.values()), dtype=float))
    n = len(values)
    before = sum(one for _, one, _ in values) / n if n else None
    line = {
        **group.key,
        "metric": metric.name,
        "unit": metric.unit,
        "better": metric.better,
        "a_mean": before,
        "b_mean": sum(other for _, _, other in values) / n if n else None,
        "diff_mean": found.mean,
        "ci_low": found.low,
        "ci_high": found.high,
        "n": n,
        "changed": sum(map(bool, apart.values())),
        "share": found.mean / abs(before) if before and found.mean is not None else None,
        "chance": None,
    }
    return line, apart


def _completed(group: Group) -> dict[str, Any]:
    """Return the line of how many runs completed, with its verdict."""
    n = len(group.pairs)
    a = sum(pair.a["status"] == COMPLETED for pair in group.pairs)
    b = sum(pair.b["status"] == COMPLETED for pair in group.pairs)
    lost = len(_failed(group))
    gained = b - a + lost
    return {
        **group.key,
        "metric": COMPLETED,
        "unit": "share",
        "better": "more",
        "a_mean": a / n,
        "b_mean": b / n,
        "diff_mean": (b - a) / n,
        "ci_low": None,
        "ci_high": None,
        "n": n,
        "changed": lost + gained,
        "share": (b - a) / a if a else None,
        "chance": None,
        "verdict": "worse" if lost else "better" if gained else "same",
    }


def _failed(group: Group) -> list[dict[str, Any]]:
    return [
        {**group.key, "unit": pair.unit, "status": pair.b["status"], "reason": pair.b["reason"]}
        for pair in group.pairs
        if pair.a["status"] == COMPLETED != pair.b["status"]
    ]


def _less(one: float, other: float) -> float:
    """Return *one* less *other*, 0 where they are the same but for rounding."""
    apart = one - other
    return 0.0 if abs(apart) <= _EQUAL * max(abs(one), abs(other)) else float(apart)


def _verdict(line: Mapping[str, Any], tolerance: float) -> str:
    if not line["n"]:
        return "none"
    if not line["changed"]:
        return "same"
    low, high, chance = line["ci_low"], line["ci_high"], line["chance"]
    if chance is None:
        return "one run"
    if low <= 0.0 <= high or chance > LEVEL:
        return "chance"
    if line["share"] is not None and abs(line["share"]) < tolerance:
        return "tolerated"
    return "worse" if (low > 0.0) == (line["better"] == "less") else "better"


def _size(line: Mapping[str, Any]) -> float:
    return inf if line["share"] is None else abs(line["share"])
