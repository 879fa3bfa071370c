"""The items of advice on one scenario, in words and figures.

For each scenario: what to ship at each price, who is cheapest, and which pairs of policies change
places between prices. Everything is computed from the rows; those of the price book only serve to
say from which R on an order turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from bench.advice import wording
from bench.advice.pairs import Costs, Pair, Ranked
from bench.advice.standing import Standing
from bench.advice.turning import Turning, explain, ratio, turning

__all__ = ["KINDS", "advise"]

KINDS = ("ship", "cheapest", "flip", "fade", "order")
"""What an item of advice is about.

``ship``: the first policy by the criteria of `bench.verdict`, at each price. ``cheapest``: the
policies by cost alone, where others than those to ship are in front. ``flip``: of two policies each
is the cheaper one at some price, and both paired 95 % intervals are clear of 0. ``fade``: one is,
and at another price the interval holds 0. ``order``: the order of two single runs changes, which
claims nothing beyond them.
"""

Row = Mapping[str, Any]
Books = Mapping[str, Mapping[str, Row]]


def advise(rows: Sequence[Row], books: Books | None = None) -> list[dict[str, Any]]:
    """Return the advice that *rows* give, scenario by scenario, the most important first.

    Each item is {scenario, kind, policies, prices, sentence, figures}, *kind* one of :data:`KINDS`.
    *books* holds, by scenario, the rows of the price book by name.
    """
    scenarios: dict[str, list[Row]] = {}
    for row in rows:
        scenarios.setdefault(row["scenario"], []).append(row)
    return [
        item
        for name, mine in scenarios.items()
        for item in _Advice(Costs(mine), (books or {}).get(name, {})).items()
    ]


@dataclass
class _Advice:
    """The advice about one scenario; *book* has the rows of its prices."""

    costs: Costs
    book: Mapping[str, Row]

    def items(self) -> Iterator[dict[str, Any]]:
        if not self.costs.policies:
            return
        yield self._ship()
        if not self._shipped_are_cheapest:
            yield self._cheapest()
        pairs = sorted(self._pairs.values(), key=self._weight)
        for pair in pairs:
            if pair.flips:
                yield self._flip(pair)
        for pair in pairs:
            if pair.fades and not self.costs.once:
                yield self._item("fade", pair, wording.faded(pair, self.costs), None, {})

    # -- what stands where -----------------------------------------------------------------

    @cached_property
    def _rankings(self) -> dict[str, list[Ranked]]:
        return {price: self.costs.ranking(price) for price in self.costs.prices}

    @cached_property
    def _standings(self) -> dict[str, Standing]:
        return {price: Standing(self.costs, price) for price in self.costs.prices}

    @cached_property
    def _pairs(self) -> dict[frozenset[str], Pair]:
        return {frozenset((pair.first, pair.second)): pair for pair in self.costs.pairs()}

    @cached_property
    def _leaders(self) -> dict[str, list[Ranked]]:
        """The cheapest, by price, of the policies that none surpasses in runs completed."""
        ranked = {
            price: self.costs.ranking(price, standing.complete)
            for price, standing in self._standings.items()
        }
        return {price: [each for each in all_ if each.rank == 1] for price, all_ in ranked.items()}

    @property
    def _shipped_are_cheapest(self) -> bool:
        return all(
            {leader.policy for leader in self._leaders[price]} == set(standing.first)
            for price, standing in self._standings.items()
        )

    @cached_property
    def _named(self) -> set[str]:
        """The policies that come first somewhere, by cost or by all criteria."""
        found = {leader.policy for leaders in self._leaders.values() for leader in leaders}
        return found.union(*(standing.first for standing in self._standings.values()))

    def _weight(self, pair: Pair) -> tuple[int, float]:
        """Return the key that puts the pairs with the best policies and clearest flips in front."""
        return -len({pair.first, pair.second} & self._named), -self._clearest(pair)

    def _clearest(self, pair: Pair) -> float:
        """Return how far *pair* is apart as a share of its cost, on the side where it is less."""
        sides = (
            max((self._share(pair, price) for price in pair.at(sign)), default=0.0)
            for sign in (-1, 1)
        )
        return min(sides)

    def _share(self, pair: Pair, price: str) -> float:
        costs = {each.policy: each.cost.mean or 0.0 for each in self._rankings[price]}
        return abs(pair.apart[price].mean or 0.0) / max(costs[pair.first], costs[pair.second])

    # -- items -----------------------------------------------------------------------------

    def _ship(self) -> dict[str, Any]:
        choice = [(price, self._shipped(price)) for price in self.costs.prices]
        choice = [(price, policies) for price, policies in choice if policies]
        cheaper = [each for price, first in choice for each in self._cheaper(price, first[0])]
        if choice:
            remarks = [*self._own_faults(choice), *self._but(cheaper)]
            sentence = wording.shipped(choice, self._shipped_are_cheapest, remarks, self.costs)
        else:
            sentence = "No policy completes a run here, so none is to be shipped for its cost."
        figures = {
            "choice": [{"price": price, "policies": first} for price, first in choice],
            "cheaper": cheaper,
        }
        policies = dict.fromkeys(policy for _, first in choice for policy in first)
        return self._entry("ship", list(policies), sentence, figures)

    def _shipped(self, price: str) -> list[str]:
        """Return the policies to ship at *price*; of tied ones the faultless and cheap first."""
        standing = self._standings[price]
        order = [each.policy for each in self._rankings[price]]
        return sorted(standing.first, key=lambda p: (bool(standing.faults(p)), order.index(p)))

    def _own_faults(self, choice: Sequence[tuple[str, list[str]]]) -> list[str]:
        """Return the sentence on what even the policies to ship leave to be desired, if any is."""
        says: dict[str, dict[str, None]] = {}
        for price, first in choice:
            for policy in first:
                for fault in self._standings[price].faults(policy):
                    says.setdefault(policy, {}).setdefault(wording.shortfall(*fault))
        groups: dict[str, list[str]] = {}
        for policy, faults in says.items():
            groups.setdefault(wording.join(list(faults)), []).append(policy)
        found = [f"{wording.join(who)} ({what})" for what, who in groups.items()]
        return [f"Not without fault: {'; '.join(found)}."] if found else []

    def _cheaper(self, price: str, leader: str) -> Iterator[dict[str, Any]]:
        """Yield the cheapest policy at *price* if it costs less than *leader* and is worse."""
        best = [each for each in self._rankings[price] if each.rank == 1]
        pair = self._pairs.get(frozenset((best[0].policy, leader))) if best else None
        if pair is None:
            return
        pair = pair if pair.first == best[0].policy else pair.turned()
        fault = self._standings[price].behind(pair.first, leader)
        if pair.signs.get(price) == -1 and fault is not None:
            yield {
                "price": price,
                "policy": pair.first,
                "than": leader,
                **_gap(pair, price),
                "criterion": fault.criterion,
                "value": fault.value,
                "attempted": fault.attempted,
            }

    def _but(self, cheaper: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return a sentence for each policy that costs less and is worse, and by what it is."""
        groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
        for each in cheaper:
            says = wording.shortfall(each["criterion"], each["value"], each["attempted"])
            groups.setdefault((each["policy"], each["than"], says), []).append(each)
        return [
            f"{policy} costs less than {than} {wording.saves(gaps, self.costs)}, but {says}."
            for (policy, than, says), gaps in groups.items()
        ]

    def _cheapest(self) -> dict[str, Any]:
        found = [
            (price, [leader.policy for leader in leaders], leaders[0].cost.mean or 0.0)
            for price, leaders in self._leaders.items()
            if leaders
        ]
        ranking = [
            {
                "price": each.price,
                "policy": each.policy,
                "mean": each.cost.mean,
                "ci_low": each.cost.low,
                "ci_high": each.cost.high,
                "n": each.cost.n,
                "rank": each.rank,
            }
            for price in self.costs.prices
            for each in self._rankings[price]
        ]
        names = dict.fromkeys(policy for _, policies, _ in found for policy in policies)
        sentence = wording.cheapest(found, self._some_are_left_out, self.costs)
        return self._entry("cheapest", list(names), sentence, {"ranking": ranking})

    @property
    def _some_are_left_out(self) -> bool:
        """Whether a policy that has a cost is not considered, since it completes fewer runs."""
        return any(
            each.cost.mean is not None and each.policy not in self._standings[price].complete
            for price, ranked in self._rankings.items()
            for each in ranked
        )

    def _flip(self, pair: Pair) -> dict[str, Any]:
        sentence = wording.flipped(pair, self.costs)
        if self.costs.once:
            return self._item("order", pair, sentence, None, {})
        found = self._turning(pair)
        gaps = {
            price: gap
            for price in pair.apart
            if (gap := explain(self.costs, pair, price, self.book)) is not None
        }
        if found is not None:
            turned, base, other = found
            places = (base, ratio(self.book[base]) or 0.0, other, ratio(self.book[other]) or 0.0)
            ours = pair if base in pair.at(-1) else pair.turned()
            sentence += " " + wording.turns(turned, ours, places)
        else:
            sides = [next((p for p in pair.at(sign) if p in gaps), None) for sign in (-1, 1)]
            known = [price for price in sides if price is not None]
            if len(known) == 2:
                sentence += " " + wording.decided_by(pair, [(p, gaps[p]) for p in known])
        return self._item("flip", pair, sentence, found, gaps)

    def _turning(self, pair: Pair) -> tuple[Turning, str, str] | None:
        """Return where the order turns between two prices that differ in it, which come along."""
        for ours in (pair, pair.turned()):
            for base, other in product(ours.at(-1), ours.at(1)):
                found = turning(self.costs, ours, base, other, self.book)
                if found is not None:
                    return found, base, other
        return None

    def _item(
        self,
        kind: str,
        pair: Pair,
        sentence: str,
        found: tuple[Turning, str, str] | None,
        gaps: Mapping[str, Mapping[str, float]],
    ) -> dict[str, Any]:
        differences = [
            {"price": price, **_gap(pair, price), "parts": gaps.get(price)} for price in pair.apart
        ]
        turns = None
        if found is not None:
            turned, base, other = found
            turns = {
                "tokens_at": base,
                "towards": other,
                "ratio": turned.ratio,
                "ratio_low": turned.low,
                "ratio_high": turned.high,
            }
        figures = {"differences": differences, "turns": turns}
        return self._entry(kind, [pair.first, pair.second], sentence, figures)

    def _entry(
        self, kind: str, policies: list[str], sentence: str, figures: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "scenario": self.costs.scenario,
            "kind": kind,
            "policies": policies,
            "prices": self.costs.prices,
            "sentence": sentence,
            "figures": figures,
        }


def _gap(pair: Pair, price: str) -> dict[str, Any]:
    gap, one = pair.apart[price], pair.apart[price].n < 2
    return {
        "mean": gap.mean,
        "ci_low": None if one else gap.low,
        "ci_high": None if one else gap.high,
        "n": gap.n,
    }
