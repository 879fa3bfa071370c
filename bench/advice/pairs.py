"""What policies cost at each price, and which of two is the cheaper one; from rows alone.

Costs are ``total_cost_usd`` in US dollars, of completed runs only; two policies are compared on the
seeds that both completed at that price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.statistics import Estimate, difference, estimate, ranks

if TYPE_CHECKING:
    from bench.statistics import Sample

__all__ = ["COST", "Costs", "Pair", "Ranked"]

Row = Mapping[str, Any]

COST = "total_cost_usd"

_SAME = 1e-9
"""Two costs of one run that differ by a smaller share are the same: rows may be printed ones."""


class Ranked(NamedTuple):
    """What a policy costs at a price, and its place by cost alone, None if it has none."""

    price: str
    policy: str
    cost: Estimate
    rank: int | None


@dataclass(frozen=True)
class Pair:
    """Two policies and, by price, *first* less *second* where both have a cost."""

    first: str
    second: str
    apart: Mapping[str, Estimate]
    signs: Mapping[str, int]
    """By price: -1 if *first* is the cheaper one, 1 if *second* is, 0 if they are not told apart;
    a price at which they cannot be compared is not in it."""

    def at(self, sign: int) -> list[str]:
        """Return the prices with this *sign*."""
        return [price for price, found in self.signs.items() if found == sign]

    @property
    def flips(self) -> bool:
        """Whether each is the cheaper one somewhere."""
        return {-1, 1} <= set(self.signs.values())

    @property
    def fades(self) -> bool:
        """Whether one is the cheaper one somewhere, and elsewhere they are not told apart."""
        return not self.flips and len(set(self.signs.values())) == 2

    def turned(self) -> Pair:
        """Return the same with the two exchanged."""
        apart = {
            price: Estimate(
                None if gap.mean is None else -gap.mean,
                None if gap.high is None else -gap.high,
                None if gap.low is None else -gap.low,
                gap.n,
            )
            for price, gap in self.apart.items()
        }
        signs = {price: -sign for price, sign in self.signs.items()}
        return Pair(self.second, self.first, apart, signs)


class Costs:
    """The costs in the *rows* of one scenario, at every price in them."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.scenario: str = rows[0]["scenario"]
        self.prices: list[str] = list(dict.fromkeys(row["price"] for row in rows))
        self.policies: list[str] = list(
            dict.fromkeys(row["policy"] for row in rows if row["status"] != "not-applicable")
        )
        self.seeds: list[int] = sorted({row["seed"] for row in rows})
        self.rows: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            self.rows.setdefault((row["price"], row["policy"]), []).append(row)

    @property
    def once(self) -> bool:
        """Whether there is but one run of each policy, so that nothing can be claimed."""
        return len(self.seeds) == 1

    def sample(self, price: str, policy: str, metric: str = COST) -> Sample:
        """Return a metric of completed runs by seed, NaN where there is none."""
        import numpy as np

        places = {seed: place for place, seed in enumerate(self.seeds)}
        sample = np.full(len(places), np.nan)
        for row in self.rows.get((price, policy), ()):
            if row["status"] == "completed" and row[metric] is not None:
                sample[places[row["seed"]]] = row[metric]
        return sample

    @cached_property
    def samples(self) -> dict[tuple[str, str], Sample]:
        """Costs by price and policy, those that are applicable."""
        return {
            (p, policy): self.sample(p, policy) for p in self.prices for policy in self.policies
        }

    def ranking(self, price: str, among: Sequence[str] | None = None) -> list[Ranked]:
        """Return the policies in the order of their places at *price*, those without one behind.

        They are ranked *among* some of them, by default all.
        """
        policies = self.policies if among is None else among
        samples = [self.samples[price, policy] for policy in policies]
        costs = [estimate(sample) for sample in samples]
        places = _plain_ranks(costs) if self.once else ranks(samples, "less")
        found = [Ranked(price, *parts) for parts in zip(policies, costs, places, strict=True)]
        last = len(found) + 1
        return sorted(found, key=lambda r: (r.rank or last, r.cost.mean is None, r.cost.mean or 0))

    def pairs(self) -> Iterator[Pair]:
        """Yield every two policies, the cheaper one of the first price that decides in front."""
        for first, second in combinations(self.policies, 2):
            pair = self._pair(first, second)
            decided = next((sign for sign in pair.signs.values() if sign), -1)
            yield pair if decided < 0 else pair.turned()

    def _pair(self, first: str, second: str) -> Pair:
        apart, signs = {}, {}
        for price in self.prices:
            gap = difference(self.samples[price, first], self.samples[price, second])
            if gap.mean is None or (gap.n < 2 and not self.once):
                continue
            apart[price] = gap
            signs[price] = self._sign(gap, price, first)
        return Pair(first, second, apart, signs)

    def _sign(self, gap: Estimate, price: str, policy: str) -> int:
        mean = gap.mean or 0.0
        if self.once:
            size = abs(float(self.samples[price, policy][0]))
            return 0 if abs(mean) <= _SAME * size else _sign_of(mean)
        return 0 if gap.holds_zero else _sign_of(mean)


def _plain_ranks(costs: Sequence[Estimate]) -> list[int | None]:
    """Return the places of single runs: those that cost the same share one."""
    known = [cost.mean for cost in costs if cost.mean is not None]
    return [
        None if cost.mean is None else 1 + sum(c < cost.mean * (1 - _SAME) for c in known)
        for cost in costs
    ]


def _sign_of(value: float) -> int:
    return (value > 0) - (value < 0)
