from __future__ import annotations

from typing import Any

import pytest

from bench.summary import COLUMNS, default_baseline, summarise
from sim.metrics import METRICS, Metric
from tests.bench.rows import row, rows

STALE = Metric("stale", "count", "less", "answers", "")
RATE = Metric("confabulation_rate", "share", "less", "answers", "", None)
COST = Metric("total_cost_usd", "USD", "less", "cost", "", 0, True)
TURNS = Metric("turns", "count", None, "counts", "")


def line(summary: list[dict[str, Any]], policy: str, metric: str) -> dict[str, Any]:
    (found,) = [s for s in summary if (s["policy"], s["metric"]) == (policy, metric)]
    return found


def test_a_line_has_every_column_in_order() -> None:
    summary = summarise(rows("a", "stale", [1, 2]), [STALE])
    assert [tuple(s) for s in summary] == [COLUMNS]


def test_lines_stand_by_scenario_policy_metric() -> None:
    found = summarise(
        [row(p, scenario=s) for s in ("one", "two") for p in ("b", "a")], [TURNS, STALE]
    )
    assert [(s["scenario"], s["policy"], s["metric"]) for s in found] == [
        (scenario, policy, metric)
        for scenario in ("one", "two")
        for policy in ("b", "a")
        for metric in ("turns", "stale")
    ]


def test_every_metric_is_summarised() -> None:
    found = summarise(rows("a", "stale", [1, 2]), METRICS)
    assert [s["metric"] for s in found] == [m.name for m in METRICS]


def test_mean_median_and_paired_difference_by_hand() -> None:
    """b is above a by 3 on every seed, whatever the seed is worth."""
    a, b = [1, 5, 9, 2], [4, 8, 12, 5]
    found = summarise(rows("a", "stale", a) + rows("b", "stale", b), [STALE], "a")
    mine = line(found, "b", "stale")
    assert (mine["mean"], mine["median"], mine["n"]) == (7.25, 6.5, 4)
    assert mine["ci_low"] < 7.25 < mine["ci_high"]
    assert (mine["diff_mean"], mine["diff_ci_low"], mine["diff_ci_high"]) == (3.0, 3.0, 3.0)
    assert (mine["diff_n"], mine["baseline"], mine["rank"]) == (4, "a", 2)
    own = line(found, "a", "stale")
    assert (own["diff_mean"], own["diff_ci_low"], own["diff_ci_high"]) == (0.0, 0.0, 0.0)
    assert own["rank"] == 1


def test_one_seed_claims_nothing() -> None:
    found = summarise([row("a", stale=1), row("b", stale=4)], [STALE], "a")
    mine = line(found, "b", "stale")
    assert (mine["mean"], mine["n"], mine["diff_n"]) == (4.0, 1, 1)
    claims = ("ci_low", "ci_high", "diff_mean", "diff_ci_low", "diff_ci_high", "rank")
    assert {mine[claim] for claim in claims} == {None}


def test_nulls_are_left_out_and_n_says_so() -> None:
    found = summarise(
        rows("a", "confabulation_rate", [0.5, None, 0.25, 0.0])
        + rows("b", "confabulation_rate", [None, 0.5, 0.5, 0.5]),
        [RATE],
        "a",
    )
    assert (line(found, "a", RATE.name)["mean"], line(found, "a", RATE.name)["n"]) == (0.25, 3)
    mine = line(found, "b", RATE.name)
    assert (mine["n"], mine["diff_mean"], mine["diff_n"]) == (3, 0.375, 2)


def test_costs_are_compared_where_both_completed() -> None:
    """b dies early and cheaply on seeds 0 and 1; where both completed it costs 1 more."""
    a = rows("a", "total_cost_usd", [10.0, 10.0, 10.0, 12.0])
    b = rows("b", "total_cost_usd", [1.0, 1.0], status="failed")
    b += [row("b", 2, total_cost_usd=11.0), row("b", 3, total_cost_usd=13.0)]
    found = summarise(a + b, [COST], "a")
    mine = line(found, "b", COST.name)
    assert (mine["mean"], mine["n"]) == (12.0, 2)
    assert (mine["diff_mean"], mine["diff_n"]) == (1.0, 2)
    assert (mine["completed"], mine["attempted"]) == (2, 4)
    assert (line(found, "a", COST.name)["rank"], mine["rank"]) == (1, 2)


