from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bench import api
from bench.cli import main
from bench.precision import Width, looks, precise, precision, told, widths
from sim.errors import InputError
from tests.bench.rows import row, rows

SMALL = {"settings": {"turns": "12"}}


@pytest.mark.parametrize(
    ("text", "half_width", "relative", "says"),
    [
        ("total_cost_usd=0.2", 0.2, False, "total_cost_usd=0.2"),
        (" total_cost_usd = 5 % ", 0.05, True, "total_cost_usd=5%"),
        ("calls=1e1", 10.0, False, "calls=10"),
    ],
)
def test_the_forms(text: str, half_width: float, relative: bool, says: str) -> None:
    found = precision(text)
    assert (found.half_width, found.relative, str(found)) == (half_width, relative, says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("calls", "'calls' is not METRIC=HALFWIDTH"),
        ("=3", "'=3' is not METRIC=HALFWIDTH"),
        ("cals=3", "did you mean 'calls'"),
        ("calls=0", "a number above 0, not '0'"),
        ("calls=-1%", "a number above 0, not '-1%'"),
        ("calls=inf", "a number above 0, not 'inf'"),
        ("calls=few", "a number above 0, not 'few'"),
    ],
)
def test_what_cannot_be_asked(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        precision(text)


def test_the_schedule_is_fixed_and_ends_with_the_most() -> None:
    assert looks(300) == [20, 30, 45, 68, 102, 153, 230, 300]
    assert looks(102) == [20, 30, 45, 68, 102]
    assert looks(103)[-2:] == [102, 103]
    assert looks(20) == [20]
    assert looks(7) == [7]


def by_policy(made: list[dict[str, Any]], text: str, baseline: str | None = None) -> dict[str, Any]:
    return {width.policy: width for width in widths(made, precision(text), baseline)}


def test_the_width_is_that_of_the_paired_difference() -> None:
    """Both vary much and together: b is dearer by 2 or 4 in turns, so that its mean is known to
    about 1.96 · 1 ÷ √30 = 0.36."""
    base = np.random.default_rng(1).normal(100.0, 30.0, size=30)
    made = rows("a", "total_cost_usd", list(base))
    made += rows("b", "total_cost_usd", list(base + np.tile([2.0, 4.0], 15)))
    found = by_policy(made, "total_cost_usd=0.5", "a")
    assert list(found) == ["b"]
    assert found["b"].half_width == pytest.approx(0.36, abs=0.04)
    assert not found["b"].wide
    assert by_policy(made, "total_cost_usd=0.3", "a")["b"].wide


def test_a_percentage_is_of_the_baseline_s_mean() -> None:
    made = rows("a", "total_cost_usd", [40.0] * 20) + rows("b", "total_cost_usd", [9.0, 11.0] * 10)
    assert by_policy(made, "total_cost_usd=5%", "a")["b"].largest == 2.0
    assert by_policy(made, "total_cost_usd=5%", "b")["a"].largest == 0.5


def test_one_policy_has_the_width_of_its_mean() -> None:
    made = rows("a", "total_cost_usd", [9.0, 11.0] * 15)
    found = by_policy(made, "total_cost_usd=5%")["a"]
    assert found.half_width == pytest.approx(0.36, abs=0.04)
    assert found.largest == 0.5


def test_a_policy_without_an_interval_is_never_precise() -> None:
    made = rows("a", "total_cost_usd", [1.0] * 3)
    made += rows("b", "total_cost_usd", [1.0] * 3, status="failed")
    found = by_policy(made, "total_cost_usd=5", "a")["b"]
    assert (found.half_width, found.wide) == (None, True)


def test_a_share_that_was_always_zero_is_as_wide_as_its_limit() -> None:
    """1 − 0.05^(1/20) = 13.9 %."""
    made = rows("a", "confabulation_rate", [0.0] * 20) + rows("b", "confabulation_rate", [0.0] * 20)
    found = by_policy(made, "confabulation_rate=0.02", "a")["b"]
    assert found.half_width == pytest.approx(0.139, abs=5e-4)
    counts = rows("a", "violations", [0] * 20) + rows("b", "violations", [0] * 20)
    assert by_policy(counts, "violations=0.02", "a")["b"].half_width == 0.0


def test_single_runs_and_what_is_not_applicable_have_no_width() -> None:
    made = [row("a", scenario="story"), row("b", scenario="story")]
    made += rows("a", "calls", [1, 2, 3]) + rows("b", "calls", [1, 2, 3])
    made += [row("c", seed, status="not-applicable") for seed in range(3)]
    found = widths(made, precision("calls=1"), "a")
    assert [(width.scenario, width.policy) for width in found] == [("made-up", "b")]
    assert not precise([])


def test_the_widest_for_what_is_wanted_comes_first() -> None:
    made = rows("a", "calls", [10] * 20)
    for policy, spread in (("b", 1), ("c", 3), ("d", 2)):
        made += rows(policy, "calls", [10 + spread, 10 - spread] * 10)
    made += rows("e", "calls", [None] * 20)
    assert list(by_policy(made, "calls=1", "a")) == ["e", "c", "d", "b"]


def test_what_is_told() -> None:
    wide, narrow = Width("s", "x", "b", 0.5, 0.25), Width("s", "x", "b", 0.2, 0.25)
    none = Width("s", "x", "b", None, 0.25)
    wanted = precision("calls=0.25")
    found = told(wanted, [(20, [wide]), (30, [narrow])])
    assert found["reached"]
    assert found["says"] == "--until-ci calls=0.25: reached at 30 seeds (looks: 20, 30)"
    assert [(look["seeds"], look["half_width"], look["precise"]) for look in found["looks"]] == [
        (20, 0.5, False),
        (30, 0.2, True),
    ]
    assert told(wanted, [(20, [wide])])["says"] == (
        "--until-ci calls=0.25: not reached by --seeds 20 (looks: 20): b on s has a half-width of "
        "0.5, over 0.25"
    )
    assert told(wanted, [(20, [none])])["says"].endswith(
        "b on s has no interval, with fewer than two values to take it of"
    )
    assert told(wanted, [(1, [])])["says"].endswith("no policy was run on several")


def test_the_rows_are_those_of_as_many_seeds() -> None:
    policies = ["tiered", "no-op"]
    found = api.compare(["doc-analysis", "stale-file"], policies, until_ci="total_cost_usd=3")
    plain = api.compare(["doc-analysis", "stale-file"], policies, seeds=20)
    assert found.rows == plain.rows
    assert found.manifest["until_ci"]["reached"]
    for name in ("planned", "finished", "scenarios"):
        assert found.manifest[name] == plain.manifest[name]


def test_it_goes_on_to_the_last_look_where_it_is_not_reached() -> None:
    told_of: list[tuple[int, int]] = []
    found = api.compare(
        ["doc-analysis"],
        ["tiered", "disciplined"],
        seeds=31,
        until_ci="total_cost_usd=0.000001",
        report=lambda done, planned: told_of.append((done, planned)),
        **SMALL,
    )
    plain = api.compare(["doc-analysis"], ["tiered", "disciplined"], seeds=31, **SMALL)
    assert found.rows == plain.rows
    assert [look["seeds"] for look in found.manifest["until_ci"]["looks"]] == [20, 30, 31]
    assert told_of[-1] == (62, 62)
    assert told_of == sorted(told_of)


def test_a_story_alone_has_no_seeds_to_add() -> None:
    with pytest.raises(InputError, match="a story is run once"):
        api.compare(["stale-file"], ["no-op"], until_ci="calls=1")


def test_the_command_says_at_which_look_it_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "doc-analysis", "-p", "tiered", "-p", "no-op", "--set", "turns=12"]
    words += ["--until-ci", "calls=1", "--jobs", "1"]
    for more in ([], ["--format", "json"]):
        with pytest.raises(SystemExit) as left:
            main([*words, *more])
        assert left.value.code == 0
        out = capsys.readouterr().out
        if more:
            assert json.loads(out)["manifest"]["scenarios"]["doc-analysis"]["seeds"] == 20
        else:
            assert "--until-ci calls=1: reached at 20 seeds (looks: 20)" in out
