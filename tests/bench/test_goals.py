from __future__ import annotations

import pytest

from bench.goals import goal, metric_named
from sim.errors import InputError


@pytest.mark.parametrize(
    ("text", "relation", "value"),
    [
        ("confabulation_rate=0", "=", 0.0),
        ("confabulation_rate<=0.05", "<=", 0.05),
        (" confabulation_rate >= 1e-3 ", ">=", 0.001),
    ],
)
def test_the_forms_of_a_requirement(text: str, relation: str, value: float) -> None:
    found = goal([text], minimise="total_cost_usd")
    assert found is not None
    (requirement,) = found.requirements
    assert requirement.metric is metric_named("confabulation_rate")
    assert (requirement.relation, requirement.value) == (relation, value)


def test_it_says_itself() -> None:
    found = goal(["violations=0", "peak_tokens<=90000"], maximise="correct")
    assert str(found) == "most correct where violations=0 and peak_tokens<=90000"
    assert str(goal(minimise="total_cost_usd")) == "least total_cost_usd"


def test_nothing_asked_is_no_goal() -> None:
    assert goal() is None


@pytest.mark.parametrize(
    ("require", "minimise", "maximise", "says"),
    [
        (["violations"], "calls", None, "'violations' is not METRIC=VALUE"),
        (["violations<1"], "calls", None, "'violations<1' is not METRIC=VALUE"),
        (["violations=few"], "calls", None, "'few', which is no number"),
        (["violations=nan"], "calls", None, "'nan', which is no number"),
        (["confabulation_rate<=5%"], "calls", None, "no number; a share of 5 % is written 0.05"),
        (["violation=0"], "calls", None, "did you mean 'violations'"),
        ([], "cals", None, "did you mean 'calls'"),
        (["violations=0"], None, None, "needs --minimise"),
        ([], "calls", "turns", "not both"),
    ],
)
def test_what_cannot_be_asked(
    require: list[str], minimise: str | None, maximise: str | None, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        goal(require, minimise, maximise)
