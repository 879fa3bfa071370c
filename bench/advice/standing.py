"""Which policy of a scenario to ship at each price, and what is wrong with a cheaper one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bench.verdict import CRITERIA, standings

if TYPE_CHECKING:
    from bench.advice.pairs import Costs

__all__ = ["COMPLETED", "Fault", "Standing"]

COMPLETED = "completed"
"""The first criterion: the share of runs completed."""

QUALITY = (COMPLETED, *CRITERIA[:-1])
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

        rows = [
            row
            for policy in costs.policies
            for row in costs.rows.get((price, policy), ())
            if row["status"] != "not-applicable"
        ]
        lines = summarise(rows, [metric for metric in METRICS if metric.name in CRITERIA])
        self._lines = {(line["policy"], line["metric"]): line for line in lines}
        self._keys: dict[str, tuple[float, ...]]
        if costs.once:
            self._keys = {row["policy"]: self._figures(row["policy"]) for row in rows}
        else:
            self._keys = {**standings(rows, lines)}

    @property
    def first(self) -> list[str]:
        """The policies in front, all of them if they are tied; none if none completed a run."""
        return self._best(len(QUALITY) + 1)

    @property
    def complete(self) -> list[str]:
        """The policies that none surpasses in the share of runs completed."""
        return self._best(1)

    def completed(self, policy: str) -> int:
        """Return how many of its runs *policy* completed."""
        return int(self._lines[policy, CRITERIA[0]]["completed"])

    def attempted(self, policy: str) -> int:
        """Return how many runs *policy* made."""
        return int(self._lines[policy, CRITERIA[0]]["attempted"])

    def behind(self, policy: str, leader: str) -> Fault | None:
        """Return the first criterion by which *policy* is behind *leader*, if it is not cost."""
        for name, mine, best in zip(QUALITY, self._keys[policy], self._keys[leader], strict=False):
            if mine != best:
                return self._fault(policy, name) if mine > best else None
        return None

    def faults(self, policy: str) -> list[Fault]:
        """Return what *policy* leaves to be desired, whoever else does."""
        found = [self._fault(policy, name) for name in QUALITY]
        return [
            fault
            for fault in found
            if (fault.value < fault.attempted if fault.criterion == COMPLETED else fault.value > 0)
        ]

    def _best(self, criteria: int) -> list[str]:
        able = {p: key[:criteria] for p, key in self._keys.items() if self.completed(p)}
        return [policy for policy, key in able.items() if key == min(able.values())]

    def _fault(self, policy: str, criterion: str) -> Fault:
        value = self.completed(policy) if criterion == COMPLETED else self._mean(policy, criterion)
        return Fault(criterion, value, self.attempted(policy))

    def _mean(self, policy: str, metric: str) -> float:
        mean = self._lines[policy, metric]["mean"]
        return 0.0 if mean is None else float(f"{mean:.9g}")

    def _figures(self, policy: str) -> tuple[float, ...]:
        return (-self.completed(policy), *(self._mean(policy, name) for name in CRITERIA))
