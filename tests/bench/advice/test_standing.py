from __future__ import annotations

from typing import Any

from bench.advice.pairs import Costs
from bench.advice.standing import Fault, Standing
from tests.bench.rows import row


def runs(policy: str, seeds: int = 4, **values: Any) -> list[dict[str, Any]]:
    return [row(policy, seed, **{"confabulation_rate": 0.0, **values}) for seed in range(seeds)]


def standing(*made: dict[str, Any]) -> Standing:
    return Standing(Costs(made), "list")


def test_honesty_comes_before_cost() -> None:
    found = standing(
        *runs("cheap", total_cost_usd=1.0, confabulation_rate=0.1),
        *runs("honest", total_cost_usd=9.0),
    )
    assert found.first == ["honest"]
    assert found.complete == ["cheap", "honest"]
    assert found.behind("cheap", "honest") == Fault("confabulation_rate", 0.1, 4)
    assert found.behind("honest", "cheap") is None


def test_the_first_criterion_that_differs_is_named() -> None:
    found = standing(
        *runs("quits", status="failed", violations=9),
        *runs("breaks", violations=2, policy_bugs=7, total_cost_usd=1.0),
        *runs("buggy", policy_bugs=3, total_cost_usd=1.0),
        *runs("dear", total_cost_usd=8.0),
    )
    assert found.first == ["dear"]
    assert found.behind("quits", "dear") == Fault("completed", 0, 4)
    assert found.behind("breaks", "dear") == Fault("violations", 2.0, 4)
    assert found.behind("buggy", "dear") == Fault("policy_bugs", 3.0, 4)
    assert (found.completed("quits"), found.attempted("quits")) == (0, 4)
    assert found.complete == ["breaks", "buggy", "dear"]


def test_cost_alone_is_no_fault() -> None:
    found = standing(*runs("a", total_cost_usd=1.0), *runs("b", total_cost_usd=2.0))
    assert found.first == ["a"]
    assert found.behind("b", "a") is None
    assert found.faults("a") == found.faults("b") == []


def test_faults_of_the_best_are_still_faults() -> None:
    found = standing(
        *runs("a", confabulation_rate=0.05, violations=0.5),
        *runs("b", confabulation_rate=0.4),
    )
    assert found.first == ["a"]
    assert found.faults("a") == [
        Fault("confabulation_rate", 0.05, 4),
        Fault("violations", 0.5, 4),
    ]


def test_none_is_first_where_none_completes() -> None:
    assert standing(*runs("a", status="failed"), *runs("b", status="failed")).first == []


def test_one_that_completes_nothing_is_never_first() -> None:
    lucky = [row("b", seed, status="completed" if seed == 0 else "failed") for seed in range(4)]
    found = standing(*runs("a", status="failed"), *lucky)
    assert found.first == found.complete == ["b"]


def test_single_runs_are_ordered_by_their_figures() -> None:
    found = standing(
        *runs("a", 1, total_cost_usd=1.0, confabulation_rate=0.5),
        *runs("b", 1, total_cost_usd=3.0),
        *runs("c", 1, total_cost_usd=2.0),
        *runs("d", 1, total_cost_usd=2.0 + 1e-12),
    )
    assert found.first == ["c", "d"]
    assert found.behind("a", "c") == Fault("confabulation_rate", 0.5, 1)
    assert found.behind("b", "c") is None


def test_a_policy_that_is_not_applicable_does_not_take_part() -> None:
    found = standing(*runs("a", status="not-applicable", confabulation_rate=None), *runs("b"))
    assert found.first == found.complete == ["b"]
