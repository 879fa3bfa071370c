from __future__ import annotations

from typing import Any

from bench.leaders import leaders
from tests.bench.rows import row, rows


def found(
    made: list[dict[str, Any]], metric: str = "total_cost_usd"
) -> list[tuple[str, list[str]]]:
    return [(line["best"], line["alike"]) for line in leaders(made) if line["metric"] == metric]


def test_the_best_with_those_that_cannot_be_told_from_it() -> None:
    """b is dearer than a by 9 or cheaper by 7 in turns, c dearer by 3 on every seed."""
    made = rows("c", "total_cost_usd", [13.0] * 20)
    made += rows("b", "total_cost_usd", [19.0, 3.0] * 10)
    made += rows("a", "total_cost_usd", [10.0] * 20)
    assert found(made) == [("a", ["b"])]


def test_a_policy_that_dies_early_is_not_among_them() -> None:
    made = rows("cheap", "total_cost_usd", [1.0] * 20, status="failed")
    made += rows("dear", "total_cost_usd", [9.0] * 20)
    assert found(made) == [("dear", [])]


def test_one_that_loses_a_pin_is_not_among_them() -> None:
    made = rows("cheap", "total_cost_usd", [1.0] * 20)
    made[7]["pins_lost"] = 1
    made += rows("dear", "total_cost_usd", [9.0] * 20)
    assert found(made) == [("dear", [])]


def test_one_that_failed_once_of_twenty_is() -> None:
    made = rows("cheap", "total_cost_usd", [1.0] * 20)
    made[7]["status"] = "failed"
    made += rows("dear", "total_cost_usd", [9.0] * 20)
    assert found(made) == [("cheap", [])]


def test_each_scenario_and_price_has_its_own() -> None:
    made = []
    for scenario, price, cost in (("s", "x", 1.0), ("s", "y", 3.0), ("t", "x", 3.0)):
        where = {"scenario": scenario, "price": price}
        made += rows("a", "total_cost_usd", [cost] * 3, **where)
        made += rows("b", "total_cost_usd", [2.0] * 3, **where)
    assert found(made) == [("a", []), ("b", []), ("b", [])]


def test_nothing_is_said_of_one_seed_or_of_what_is_not_applicable() -> None:
    assert leaders([row("a"), row("b")]) == []
    made = rows("a", "total_cost_usd", [1.0] * 3)
    made += [row("b", seed, status="not-applicable") for seed in range(3)]
    assert found(made) == [("a", [])]
    assert leaders([]) == []
