"""Which policies may be chosen at all, from rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest

from bench.eligible import eligible, fault, unsafe
from bench.samples import grouped
from tests.bench.rows import row, rows


def chosen(made: list[dict[str, Any]]) -> list[str]:
    return list(eligible(grouped(made)["made-up", "list"]))


@pytest.mark.parametrize("metric", ["pins_lost", "policy_bugs"])
def test_one_run_that_is_not_safe_is_enough(metric: str) -> None:
    made = rows("once", metric, [0, 0, 1]) + rows("never", metric, [0, 0, 0])
    assert [unsafe(each) for each in made] == [False, False, True, False, False, False]
    assert chosen(made) == ["never"]
    assert fault(made[:3], [metric]) is None


def test_who_died_early_is_measured_by_the_best_of_the_safe_ones() -> None:
    """Half of eight runs is told from all of them, and is the best where the others lose pins."""
    half = rows("half", "turns", [1] * 8)
    for each in half[:4]:
        each["status"] = "failed"
    whole = rows("whole", "turns", [1] * 8)
    assert chosen(half + whole) == ["whole"]
    for each in whole:
        each["pins_lost"] = 1
    assert chosen(half + whole) == ["half"]


def test_of_a_single_run_it_is_to_have_completed() -> None:
    made = [row("done"), row("died", status="failed"), row("lost", pins_lost=2)]
    assert chosen(made) == ["done"]
    assert chosen([row("lost", pins_lost=2)]) == []


def test_what_was_not_run_is_not_at_fault() -> None:
    assert fault([row("none", status="not-applicable")]) is None
