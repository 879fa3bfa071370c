from __future__ import annotations

from typing import Any

import pytest

from bench.advice.pairs import Costs
from tests.bench.rows import row, rows

Rows = list[dict[str, Any]]


def costs_of(policy: str, price: str, *figures: float, **more: Any) -> Rows:
    return rows(policy, "total_cost_usd", list(figures), price=price, **more)


def test_prices_policies_and_seeds_in_the_order_of_the_rows() -> None:
    costs = Costs([*costs_of("b", "y", 1.0, 2.0), *costs_of("a", "y", 3.0, 4.0)])
    assert (costs.scenario, costs.prices, costs.policies) == ("made-up", ["y"], ["b", "a"])
    assert (costs.seeds, costs.once) == ([0, 1], False)


def test_a_flip_by_constant_differences_is_exact() -> None:
    made = [
        *costs_of("a", "near", 1.0, 2.0, 3.0),
        *costs_of("b", "near", 1.5, 2.5, 3.5),
        *costs_of("a", "far", 5.0, 6.0, 7.0),
        *costs_of("b", "far", 4.0, 5.0, 6.0),
    ]
    (pair,) = Costs(made).pairs()
    assert (pair.first, pair.second) == ("a", "b")
    assert pair.flips and not pair.fades
    assert pair.signs == {"near": -1, "far": 1}
    assert tuple(pair.apart["near"]) == (-0.5, -0.5, -0.5, 3)
    assert tuple(pair.apart["far"]) == (1.0, 1.0, 1.0, 3)


def test_the_cheaper_one_of_the_first_price_that_decides_stands_in_front() -> None:
    made = [
        *costs_of("a", "even", 1.0, 2.0),
        *costs_of("b", "even", 2.0, 1.0),
        *costs_of("a", "clear", 3.0, 3.0),
        *costs_of("b", "clear", 1.0, 2.0),
    ]
    (pair,) = Costs(made).pairs()
    assert (pair.first, pair.second) == ("b", "a")
    assert pair.signs == {"even": 0, "clear": -1}
    assert pair.fades and not pair.flips
    assert pair.at(0) == ["even"]


def test_a_turned_pair_says_the_same() -> None:
    made = [*costs_of("a", "x", 1.0, 2.0, 4.0), *costs_of("b", "x", 3.0, 3.0, 5.0)]
    (pair,) = Costs(made).pairs()
    turned = pair.turned()
    gap, back = pair.apart["x"], turned.apart["x"]
    assert gap.mean is not None and gap.low is not None and gap.high is not None
    assert (turned.first, turned.second, turned.signs) == ("b", "a", {"x": 1})
    assert (back.mean, back.low, back.high, back.n) == (-gap.mean, -gap.high, -gap.low, 3)
    assert turned.turned() == pair


def test_only_seeds_that_both_completed_count() -> None:
    made = [
        *costs_of("a", "x", 1.0, 1.0),
        row("a", 2, price="x", status="failed", total_cost_usd=0.01),
        *costs_of("b", "x", 3.0, 4.0, 0.5),
    ]
    costs = Costs(made)
    (pair,) = costs.pairs()
    assert pair.apart["x"].n == 2
    assert pair.apart["x"].mean == -2.5
    assert {r.policy: (r.cost.mean, r.cost.n) for r in costs.ranking("x")} == {
        "a": (1.0, 2),
        "b": (2.5, 3),
    }


def test_one_seed_in_common_compares_nothing() -> None:
    made = [
        *costs_of("a", "x", 1.0),
        row("a", 1, price="x", status="failed"),
        *costs_of("b", "x", 3.0, 3.0),
    ]
    (pair,) = Costs(made).pairs()
    assert pair.apart == {} and pair.signs == {}
    assert not pair.flips and not pair.fades


def test_single_runs_have_an_order_and_no_interval() -> None:
    made = [
        *costs_of("a", "x", 1.0),
        *costs_of("b", "x", 2.0),
        *costs_of("a", "y", 4.0),
        *costs_of("b", "y", 2.0),
        *costs_of("a", "z", 1.0),
        *costs_of("b", "z", 1.0 + 1e-12),
    ]
    costs = Costs(made)
    (pair,) = costs.pairs()
    assert costs.once
    assert pair.signs == {"x": -1, "y": 1, "z": 0}
    assert (pair.apart["x"].low, pair.apart["x"].high) == (None, None)
    assert [(r.policy, r.rank) for r in costs.ranking("y")] == [("b", 1), ("a", 2)]
    assert [r.rank for r in costs.ranking("z")] == [1, 1]


def test_what_is_not_applicable_is_not_compared() -> None:
    away = [row("c", seed, price="x", status="not-applicable") for seed in range(2)]
    costs = Costs([*costs_of("a", "x", 1.0, 2.0), *away, *costs_of("b", "x", 2.0, 3.0)])
    assert costs.policies == ["a", "b"]
    assert [(pair.first, pair.second) for pair in costs.pairs()] == [("a", "b")]


def test_a_policy_that_completed_nothing_ranks_behind_without_a_place() -> None:
    failed = [row("a", seed, price="x", status="failed") for seed in range(2)]
    found = Costs([*failed, *costs_of("b", "x", 9.0, 9.0)]).ranking("x")
    assert [(r.policy, r.rank, r.cost.mean) for r in found] == [("b", 1, 9.0), ("a", None, None)]


def test_a_ranking_among_some_leaves_the_others_out() -> None:
    made = [
        *costs_of("a", "x", 1.0, 1.0),
        *costs_of("b", "x", 2.0, 2.0),
        *costs_of("c", "x", 3.0, 3.0),
    ]
    costs = Costs(made)
    assert [(r.policy, r.rank) for r in costs.ranking("x", ["c", "b"])] == [("b", 1), ("c", 2)]


@pytest.mark.parametrize("noise", [[1.0, -1.0, 1.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
def test_what_is_not_told_apart_shares_a_place(noise: list[float]) -> None:
    made = [
        *costs_of("a", "x", 5.0, 6.0, 7.0, 8.0),
        *costs_of("b", "x", *(5.0 + i + by for i, by in enumerate(noise))),
    ]
    assert [r.rank for r in Costs(made).ranking("x")] == [1, 1]
