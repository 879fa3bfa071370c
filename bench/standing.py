"""Which policy of a scenario to ship at each price, and what is wrong with a cheaper one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.statistics import ranks
from bench.verdict import CRITERIA, places

if TYPE_CHECKING:
    from bench.pairs import Costs

__all__ = ["COMPLETED", "Fault", "Standing"]

COMPLETED = "completed"
"""The first criterion: the share of runs completed."""

QUALITY = tuple(name for name in CRITERIA if name != "total_cost_usd")
"""The criteria that come before cost, in the order in which they decide."""


class Fault(NamedTuple):
    """The *criterion* by which a policy is behind, and its *value*, a count of runs or a mean."""

    criterion: str
    value: float
    attempted: int


class Standing:
    """Where the policies of *costs* stand at one *price* by the criteria of `bench.verdict`.

    Where there is but one run of each, its figures decide in the same order, and nothing is tied
    but what is the same.
    """

    def __init__(self, costs: Costs, price: str) -> None:
        from bench.summary import summarise
        from sim.metrics import METRICS

        self._costs, self._price = costs, price
        self._policies = [
            policy
            for policy in costs.policies
            if any(row["status"] != "not-applicable" for row in costs.rows.get((price, policy), ()))
        ]
        rows = [row for policy in self._policies for row in costs.rows[price, policy]]
        lines = summarise(rows, [metric for metric in METRICS if metric.name in CRITERIA])
        self._lines = {(line["policy"], line["metric"]): line for line in lines}
        self._keys = self._single() if costs.once else self._ranked()
        self._places = {} if costs.once else places(rows, lines)

    @property
    def first(self) -> list[str]:
        """The policies in front, all of them if they are tied; none if none completed a run."""
        able = [policy for policy in self._policies if self.completed(policy)]
        if not self._costs.once:
            found = {policy: self._places.get(policy) for policy in able}
            return [policy for policy, place in found.items() if place and place.place == 1]
        whole = {
            policy: (*self._keys[policy], self._value(policy, CRITERIA[-1])) for policy in able
        }
        return [policy for policy in able if whole[policy] == min(whole.values())]

    def completed(self, policy: str) -> int:
        """Return how many of its runs *policy* completed."""
        return int(self._lines[policy, QUALITY[0]]["completed"])

    def attempted(self, policy: str) -> int:
        """Return how many runs *policy* made."""
        return int(self._lines[policy, QUALITY[0]]["attempted"])

    def behind(self, policy: str, leader: str) -> Fault | None:
        """Return the first criterion before cost by which *policy* is behind *leader*."""
        mine, theirs = self._keys[policy], self._keys[leader]
        for name, value, best in zip((COMPLETED, *QUALITY), mine, theirs, strict=True):
            if value != best:
                return self._fault(policy, name) if value > best else None
        return None

    def faults(self, policy: str) -> list[Fault]:
        """Return what *policy* leaves to be desired, whoever else does."""
        found = [self._fault(policy, name) for name in (COMPLETED, *QUALITY)]
        return [
            fault
            for fault in found
            if (fault.value < fault.attempted if fault.criterion == COMPLETED else fault.value > 0)
        ]

    def _fault(self, policy: str, criterion: str) -> Fault:
        attempted = self.attempted(policy)
        if criterion == COMPLETED:
            return Fault(criterion, self.completed(policy), attempted)
        return Fault(criterion, self._value(policy, criterion), attempted)

    def _value(self, policy: str, metric: str) -> float:
        mean = self._lines[policy, metric]["mean"]
        return 0.0 if mean is None else float(mean)

    def _single(self) -> dict[str, tuple[float, ...]]:
        return {
            policy: (-self.completed(policy), *(self._value(policy, name) for name in QUALITY))
            for policy in self._policies
        }

    def _ranked(self) -> dict[str, tuple[float, ...]]:
        done = ranks([self._completions(policy) for policy in self._policies], "more")
        last = len(self._policies) + 1
        return {
            policy: (
                place or last,
                *(self._lines[policy, name]["rank"] or last for name in QUALITY),
            )
            for policy, place in zip(self._policies, done, strict=True)
        }

    def _completions(self, policy: str) -> Any:
        import numpy as np

        seeds: Sequence[int] = self._costs.seeds
        sample = np.full(len(seeds), np.nan)
        for row in self._costs.rows[self._price, policy]:
            if row["status"] != "not-applicable":
                sample[seeds.index(row["seed"])] = float(row["status"] == "completed")
        return sample
