"""Criteria, verdicts, and the gates there are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench.gates.gate import STATED, Criterion, Gate, Inputs, Verdict, rising, unjudged
from bench.gates.registry import choose, gates
from sim.errors import InputError


@pytest.mark.parametrize(
    ("figure", "low", "high", "closed", "opened"),
    [
        (1.0, 1.0, 2.0, True, False),
        (2.0, 1.0, 2.0, True, False),
        (1.5, 1.0, 2.0, True, True),
        (0.9, 1.0, 2.0, False, False),
        (2.1, 1.0, 2.0, False, False),
        (-5.0, None, 0.0, True, True),
        (5.0, None, 0.0, False, False),
        (5.0, 0.0, None, True, True),
        (0.0, 0.0, None, True, False),
        (5.0, None, None, True, True),
        (float("nan"), 0.0, 1.0, False, False),
        (None, 0.0, 1.0, None, None),
    ],
)
def test_bounds_belong_to_what_passes_unless_they_are_open(
    figure: float | None,
    low: float | None,
    high: float | None,
    closed: bool | None,
    opened: bool | None,
) -> None:
    assert Criterion("x", figure, low, high).passed is closed
    assert Criterion("x", figure, low, high, open=True).passed is opened


@pytest.mark.parametrize(
    ("values", "step", "passed"),
    [
        ({"a": 1.0, "b": 3.0, "c": 3.5}, 0.5, True),
        ({"a": 1.0, "b": 3.0, "c": 3.0}, 0.0, False),
        ({"a": 1.0, "b": 0.5, "c": 9.0}, -0.5, False),
        ({"a": 1.0, "b": None, "c": 9.0}, None, None),
    ],
)
def test_rising_asks_for_every_step(
    values: dict[str, float | None], step: float | None, passed: bool | None
) -> None:
    criterion = rising(values, "$")
    assert criterion.name == "a < b < c"
    assert (criterion.figure, criterion.passed, criterion.unit) == (step, passed, "$")


YES, NO = Criterion("yes", 1.0, 0.0, 2.0), Criterion("no", 3.0, 0.0, 2.0)
NOTHING = Criterion("nothing", None, 0.0, 2.0)


@pytest.mark.parametrize(
    ("criteria", "agrees"),
    [
        ((), None),
        ((YES,), True),
        ((YES, NO), False),
        ((YES, NOTHING), None),
        ((NO, NOTHING), False),
    ],
)
def test_agrees_is_never_true_with_something_unmeasured(
    criteria: tuple[Criterion, ...], agrees: bool | None
) -> None:
    assert Verdict(criteria=criteria).agrees is agrees


def test_an_unjudged_verdict_has_a_reason_and_agrees_with_nothing() -> None:
    verdict = unjudged("no data")
    assert (verdict.agrees, verdict.reason) == (None, "no data")


GATE = Gate(
    *("g", "a claim", {"x": 1}, "P", STATED, "a source"),
    judge=lambda _: Verdict(criteria=(YES,)),
    headline="x",
    needs=("f",),
)


def test_a_gate_without_its_recordings_is_not_judged(tmp_path: Path) -> None:
    assert GATE.run(Inputs()).agrees is None
    assert "--data DIR" in GATE.run(Inputs()).reason
    absent = GATE.run(Inputs(tmp_path))
    assert (absent.agrees, absent.reason) == (None, f"{tmp_path} has no f")
    (tmp_path / "f").write_text("")
    assert GATE.run(Inputs(tmp_path)).agrees is True


@pytest.mark.parametrize("wrong", [{"grade": "A"}, {"setting": "guessed"}])
def test_a_gate_says_how_well_its_source_is_known(wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        replace(GATE, **wrong)


def test_gates_are_found_by_their_modules() -> None:
    found = gates()
    assert {"break-even-shares", "ttl-replay"} <= found.keys()
    assert list(found) == sorted(found)
    for name, gate in found.items():
        assert name == gate.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert gate.about
        assert not gate.about.endswith(".")
        assert gate.source
        assert gate.published


def test_gates_are_chosen_in_the_order_asked_for() -> None:
    assert list(gates()) == [gate.name for gate in choose(())]
    twice = choose(("ttl-replay", "break-even-shares", "ttl-replay"))
    assert [gate.name for gate in twice] == ["ttl-replay", "break-even-shares"]


def test_an_unknown_gate_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown gate 'ttl-repaly'; did you mean 'ttl-replay'"):
        choose(("ttl-repaly",))
