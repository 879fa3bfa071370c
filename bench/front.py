"""The Pareto front of a comparison: policies that no other beats in answers, window and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.eligible import eligible, fault
from bench.replays.what_if import OWN
from bench.samples import Row, Runs, comparable, completed, grouped, samples

__all__ = ["OBJECTIVES", "POOLED", "fronts", "pooled_fronts"]

POOLED = "all sessions, pooled"
"""Stands for the scenario of a line over all of them."""

OBJECTIVES = ("confabulation_rate", "peak_tokens", "total_cost_usd")
"""Metrics that span the front: less of each is better."""


def fronts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a line for each scenario, price and policy of *rows* that was attempted.

    The front is of the policies that may be chosen (`bench.eligible`), by their means over the `n`
    seeds that all of them completed; the others are left out, with ``on_front`` None and ``why``.
    ``share`` is how often a policy is on the front if those seeds are drawn again with replacement,
    the same for all; None for a single seed.
    An objective without a value on any seed, such as the rate of made-up answers where nothing
    is asked, does not count and is None.
    """
    lines = []
    for (scenario, price), runs in grouped(rows).items():
        tried = {
            policy: mine
            for policy, mine in runs.items()
            if any(row["status"] != "not-applicable" for row in mine)
        }
        told = _told(eligible(tried))
        for policy, mine in tried.items():
            done = sum(row["status"] == "completed" for row in mine)
            short = f"completed {done:,} of {len(mine):,} runs" if len(mine) > 1 else "failed"
            lines.append(
                {
                    "scenario": scenario,
                    "price": price,
                    "policy": policy,
                    **told.get(policy, _NOTHING),
                    "completed": done,
                    "attempted": len(mine),
                    "why": None if policy in told else fault(mine) or short,
                }
            )
    return lines


def pooled_fronts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the lines of the front over all scenarios, which are drawn again as seeds are.

    It is meant for recorded sessions, each of them a scenario that is run once. Where they have
    prices of their own that are not the same, the price of a line is :data:`OWN`.
    """
    prices: dict[str, set[str]] = {}
    for row in rows:
        prices.setdefault(row["scenario"], set()).add(row["price"])
    own = len({frozenset(each) for each in prices.values()}) > 1
    seeds = {name: seed for seed, name in enumerate(prices)}
    return fronts(
        [
            {
                **row,
                "scenario": POOLED,
                "seed": seeds[row["scenario"]],
                "price": OWN if own else row["price"],
            }
            for row in rows
        ]
    )


_NOTHING = {"n": 0, "on_front": None, "share": None, **dict.fromkeys(OBJECTIVES)}
"""What is told of a policy that is left out."""


def _told(runs: Runs) -> dict[str, dict[str, Any]]:
    """Return what is told of each policy of *runs*, of none if they share no seed."""
    import numpy as np

    from bench.statistics.fronts import front, front_shares
    from sim.metrics import METRICS

    if not runs:
        return {}
    done = (np.array(list(samples(runs, completed).values())) == 1.0).all(axis=0)
    found = {
        metric.name: np.array(list(samples(runs, comparable(metric)).values()))[:, done]
        for metric in METRICS
        if metric.name in OBJECTIVES
    }
    known = [name for name in OBJECTIVES if not np.isnan(found[name]).any(axis=0).all()]
    if not known:
        return {}
    values = np.stack([found[name] for name in known], axis=-1)
    values = values[:, ~np.isnan(values).any(axis=(0, 2))]
    n = values.shape[1]
    if not n:
        return {}
    means = values.mean(axis=1)
    shares = front_shares(values).tolist() if n > 1 else [None] * len(means)
    return {
        policy: {
            "n": n,
            "on_front": on,
            "share": share,
            **dict.fromkeys(OBJECTIVES),
            **dict(zip(known, each, strict=True)),
        }
        for policy, on, share, each in zip(
            runs, front(means).tolist(), shares, means.tolist(), strict=True
        )
    }
