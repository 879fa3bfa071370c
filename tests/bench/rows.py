"""Rows written by hand, for tests of everything that is made from rows."""

from __future__ import annotations

from typing import Any

from sim.metrics import METRICS


def row(
    policy: str,
    seed: int = 0,
    *,
    scenario: str = "made-up",
    price: str = "list",
    status: str = "completed",
    reason: str = "",
    **values: Any,
) -> dict[str, Any]:
    """A row of a run in which nothing happened but for *values*."""
    metrics = {metric.name: metric.empty for metric in METRICS}
    if status == "not-applicable":
        metrics = dict.fromkeys(metrics)
    assert set(values) <= set(metrics)
    named = {"scenario": scenario, "policy": policy, "seed": seed, "price": price}
    return {**named, **metrics, **values, "status": status, "reason": reason}


def rows(policy: str, metric: str, figures: list[Any], **more: Any) -> list[dict[str, Any]]:
    """Rows of seeds 0, 1, … that differ in one metric."""
    return [row(policy, seed, **{metric: figure}, **more) for seed, figure in enumerate(figures)]
