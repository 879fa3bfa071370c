"""How far each policy is from the best possible, over the runs of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.statistics import estimate

__all__ = ["BOUND", "distances"]

BOUND = "bound_tokens"
"""Name of a row's bound: the tokens that every policy misses at least on its realised script."""


def distances(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a line for each scenario, price and policy: what it missed beside the bound.

    ``missed``, ``bound`` and ``above``, the first less the second, are means over the `n` runs that
    have both, in tokens, ``above`` with a 95 % interval; ``times`` is missed ÷ bound, None where
    the bound is 0; ``reached`` counts the runs that missed no more than the bound.
    """
    import numpy as np

    groups: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for row in rows:
        mine = groups.setdefault((row["scenario"], row["price"], row["policy"]), [])
        if row.get(BOUND) is not None and row["missed_tokens"] is not None:
            mine.append((row["missed_tokens"], row[BOUND]))
    lines = []
    for (scenario, price, policy), both in groups.items():
        missed, bound = (sum(each[at] for each in both) for at in (0, 1))
        found = estimate(np.array([m - b for m, b in both], dtype=float))
        lines.append(
            {
                "scenario": scenario,
                "price": price,
                "policy": policy,
                "n": len(both),
                "missed": missed / len(both) if both else None,
                "bound": bound / len(both) if both else None,
                "above": found.mean,
                "ci_low": found.low,
                "ci_high": found.high,
                "times": missed / bound if bound else None,
                "reached": sum(m <= b for m, b in both),
            }
        )
    return lines
