"""Who won: policies in order over several criteria, ties kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.samples import completed, samples
from bench.statistics import ranks

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
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["status"] != "not-applicable":
            runs.setdefault(row["policy"], []).append(row)
    shares = ranks(list(samples(runs, completed).values()), "more")
    ranked = {(line["policy"], line["metric"]): line["rank"] for line in summary}
    last = len(runs) + 1
    return {
        policy: (first or last, *(ranked.get((policy, name)) or last for name in CRITERIA))
        for policy, first in zip(runs, shares, strict=True)
    }
