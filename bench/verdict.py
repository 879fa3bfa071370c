"""Who won: policies in order over several criteria, ties kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.statistics import ranks

if TYPE_CHECKING:
    from bench.statistics import Sample

__all__ = ["CRITERIA", "Place", "places", "standings"]

CRITERIA = ("confabulation_rate", "violations", "policy_bugs", "total_cost_usd")
"""After the share of runs completed, the metrics whose ranks decide, one after the other."""


class Place(NamedTuple):
    """Where a policy stands among those compared, from 1; *tied* if it shares the place."""

    place: int
    tied: bool


def places(
    rows: Sequence[Mapping[str, Any]], summary: Sequence[Mapping[str, Any]]
) -> dict[str, Place]:
    """Return the place of each policy of one scenario's *rows* and *summary*, best first.

    Policies that attempted nothing, and all of them where there are fewer than two seeds, have no
    place.
    """
    if len({row["seed"] for row in rows}) < 2:
        return {}
    keys = standings(rows, summary)
    order = sorted(keys, key=lambda policy: keys[policy])
    all_keys = list(keys.values())
    return {
        policy: Place(
            1 + sum(key < keys[policy] for key in all_keys), all_keys.count(keys[policy]) > 1
        )
        for policy in order
    }


def standings(
    rows: Sequence[Mapping[str, Any]], summary: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[int, ...]]:
    """Return the ranks of each policy of one scenario's *rows* and *summary*: smaller is better.

    The first is the rank by the share of runs completed, then come those of :data:`CRITERIA`, each
    of which decides among policies that share all before it. Policies that attempted nothing are
    left out.
    """
    seeds = sorted({row["seed"] for row in rows})
    policies = [
        policy
        for policy in dict.fromkeys(row["policy"] for row in rows)
        if any(row["policy"] == policy and row["status"] != "not-applicable" for row in rows)
    ]
    completed = ranks([_completions(rows, policy, seeds) for policy in policies], "more")
    ranked = {(line["policy"], line["metric"]): line["rank"] for line in summary}
    last = len(policies) + 1
    return {
        policy: (first or last, *(ranked.get((policy, name)) or last for name in CRITERIA))
        for policy, first in zip(policies, completed, strict=True)
    }


def _completions(rows: Sequence[Mapping[str, Any]], policy: str, seeds: Sequence[int]) -> Sample:
    import numpy as np

    places_of = {seed: place for place, seed in enumerate(seeds)}
    sample = np.full(len(seeds), np.nan)
    for row in rows:
        if row["policy"] == policy and row["status"] != "not-applicable":
            sample[places_of[row["seed"]]] = float(row["status"] == "completed")
    return sample
