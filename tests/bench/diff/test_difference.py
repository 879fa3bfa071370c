from __future__ import annotations

from typing import Any

import pytest

from bench.diff import DEFAULT, Difference, chosen, diff
from sim.errors import InputError
from sim.metrics import METRICS
from tests.bench.diff.made import KEY, facts, results
from tests.bench.rows import row, rows

BEFORE = [10, 12, 9, 14, 11, 10, 13, 8, 12, 11]


def found(a: list[Any], b: list[Any], metric: str = "stale", **more: Any) -> Difference:
    return diff(results(rows("p", metric, a)), results(rows("p", metric, b)), [metric], **more)


def line(difference: Difference, metric: str = "stale") -> dict[str, Any]:
    (one,) = (each for each in difference.lines if each["metric"] == metric)
    return one


def test_the_same_is_no_difference() -> None:
    same = found(BEFORE, BEFORE)
    assert not same.regression and same.failed == []
    assert [each["verdict"] for each in same.lines] == ["same", "same"]
    assert (same.pairs, same.most) == (10, 10)
    assert line(same)["chance"] is None


def test_a_line_has_the_figures_of_the_pairs() -> None:
    after = [
        value + apart for value, apart in zip(BEFORE, [2, 3, 0, 2, 3, 2, 2, 3, 2, 1], strict=True)
    ]
    one = line(found(BEFORE, after))
    assert {name: one[name] for name in ("scenario", "price", "policy", "metric", "unit")} == {
        "scenario": "made-up",
        "price": "list",
        "policy": "p",
        "metric": "stale",
        "unit": "count",
    }
    assert (one["a_mean"], one["b_mean"], one["diff_mean"]) == (11.0, 13.0, 2.0)
    assert one["share"] == pytest.approx(2 / 11)
    assert (one["n"], one["changed"]) == (10, 9)
    assert 0 < one["ci_low"] < 2 < one["ci_high"] < 3
    assert one["chance"] == pytest.approx(2 / 2**9, abs=0.003)
    assert one["verdict"] == "worse"


@pytest.mark.parametrize(
    ("metric", "by", "verdict"),
    [
        ("stale", 1, "worse"),
        ("stale", -1, "better"),
        ("correct", 1, "better"),
        ("correct", -1, "worse"),
    ],
)
def test_the_direction_is_that_of_the_metric(metric: str, by: int, verdict: str) -> None:
    difference = found(BEFORE, [value + by for value in BEFORE], metric)
    assert line(difference, metric)["verdict"] == verdict
    assert difference.regression is (verdict == "worse")


def test_five_pairs_are_too_few_and_six_are_enough() -> None:
    assert line(found(BEFORE[:5], [v + 5 for v in BEFORE[:5]]))["verdict"] == "chance"
    assert line(found(BEFORE[:6], [v + 5 for v in BEFORE[:6]]))["verdict"] == "worse"


def test_one_run_shows_nothing_and_is_told_apart() -> None:
    assert line(found([1], [5]))["verdict"] == "one run"
    assert not found([1], [5]).regression


def test_what_differs_in_the_tenth_digit_is_the_same() -> None:
    after = [value * (1 + 4e-10) for value in BEFORE]
    assert line(found(BEFORE, after, "total_cost_usd"), "total_cost_usd")["verdict"] == "same"
    after = [value * (1 + 1e-7) for value in BEFORE]
    assert line(found(BEFORE, after, "total_cost_usd"), "total_cost_usd")["verdict"] == "worse"


def test_a_change_below_the_tolerance_is_no_regression() -> None:
    after = [value + 0.55 for value in BEFORE]  # 5 % of the mean, 11
    verdicts = [
        line(found(BEFORE, after, "total_cost_usd", tolerance=t), "total_cost_usd")["verdict"]
        for t in (0.0, 4.9, 5.1)
    ]
    assert verdicts == ["worse", "worse", "tolerated"]
    assert not found(BEFORE, after, "total_cost_usd", tolerance=5.1).regression
    assert found([0] * 9, [1] * 9, tolerance=1_000.0).regression
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="must be a percentage of at least 0"):
            found(BEFORE, BEFORE, tolerance=wrong)


def test_a_run_that_does_not_complete_any_more_is_a_regression_by_itself() -> None:
    a = rows("p", "stale", BEFORE)
    b = [*a[:4], row("p", 4, status="failed", reason="pins", stale=11), *a[5:]]
    difference = diff(results(a), results(b))
    assert difference.regression
    assert [each["metric"] for each in difference.of("worse")] == ["completed"]
    done = line(difference, "completed")
    assert (done["a_mean"], done["b_mean"], done["changed"]) == (1.0, 0.9, 1)
    assert difference.failed == [
        {
            "scenario": "made-up",
            "price": "list",
            "policy": "p",
            "unit": "seed 4",
            "status": "failed",
            "reason": "pins",
        }
    ]
    back = diff(results(b), results(a))
    assert not back.regression
    assert [each["metric"] for each in back.of("better")] == ["completed"]


