from __future__ import annotations

from typing import Any

from bench.summary import summarise
from bench.verdict import places, standings
from sim.metrics import METRICS
from tests.bench.rows import row


def found(*made: dict[str, Any]) -> dict[str, tuple[int, bool]]:
    lines = summarise(list(made), METRICS)
    return {policy: tuple(place) for policy, place in places(list(made), lines).items()}


def runs(policy: str, **values: Any) -> list[dict[str, Any]]:
    rate = values.get("confabulated", 0) / 10
    return [row(policy, seed, queries=10, confabulation_rate=rate, **values) for seed in range(4)]


def test_fewer_confabulations_come_before_less_cost() -> None:
    cheap = runs("cheap", confabulated=1, total_cost_usd=1.0)
    honest = runs("honest", total_cost_usd=9.0)
    assert found(*cheap, *honest) == {"honest": (1, False), "cheap": (2, False)}


def test_completion_comes_before_all() -> None:
    quitter = runs("quitter", total_cost_usd=1.0, status="failed")
    worker = runs("worker", confabulated=2, total_cost_usd=9.0)
    assert found(*quitter, *worker) == {"worker": (1, False), "quitter": (2, False)}


def test_violations_then_bugs_then_cost_decide_among_equals() -> None:
    made = [
        *runs("a", violations=1, total_cost_usd=1.0),
        *runs("b", policy_bugs=3, total_cost_usd=1.5),
        *runs("c", total_cost_usd=3.0),
        *runs("d", total_cost_usd=2.0),
    ]
    assert list(found(*made)) == ["d", "c", "b", "a"]


def test_what_cannot_be_told_apart_shares_a_place() -> None:
    made = [*runs("a", total_cost_usd=1.0), *runs("b", total_cost_usd=1.0)]
    made += runs("c", total_cost_usd=2.0)
    assert found(*made) == {"a": (1, True), "b": (1, True), "c": (3, False)}


def test_one_seed_has_no_places() -> None:
    assert found(row("a"), row("b", confabulated=1)) == {}


def test_what_is_not_applicable_has_no_place() -> None:
    made = [*runs("a"), *(row("b", seed, status="not-applicable") for seed in range(4))]
    assert found(*made) == {"a": (1, False)}


def test_standings_are_ranks_in_the_order_of_the_criteria() -> None:
    made = [
        *runs("a", confabulated=1, total_cost_usd=1.0),
        *runs("b", total_cost_usd=2.0),
        *runs("c", status="failed"),
        *(row("d", seed, status="not-applicable") for seed in range(4)),
    ]
    assert standings(made, summarise(made, METRICS)) == {
        "a": (1, 3, 1, 1, 1),
        "b": (1, 1, 1, 1, 2),
        "c": (3, 1, 1, 1, 4),
    }
