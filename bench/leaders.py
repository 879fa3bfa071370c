"""Which policies cannot be told from the best of a metric, from the rows of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.eligible import eligible
from bench.samples import Row, comparable, grouped, samples
from bench.statistics import best

__all__ = ["MEASURED", "leaders"]

MEASURED = ("confabulation_rate", "peak_tokens", "total_cost_usd")
"""Metrics of which the best are named: all are better when they are less."""


def leaders(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a line for each scenario, price and metric of :data:`MEASURED`, in their order.

    ``best`` is the policy with the best mean, ``alike`` those whose paired interval to it holds
    zero; both are of the policies that may be chosen (`bench.eligible`). Nothing is said where
    there are fewer than two seeds.
    """
    from sim.metrics import METRICS

    measured = [metric for metric in METRICS if metric.name in MEASURED]
    lines = []
    for (scenario, price), runs in grouped(rows).items():
        left = eligible(runs)
        for metric in measured:
            values = samples(left, comparable(metric))
            found = [list(values)[index] for index in best(list(values.values()), "less")]
            if found:
                line = {"scenario": scenario, "price": price, "metric": metric.name}
                lines.append({**line, "best": found[0], "alike": found[1:]})
    return lines