def test_other_metrics_count_failed_runs() -> None:
    found = summarise(rows("a", "stale", [2, 4], status="failed"), [STALE, COST])
    assert line(found, "a", "stale")["mean"] == 3.0
    assert line(found, "a", COST.name)["mean"] is None
    assert line(found, "a", COST.name)["n"] == 0


def test_a_policy_that_is_not_applicable_attempts_nothing() -> None:
    found = summarise(
        rows("a", "stale", [1, 1]) + [row("b", seed, status="not-applicable") for seed in range(2)],
        [STALE],
    )
    mine = line(found, "b", "stale")
    assert (mine["n"], mine["mean"], mine["rank"], mine["attempted"]) == (0, None, None, 0)


def test_a_metric_without_a_direction_has_no_ranks() -> None:
    found = summarise(rows("a", "turns", [1, 1]) + rows("b", "turns", [2, 2]), [TURNS])
    assert {s["rank"] for s in found} == {None}


def test_seeds_are_paired_by_number_not_by_order() -> None:
    a = [row("a", 0, stale=0), row("a", 1, stale=10), row("a", 2, stale=20)]
    b = [row("b", 2, stale=21), row("b", 0, stale=1), row("b", 1, stale=11)]
    mine = line(summarise(a + b, [STALE], "a"), "b", "stale")
    assert (mine["diff_ci_low"], mine["diff_mean"], mine["diff_ci_high"]) == (1.0, 1.0, 1.0)


def test_rows_that_are_missing_are_no_values() -> None:
    """As an interrupt leaves them."""
    a, b = rows("a", "stale", [1, 2, 3]), rows("b", "stale", [2, 3])
    mine = line(summarise(a + b, [STALE], "a"), "b", "stale")
    assert (mine["n"], mine["diff_n"], mine["attempted"]) == (2, 2, 2)


@pytest.mark.parametrize(
    ("policies", "expected"),
    [(["tiered", "no-op"], "no-op"), (["tiered", "compaction"], "tiered")],
)
def test_default_baseline(policies: list[str], expected: str) -> None:
    assert default_baseline(policies) == expected
    made = [row(policy, seed) for policy in policies for seed in range(2)]
    assert {s["baseline"] for s in summarise(made, [STALE])} == {expected}


def test_p_values_are_of_the_pairs_and_q_values_of_all_tests_of_the_metric() -> None:
    """Of five pairs all to one side p is 2/32; of the other scenario's four 2/16: q is that of the
    larger, 2/16, and 2/32 · 2/1 = 2/16 too. Costs, a family of their own, are all alike."""
    made = rows("a", "stale", [1, 2, 3, 4, 5]) + rows("b", "stale", [2, 4, 6, 8, 10])
    made += rows("a", "stale", [1, 1, 1, 1], scenario="other")
    made += rows("b", "stale", [2, 2, 2, 2], scenario="other")
    found = summarise(made, [STALE, COST], "a")
    tested = {(s["scenario"], s["metric"]): s for s in found if s["policy"] == "b"}
    assert tested["made-up", "stale"]["p_value"] == 2 / 32
    assert tested["other", "stale"]["p_value"] == 2 / 16
    assert {tested[name, "stale"]["q_value"] for name in ("made-up", "other")} == {2 / 16}
    assert {s["q_value"] for s in tested.values() if s["metric"] == COST.name} == {1.0}
    assert {(s["p_value"], s["q_value"]) for s in found if s["policy"] == "a"} == {(None, None)}


def test_nothing_is_tested_on_one_seed_or_without_the_baseline() -> None:
    one = summarise([row("a", stale=1), row("b", stale=4)], [STALE], "a")
    apart = summarise(rows("b", "stale", [4, 5]), [STALE], "a")
    assert {(s["p_value"], s["q_value"]) for s in one + apart} == {(None, None)}


def test_a_share_that_was_always_zero_has_a_limit() -> None:
    """1 − 0.05^(1/30) = 9.5 %; a share that was not always zero, a count or one run has none."""
    found = summarise(
        rows("a", RATE.name, [0.0] * 30) + rows("b", RATE.name, [0.0] * 29 + [0.1]), [RATE, STALE]
    )
    assert line(found, "a", RATE.name)["zero_limit"] == pytest.approx(0.0950, abs=5e-5)
    assert line(found, "b", RATE.name)["zero_limit"] is None
    assert {line(found, policy, "stale")["zero_limit"] for policy in "ab"} == {None}
    (alone,) = summarise([row("a", confabulation_rate=0.0)], [RATE])
    assert alone["zero_limit"] is None


def test_no_rows_no_summary() -> None:
    assert summarise([], METRICS) == []