def test_a_failure_is_not_made_good_by_a_run_that_now_completes() -> None:
    failed = row("p", 0, status="failed", reason="x"), row("p", 1, status="failed", reason="x")
    a, b = [failed[0], row("p", 1)], [row("p", 0), failed[1]]
    assert diff(results(a), results(b)).regression


def test_costs_are_compared_on_the_runs_that_both_completed() -> None:
    a = rows("p", "total_cost_usd", [5.0] * 8)
    b = rows("p", "total_cost_usd", [6.0] * 8)
    b[3] |= {"status": "failed", "total_cost_usd": 0.1, "stale": 3}
    difference = diff(results(a), results(b))
    cost = line(difference, "total_cost_usd")
    assert (cost["n"], cost["a_mean"], cost["b_mean"]) == (7, 5.0, 6.0)
    assert line(difference, "stale")["n"] == 8


def test_runs_that_came_to_nothing_have_no_pairs() -> None:
    made = [row("p", seed, status="not-applicable") for seed in range(3)]
    difference = diff(results(made), results(made))
    assert {each["verdict"] for each in difference.lines} == {"none", "same"}
    assert line(difference)["a_mean"] is None


def test_each_scenario_price_and_policy_is_a_group() -> None:
    made = [
        row(policy, seed, scenario=scenario, price=price)
        for scenario in "st"
        for price in ("x", "y")
        for policy in "pq"
        for seed in (0, 1)
    ]
    difference = diff(results(made), results(made[::-1]), ["stale"])
    keys = [tuple(each[n] for n in KEY[:-1]) for each in difference.lines]
    assert keys[::2] == keys[1::2] == [(s, x, p) for s in "st" for x in "xy" for p in "pq"]
    assert difference.pairs == 16 and difference.most == 2


def test_settings_that_were_varied_make_groups_too() -> None:
    made = [
        {"budget": budget, **each}
        for budget, worse in ((5, 0), (6, 4))
        for each in rows("p", "stale", [value + worse for value in BEFORE])
    ]
    before = [
        {"budget": budget, **each} for budget in (5, 6) for each in rows("p", "stale", BEFORE)
    ]
    key = ("budget", *KEY)
    (worse,) = diff(results(before, key), results(made, key)).of("worse")
    assert (worse["budget"], worse["metric"]) == (6, "stale")


def test_recorded_sessions_are_pairs_of_one_group() -> None:
    names = [f"session-{n}" for n in range(8)]
    told = {name: facts(kind="replay") for name in names}
    a = [row("p", 0, scenario=name, stale=2) for name in names]
    b = [row("p", 0, scenario=name, stale=3) for name in names]
    difference = diff(results(a, **told), results(b, **told), ["stale"])
    (worse,) = difference.of("worse")
    assert (worse["scenario"], worse["n"]) == ("recorded sessions", 8)


def test_the_largest_change_stands_first() -> None:
    a = [row("p", s, stale=10, abstained=10, deferred=0) for s in range(9)]
    b = [row("p", s, stale=11, abstained=15, deferred=1) for s in range(9)]
    worse = diff(results(a), results(b)).of("worse")
    assert [each["metric"] for each in worse] == ["deferred", "abstained", "stale"]


def test_what_only_one_has_is_named() -> None:
    common = [row("p", seed) for seed in range(3)]
    mine = [row("q", 0), row("q", 1), row("p", 5), row("p", 7), row("p", 0, scenario="t")]
    other = [row("p", 0, price="x")]
    difference = diff(results([*common, *mine]), results([*common, *other]))
    assert difference.only_a == [
        {"what": "policy", "name": "q", "runs": 2},
        {"what": "scenario", "name": "t", "runs": 1},
        {"what": "seed", "name": "5 to 7", "runs": 2},
    ]
    assert difference.only_b == [{"what": "price", "name": "x", "runs": 1}]


def test_the_metrics_that_are_compared() -> None:
    assert [metric.name for metric in chosen([])] == list(DEFAULT)
    assert all(metric.better for metric in chosen([]))
    assert chosen(["all", "stale"]) == [metric for metric in METRICS if metric.better]
    assert [metric.name for metric in chosen(["stale", "calls", "stale"])] == ["stale", "calls"]
    with pytest.raises(InputError, match="did you mean 'peak_tokens'"):
        chosen(["peak_token"])
    with pytest.raises(InputError, match="of turns, neither less nor more is better"):
        chosen(["turns"])
