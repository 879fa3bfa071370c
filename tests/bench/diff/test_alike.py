from __future__ import annotations

from typing import Any

import pytest

from bench.diff import diff
from bench.diff.alike import check_alike
from sim.errors import InputError
from tests.bench.diff.made import KEY, facts, results
from tests.bench.rows import row

ROWS = [row("a", seed, scenario="s") for seed in range(3)]


def refused(one: dict[str, Any], other: dict[str, Any]) -> str:
    with pytest.raises(InputError) as error:
        check_alike(results(ROWS, s=facts(**one)), results(ROWS, s=facts(**other)))
    return str(error.value)


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ({}, {"settings": {"budget": 90}}, "the settings of s differ: budget 100 and 90"),
        ({}, {"settings": {}}, "the settings of s differ: budget 100 and None"),
        (
            {"settings": dict.fromkeys("abcde", 1)},
            {"settings": dict.fromkeys("abcde", 2)},
            "the settings of s differ: a 1 and 2, b 1 and 2, c 1 and 2, and 2 more",
        ),
        ({}, {"kind": "story"}, "s is a family in the one and a story in the other"),
        (
            {},
            {"prices": [{"name": "list", "input": 3.0}]},
            "the prices of list differ: input 2.0 and 3.0",
        ),
        (
            {"stimuli": {"0": "x", "1": "y"}},
            {"stimuli": {"0": "x", "1": "z"}},
            "s is not the same workload in the two: what seed 1 meets differs",
        ),
    ],
)
def test_what_differs_is_named(one: dict[str, Any], other: dict[str, Any], says: str) -> None:
    assert refused(one, other) == says


def test_what_may_differ() -> None:
    one = facts(
        settings={"price": "list", "prices": "a.toml", "tool_logs": "x"}, stimuli={"0": "x"}
    )
    other = facts(settings={"price": "other"}, prices=[{"name": "other"}], stimuli={"1": "y"})
    check_alike(results(ROWS, s=one), results(ROWS, s=other))
    check_alike(results(ROWS, s=facts()), results([row("a", scenario="t")], t=facts(kind="story")))


def test_settings_that_were_varied_are_the_keys_own() -> None:
    made = [{"budget": 100, **each} for each in ROWS]
    key = ("budget", *KEY)
    check_alike(results(made, key), results(made, key, s=facts(settings={"budget": 7})))
    with pytest.raises(InputError, match="do not vary the same settings: budget and none"):
        check_alike(results(made, key), results(ROWS))


def test_what_two_sweeps_met_is_compared_where_their_settings_are_the_same() -> None:
    made = [{"budget": 100, **each} for each in ROWS]
    one, other = (results(made, ("budget", *KEY), s=facts(stimuli={"0": met})) for met in "xy")
    one.manifest["vary"] = other.manifest["vary"] = [{"key": "budget", "values": ["100"]}]
    with pytest.raises(InputError, match="s is not the same workload in the two: what seed 0"):
        check_alike(one, other)
    other.manifest["vary"] = [{"key": "budget", "values": ["100", "200"]}]
    check_alike(one, other)


def test_strict_fails_runs_and_must_be_the_same() -> None:
    strict = results(ROWS)
    strict.manifest["strict"] = True
    with pytest.raises(InputError, match="only one of the two was run with --strict"):
        check_alike(results(ROWS), strict)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (row("a", scenario="t"), "scenario s in the one, t in the other"),
        (row("b", scenario="s"), "policy a in the one, b in the other"),
        (row("a", 9, scenario="s"), "seed 0, 1, 2 in the one, 9 in the other"),
        (row("a", scenario="s", price="p"), "price list in the one, p in the other"),
    ],
)
def test_nothing_in_common(other: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as error:
        diff(results(ROWS), results([other]))
    assert str(error.value) == f"the two have no run in common: {says}"
