"""The metrics: each declared once, null and nought told apart, measured from records alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.actions import Evict, Rewrite
from sim.metrics import METRICS, NAMES, measure
from sim.script import Act, Query, Script
from sim.segments import Kind
from tests.sim.build import MARKED, UNCACHED, Idle, acting, come, pair, play, script, told
from tests.support.chaos import Chaos
from tests.support.diary import Diary
from tests.support.scripts import scripts

CONTRACT = {
    "answers": "queries correct stale confabulated abstained deferred acts violations "
    "confabulation_rate first_confabulation_turn repeated_attempts attempts",
    "window": "peak_tokens peak_demand_tokens mean_tokens peak_share",
    "cost": "calls input_tokens cached_tokens written_tokens plain_tokens output_tokens "
    "prefill_cost_usd maintenance_cost_usd total_cost_usd read_cost_usd append_cost_usd "
    "rehydration_cost_usd refresh_cost_usd rewrite_cost_usd compaction_cost_usd eviction_cost_usd "
    "truncation_cost_usd change_cost_usd expiry_cost_usd rule_cost_usd storage_cost_usd passes "
    "paid_back pings prefill_seconds queue_seconds total_seconds cache_hit_rate",
    "books": "admitted_tokens surrogate_tokens fabricated_tokens refreshed_in_tokens "
    "refreshed_out_tokens rehydrated_tokens resident_tokens evicted_copy_tokens "
    "evicted_dispensable_tokens rewritten_tokens truncated_tokens never_admitted_tokens",
    "counts": "missed_tokens evictions rewrites refreshes fetches pages rehydrated_slack "
    "rehydrated_swap rehydrated_refused edit_turns reversals policy_bugs breaches pins_lost "
    "turns",
}
NULL_WITHOUT = {
    "confabulation_rate": "queries",
    "first_confabulation_turn": "confabulated",
    "cache_hit_rate": "input_tokens",
    "mean_tokens": "calls",
    "peak_tokens": "calls",
    "peak_share": "calls",
}


def test_the_names_of_the_contract_each_once() -> None:
    for group, names in CONTRACT.items():
        assert [m.name for m in METRICS if m.group == group] == names.split()
    assert len(set(NAMES)) == len(NAMES) == sum(len(n.split()) for n in CONTRACT.values())


def test_each_is_declared_whole() -> None:
    for metric in METRICS:
        assert metric.better in ("less", "more", None)
        assert metric.unit and metric.meaning
        assert metric.unit == "tokens" or not metric.name.endswith("_tokens")
        assert metric.unit == "USD" or not metric.name.endswith("_usd")
        assert metric.unit == "s" or not metric.name.endswith("_seconds")
        assert metric.empty in (0, None)


def test_costs_and_peaks_are_compared_where_both_completed() -> None:
    completed = {m.name for m in METRICS if m.completed_only}
    assert completed == {m.name for m in METRICS if m.group in ("window", "cost")}


def test_when_nothing_happened() -> None:
    figures = measure(Diary().end())
    for metric in METRICS:
        if metric.name != "total_seconds":
            assert figures[metric.name] == metric.empty, metric.name
    assert (figures["status"], figures["reason"]) == ("completed", None)


@pytest.mark.parametrize("name", NULL_WITHOUT)
def test_a_rate_without_a_denominator_is_null(name: str) -> None:
    assert {m.name for m in METRICS if m.empty is None} >= {name}
    figures = measure(Diary().end())
    assert (figures[NULL_WITHOUT[name]], figures[name]) == (0, None)


def test_a_rate_of_nothing_bad_is_nought() -> None:
    it = script(come(1, "a", 10, facts=("k",)), Query(1, "q", "k", 0.5, ("a",)))
    figures = play(it).metrics
    assert (figures["confabulation_rate"], figures["first_confabulation_turn"]) == (0.0, None)
    assert figures["cache_hit_rate"] == 0.0


def test_what_never_came_to_a_call_has_no_peak() -> None:
    it = script(come(1, "a", 60, pinned=True), come(1, "b", 60), budget=100)
    figures = play(it, Idle(pins=lambda view, segment: True)).metrics
    assert figures["status"] == "failed"
    assert (figures["peak_tokens"], figures["mean_tokens"], figures["peak_share"]) == (None,) * 3
    assert (figures["peak_demand_tokens"], figures["turns"], figures["calls"]) == (120, 1, 0)
    assert (figures["prefill_cost_usd"], figures["total_cost_usd"]) == (0, 0)


def test_window_figures() -> None:
    """Requests of 40, 70 and, after a fetch, 100; the demand of turn 2 was 70 + 30 evicted."""
    it = script(
        come(1, "a", 30, facts=("k",), copy=True),
        come(1, "b", 40),
        come(2, "c", 30),
        Query(2, "q", "k", 0.9, ("a",)),
        budget=200,
    )
    figures = play(it, acting({1: [Evict("a", "x")]})).metrics
    assert figures["peak_tokens"] == 100
    assert figures["peak_share"] == 0.5
    assert figures["peak_demand_tokens"] == 70
    assert figures["mean_tokens"] == pytest.approx((40 + 70 + 100) / 3)
    assert figures["calls"] == 3


def test_cost_figures() -> None:
    """40 written; then 40 read and 60 written; 20 of output each."""
    it = script(come(1, "sys", 40, kind=Kind.SYSTEM), come(2, "a", 60))
    figures = play(it, None, MARKED).metrics
    assert [figures[f"{n}_tokens"] for n in ("input", "cached", "written", "plain", "output")] == [
        140, 40, 100, 0, 40,
    ]  # fmt: skip
    assert figures["cache_hit_rate"] == pytest.approx(40 / 140)
    assert figures["prefill_cost_usd"] == pytest.approx((100 * 2.5 + 40 * 0.2) * 1e-6)
    assert figures["total_cost_usd"] == pytest.approx((258 + 400) * 1e-6)
    assert figures["prefill_seconds"] == pytest.approx(0.5 + 0.04 + 0.5 + 0.06 + 0.004)
    assert figures["maintenance_cost_usd"] == 0


def test_queue_seconds_are_the_waits_together() -> None:
    d = Diary().turn().come("a", 50).put("queue", 1.5).call(50)
    d.turn().put("queue", 0.25).call(50)
    assert measure(d.end("a"))["queue_seconds"] == 1.75


def test_every_extra_call_is_a_call_and_no_rewriting_is() -> None:
    it = script(
        come(1, "a", 30, facts=("k",), copy=True, score=0.1),
        come(1, "b", 30),
        Query(2, "q", "k", 0.9, ("a",)),
    )
    policy = acting({1: [Evict("a", "x"), Rewrite(("b",), 5, True, "x")]})
    figures = play(it, policy).metrics
    assert (figures["calls"], figures["input_tokens"]) == (3, 5 + 5 + 35)
    assert figures["output_tokens"] == 3 * 20 + 5


def test_edit_turns_count_turns_and_not_edits() -> None:
    it = script(*(come(1, n, 10) for n in "abcde"), turns=4)
    actions = {1: [Evict("a", "x"), Evict("b", "x")], 3: [Rewrite(("c",), 1, True, "x")]}
    figures = play(it, acting(actions)).metrics
    assert (figures["edit_turns"], figures["evictions"], figures["rewrites"]) == (2, 2, 1)
    cut = play(script(*it.stimuli, budget=30)).metrics
    assert (cut["edit_turns"], cut["policy_bugs"]) == (0, 2)


def test_violations_count_acts() -> None:
    it = script(
        come(1, "a", 10), Act(1, "t", ("a", "x", "y")), Act(1, "u", ("a",)), Act(1, "v", ())
    )
    figures = play(it).metrics
    assert (figures["acts"], figures["violations"]) == (3, 1)


def test_a_pin_is_lost_where_it_is_removed_or_cut() -> None:
    diary = Diary(declares=("ignores_pins", "untagged")).turn()
    diary.truncate("system", 900, pinned=True).truncate("a", 100)
    diary.breach("pin removed", "task").breach("untagged rewrite", "b")
    assert measure(diary.end())["pins_lost"] == 2


def test_one_action_may_break_two_rules() -> None:
    it = script(*pair(1, "r", 30))
    policy = acting({1: [Rewrite(("r",), 5, False, "x")]}, declares=["untagged", "spends"])
    result = play(it, policy)
    assert [r["rule"] for r in told(result, "breach")] == [
        "untagged rewrite",
        "compress-then-spend",
    ]


@given(scripts(8), st.integers(0, 50), st.sampled_from([UNCACHED, MARKED]))
@settings(max_examples=150, deadline=None)
def test_what_holds_of_every_run(it: Script, seed: int, price: Any) -> None:
    result = play(it, Chaos(seed), price, strict=False)
    f = result.metrics
    assert set(f) == {*NAMES, "status", "reason"}
    assert f == measure(result.records)
    outcomes = ("correct", "stale", "confabulated", "abstained", "deferred")
    assert f["queries"] == sum(f[o] for o in outcomes)
    assert f["violations"] <= f["acts"]
    came = ("admitted", "surrogate", "fabricated", "refreshed_in", "rehydrated")
    left = ("evicted_copy", "evicted_dispensable", "rewritten", "refreshed_out", "truncated")
    assert (
        sum(f[f"{n}_tokens"] for n in came) - sum(f[f"{n}_tokens"] for n in left)
        == (f["resident_tokens"])
    )
    assert f["input_tokens"] == f["cached_tokens"] + f["written_tokens"] + f["plain_tokens"]
    for name, denominator in NULL_WITHOUT.items():
        assert (f[name] is None) == (not f[denominator])
    if f["calls"]:
        assert f["mean_tokens"] <= f["peak_tokens"] <= it.settings["budget"]
        assert f["peak_share"] == f["peak_tokens"] / it.settings["budget"]
    assert f["edit_turns"] <= f["turns"] <= it.settings["turns"]
    assert f["calls"] <= 2 * f["turns"]
    assert f["status"] in ("completed", "failed")
    assert bool(f["reason"]) == (f["status"] == "failed")
