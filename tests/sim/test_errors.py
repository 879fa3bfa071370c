"""What evictbench raises on purpose: messages that name value, place and nearest name."""

from __future__ import annotations

import inspect
import pickle

import pytest

from sim import errors
from sim.errors import InputError, PolicyError, nearest, unknown

CLASSES = [
    c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__
]
RULES = {
    "UntaggedRewrite": "untagged rewrite",
    "GrowthWithoutCopy": "growth without a copy",
    "UnexplainedTruncation": "unexplained truncation",
    "UnexplainedAbsence": "unexplained absence",
    "CompressThenSpend": "compress-then-spend",
    "PinRemoved": "pin removed",
    "InadmissibleAction": "inadmissible action",
}


def test_the_types_of_the_design_have_their_names() -> None:
    found = {c.__name__: c.rule for c in CLASSES if c is not PolicyError and hasattr(c, "rule")}
    assert found == RULES


def test_one_tree_which_its_own_page_draws_whole() -> None:
    for cls in CLASSES:
        assert issubclass(cls, errors.EvictbenchError)
        assert cls.__name__ in (errors.__doc__ or "")
        assert cls.__name__ in errors.__all__


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ({}, "it is wrong"),
        ({"file": "a.toml"}, "a.toml: it is wrong"),
        ({"file": "a.toml", "line": 7}, "a.toml:7: it is wrong"),
        ({"line": 7}, "it is wrong"),
    ],
)
def test_an_input_error_stands_behind_its_place(place: dict[str, object], text: str) -> None:
    assert str(InputError("it is wrong", **place)) == text  # type: ignore[arg-type]


def test_an_input_error_comes_whole_out_of_another_process() -> None:
    error = pickle.loads(pickle.dumps(InputError("it is wrong", file="a.toml", line=7)))
    assert (error.message, error.file, error.line) == ("it is wrong", "a.toml", 7)


def test_the_nearest_name() -> None:
    assert nearest("tierd", ["no-op", "tiered"]) == "tiered"
    assert nearest("xyz", ["no-op", "tiered"]) is None
    assert nearest("xyz", []) is None


def test_what_is_unknown_is_said_with_a_way_out() -> None:
    assert unknown("policy", "tierd", ("no-op", "tiered")) == (
        "unknown policy 'tierd'; did you mean 'tiered'?"
    )
    assert unknown("policy", "zzz", ("tiered", "no-op")) == (
        "unknown policy 'zzz'; known: no-op, tiered"
    )
