"""Asking for a summary: what is sent and paid for, what fails, what stands there afterwards."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from sim.actions import Evict, Rewrite
from sim.engine import Run, run
from sim.errors import GrowthWithoutCopy
from sim.prices import CacheRules, Price
from sim.script import Query, Script
from sim.segments import Fact, Kind
from sim.summariser import Summariser
from tests.sim.build import (
    MARKED,
    SPEED,
    UNCACHED,
    acting,
    come,
    outcomes,
    play,
    script,
    told,
    window,
)

WRITER = Price("writer", 1.0, 1.0, 1.0, 4.0, CacheRules("none"), replace(SPEED, decode_rate=100.0))
"""One dollar a million tokens of input, four of output, twice as fast with it."""

MICRO = 1e-6


def summary(*names: str, tokens: int = 5, tagged: bool = True, **more: Any) -> Rewrite:
    summariser = Summariser(**more.pop("by", {}))
    return Rewrite(names, tokens, tagged, "x", summariser=summariser, **more)


def pairless(**settings: Any) -> Script:
    """Two notes of 30 and 20 tokens with a fact each, and a second turn that asks for both."""
    flat = {"surrogate.keep": 1.0, **{k.replace("_", ".", 1): v for k, v in settings.items()}}
    return script(
        come(1, "a", 30, facts=("ka",)),
        come(1, "b", 20, facts=("kb",)),
        Query(2, "qa", "ka", 0.5, ("a",)),
        Query(2, "qb", "kb", 0.5, ("b",)),
        settings=flat,
    )


def paid(result: Run, kind: str = "maintain") -> list[tuple[Any, ...]]:
    names = ("input", "read", "output", "usd")
    return [tuple(r[name] for name in names) for r in told(result, kind)]


# -- what it costs -------------------------------------------------------------------------


def test_a_request_of_its_own_is_the_sources_and_the_prompt() -> None:
    """57 tokens at 10 dollars and 5 at 50: 820 millionths."""
    result = play(pairless(), acting({1: [summary("a", "b", by={"prompt": 7})]}))
    assert paid(result) == [(57, 0, 5, pytest.approx(820 * MICRO))]
    assert told(result, "maintain")[0]["causes"] == (("rewrite", 57, pytest.approx(820 * MICRO)),)
    (said,) = told(result, "summary")
    assert (said["input"], said["made_up"], said["unseen"]) == (57, (), ())
    assert told(result, "rewrite")[0]["asked"] is True
    assert outcomes(result) == [("correct", "kept")] * 2
    assert result.metrics["maintenance_cost_usd"] == pytest.approx(820 * MICRO)
    # of each of the two calls 20, of the summary 5
    assert result.metrics["output_tokens"] == 45


def growing() -> Script:
    """A note of 100 that the first call writes to the cache, and one of 50 after it."""
    return script(come(1, "a", 100), come(2, "b", 50), turns=2)


def test_a_cached_request_reads_the_prefix_and_adds_its_prompt() -> None:
    """100 read at 0.20, 50 written at 2.50, 10 plain at 2, 20 of output at 10."""
    action = summary("a", "b", tokens=20, whole=True, by={"cached": True, "prompt": 10})
    result = play(growing(), acting({2: [action]}), MARKED)
    assert paid(result) == [(160, 100, 20, pytest.approx((20 + 125 + 20 + 200) * MICRO))]
    causes = {cause: (n, usd) for cause, n, usd in told(result, "maintain")[0]["causes"]}
    assert causes == {
        "append": (50, pytest.approx(125 * MICRO)),
        "compaction": (110, pytest.approx(240 * MICRO)),
    }


def test_a_second_request_verifies_the_first() -> None:
    """It reads the 150 that the first one wrote: 30 + 20 + 200 on top of the 365."""
    by = {"cached": True, "prompt": 10, "calls": 2}
    action = summary("a", "b", tokens=20, whole=True, by=by)
    result = play(growing(), acting({2: [action]}), MARKED)
    assert paid(result) == [(320, 250, 40, pytest.approx((365 + 250) * MICRO))]
    assert window(result) == ("s1",)


def test_another_model_reads_nothing_from_the_cache_and_has_its_own_price() -> None:
    """The window of 150 and 10 of prompt at 1 dollar, 20 at 4: 240 millionths."""
    action = summary("a", "b", tokens=20, whole=True, by={"cached": True, "prompt": 10})
    policy = acting({2: [action]})
    result = run(growing(), policy, MARKED, strict=True, writer=WRITER)
    assert paid(result) == [(160, 0, 20, pytest.approx(240 * MICRO))]
    # what the agent's own next request finds is what its first one left: nothing behind the cut
    assert [r["read"] for r in told(result, "call")] == [0, 0]


def test_a_cliff_is_at_the_whole_request() -> None:
    """Over 155 tokens everything costs twice as much; 150 alone are not over it, 160 are."""
    steep = replace(MARKED, cliff_tokens=155, cliff_input=2.0, cliff_output=3.0)
    action = summary("a", "b", tokens=20, whole=True, by={"cached": True, "prompt": 10})
    result = play(growing(), acting({2: [action]}), steep)
    assert paid(result) == [(160, 100, 20, pytest.approx((2 * 165 + 3 * 200) * MICRO))]
    causes = told(result, "maintain")[0]["causes"]
    assert sum(usd for *_, usd in causes) == pytest.approx(930 * MICRO)


def test_a_rewrite_without_a_summariser_is_as_it_was() -> None:
    result = play(pairless(), acting({1: [Rewrite(("a", "b"), 5, True, "x")]}))
    assert paid(result) == [(50, 0, 5, pytest.approx((500 + 250) * MICRO))]
    assert told(result, "summary") == []


def test_tries_follow_one_another() -> None:
    """57 tokens: 0.557 s of prefill and 0.1 of decoding, three times, before 50 of the call."""
    it = pairless(clock_turn_seconds=0.0, summariser_fail=1.0)
    by = {"prompt": 7, "tries": 3}
    result = play(it, acting({1: [summary("a", "b", by=by)]}))
    assert told(result, "call")[0]["time"] == pytest.approx(3 * 0.657)


# -- what fails ----------------------------------------------------------------------------


def test_failing_tries_are_paid_and_leave_everything_as_it_was() -> None:
    it = pairless(summariser_fail=1.0)
    result = play(it, acting({1: [summary("a", "b", by={"prompt": 7, "tries": 3})]}))
    assert paid(result, "wasted") == [(57, 0, 5, pytest.approx(820 * MICRO))] * 3
    assert {(r["why"], r["sources"]) for r in told(result, "wasted")} == {("failed", ("a", "b"))}
    assert (window(result), result.metrics["rewrites"]) == (("a", "b"), 0)
    assert result.metrics["maintenance_cost_usd"] == pytest.approx(3 * 820 * MICRO)
    assert (result.metrics["output_tokens"], result.metrics["policy_bugs"]) == (55, 0)
    assert outcomes(result) == [("correct", "full")] * 2


@pytest.mark.parametrize(("tries", "fails"), [(1, 0.3), (2, 0.09)])
def test_requests_fail_as_often_as_the_scenario_says(tries: int, fails: float) -> None:
    """Each try is a draw of its own; of 400 seeds within four standard errors."""
    failed = sum(
        not play(
            replace(pairless(summariser_fail=0.3), seed=seed),
            acting({1: [summary("a", "b", by={"tries": tries})]}),
        ).metrics["rewrites"]
        for seed in range(400)
    )
    assert abs(failed - 400 * fails) < 4 * math.sqrt(400 * fails * (1 - fails))


@pytest.mark.parametrize(("size", "applied"), [(61, False), (62, True)])
def test_more_than_its_window_is_refused_and_not_paid_for(size: int, applied: bool) -> None:
    """50 of sources, 7 of prompt and 5 of output are 62."""
    action = summary("a", "b", by={"prompt": 7, "window": size})
    result = play(pairless(), acting({1: [action]}))
    assert (window(result) == ("s1",)) is applied
    assert paid(result, "wasted") == ([] if applied else [(0, 0, 0, 0.0)])
    assert (result.metrics["maintenance_cost_usd"] > 0) is applied


def test_a_summariser_that_drops_is_given_what_fits_of_the_newest() -> None:
    """Of a window of 61, 49 are for the sources: `a` is left out, 20 and 7 are sent."""
    action = summary("a", "b", by={"prompt": 7, "window": 61, "drops": True})
    result = play(pairless(), acting({1: [action]}))
    assert [each[0] for each in paid(result)] == [27]
    assert told(result, "summary")[0]["unseen"] == ("ka",)
    # its surrogate is tagged, and there is no copy
    assert outcomes(result) == [("abstained", "tagged"), ("correct", "kept")]


@pytest.mark.parametrize(("size", "sent", "read"), [(180, 160, 100), (179, 60, 0)])
def test_a_cached_request_over_its_window_becomes_one_of_its_own(
    size: int, sent: int, read: int
) -> None:
    """150, 10 and 20 are 180; a token less, and of 149 for the sources `b` alone fits with 50."""
    by = {"cached": True, "prompt": 10, "window": size, "drops": True}
    action = summary("a", "b", tokens=20, whole=True, by=by)
    result = play(growing(), acting({2: [action]}), MARKED)
    assert [each[:2] for each in paid(result)] == [(sent, read)]


def test_a_cached_request_over_its_window_is_refused_where_nothing_is_dropped() -> None:
    by = {"cached": True, "prompt": 10, "window": 179}
    action = summary("a", "b", tokens=20, whole=True, by=by)
    result = play(growing(), acting({2: [action]}), MARKED)
    assert [r["why"] for r in told(result, "wasted")] == ["overflow"]
    assert window(result) == ("a", "b")


# -- what stands there ---------------------------------------------------------------------


def test_where_nothing_can_be_given_nobody_is_asked() -> None:
    """No word of the user among the sources: a fixed text takes their place, free of charge."""
    result = play(pairless(), acting({1: [summary("a", "b", by={"from_user": True})]}))
    assert (window(result), result.metrics["maintenance_cost_usd"]) == (("s1",), 0)
    assert told(result, "summary")[0]["input"] == 0
    assert told(result, "summary")[0]["unseen"] == ("ka", "kb")
    assert told(result, "rewrite")[0]["asked"] is False
    assert outcomes(result) == [("abstained", "tagged")] * 2


def test_what_it_is_given_begins_with_the_user() -> None:
    it = script(
        come(1, "a", 30, facts=("ka",)),
        come(1, "u", 8, kind=Kind.USER, facts=("ku",)),
        come(1, "b", 20, facts=("kb",)),
        settings={"surrogate.keep": 1.0},
    )
    result = play(it, acting({1: [summary("a", "u", "b", by={"from_user": True})]}))
    assert [each[0] for each in paid(result)] == [28]
    assert told(result, "rewrite")[0]["kept"] == ("kb", "ku")


def test_a_clip_cuts_the_summary() -> None:
    result = play(pairless(), acting({1: [summary("a", "b", tokens=40, by={"clip": 4})]}))
    assert (told(result, "rewrite")[0]["after"], paid(result)[0][2]) == (4, 4)
    assert result.metrics["resident_tokens"] == 4


def test_what_a_summary_invents_is_repeated_by_the_model() -> None:
    it = pairless(surrogate_keep=0.0, summariser_fabricate=1.0)
    result = play(it, acting({1: [summary("a", "b")]}))
    assert told(result, "summary")[0]["made_up"] == ("ka", "kb")
    assert outcomes(result) == [("confabulated", "invented")] * 2
    assert told(result, "answer")[0]["value"] == "ka?"  # the prior
    assert result.metrics["confabulated"] == 2


def test_an_invention_outlives_the_next_summary() -> None:
    """The second one keeps what the first one stated, right or wrong."""
    it = script(
        come(1, "a", 30, facts=("ka",)),
        come(2, "b", 20),
        Query(3, "qa", "ka", 0.5, ("a",)),
        settings={"summariser.fabricate": 1.0},
    )
    result = play(it, acting({1: [summary("a")], 2: [summary("s1", "b")]}))
    assert [r["made_up"] for r in told(result, "summary")] == [("ka",), ("ka",)]
    assert outcomes(result) == [("confabulated", "invented")]


@pytest.mark.parametrize(("saves", "outcome"), [(True, "correct"), (False, "abstained")])
def test_what_is_saved_can_be_fetched_again(saves: bool, outcome: str) -> None:
    it = pairless(surrogate_keep=0.0)
    result = play(it, acting({1: [summary("a", "b", saves=saves)]}))
    assert [each for each, _ in outcomes(result)] == [outcome] * 2
    assert result.metrics["fetches"] == 2 * saves
    assert [r["saved"] for r in told(result, "summary")] == [saves]


def test_a_surrogate_of_what_was_saved_is_evicted_with_a_copy() -> None:
    it = script(come(1, "a", 30), come(1, "b", 20), turns=3)
    actions = {1: [summary("a")], 2: [summary("s1", "b", saves=True)], 3: [Evict("s2", "y")]}
    result = play(it, acting(actions))
    assert result.metrics["evicted_copy_tokens"] == 5
    assert result.metrics["evicted_dispensable_tokens"] == 0


def test_what_is_saved_may_grow() -> None:
    """There is a copy from then on, so that nothing is lost by it."""
    grows = Rewrite(("a",), 30, True, "x", saves=True)
    assert play(pairless(), acting({1: [grows]})).metrics["breaches"] == 0
    with pytest.raises(GrowthWithoutCopy):
        play(pairless(), acting({1: [replace(grows, saves=False)]}))


@pytest.mark.parametrize(("last", "order"), [(False, ("s1", "x", "y")), (True, ("x", "s1", "y"))])
def test_a_surrogate_stands_where_the_first_or_the_last_of_its_sources_stood(
    last: bool, order: tuple[str, ...]
) -> None:
    it = script(*(come(1, name, 20) for name in ("a", "x", "b", "y")))
    result = play(it, acting({1: [summary("a", "b", last=last)]}))
    assert window(result) == order
    assert [r["last"] for r in told(result, "summary")] == [last]


def test_a_stub_asks_nobody_whatever_summariser_it_names() -> None:
    action = summary("a", "b", stub=True, preview=(0, 0))
    result = play(pairless(summariser_fail=1.0), acting({1: [action]}))
    assert (window(result), result.metrics["maintenance_cost_usd"]) == (("s1",), 0)


def test_a_fact_is_dropped_with_the_end_that_is_not_given() -> None:
    """Of each source the first 10 tokens are given."""
    facts = (Fact("front", at=9), Fact("back", at=10))
    it = script(come(1, "a", 30, facts=facts), settings={"surrogate.keep": 1.0})
    result = play(it, acting({1: [summary("a", by={"item_cap": 10})]}))
    assert told(result, "rewrite")[0]["kept"] == ("front",)
    assert told(result, "summary")[0]["unseen"] == ("back",)
    assert paid(result) == [(10, 0, 5, pytest.approx((100 + 250) * MICRO))]


def test_unpriced_and_priced_alike_are_checked_by_the_second_reckoning() -> None:
    """Every run above was; this one has everything at once, at two prices."""
    by = {"cached": True, "prompt": 3, "calls": 2, "tries": 4, "window": 120, "drops": True}
    it = pairless(summariser_fail=0.5, summariser_fabricate=0.5, surrogate_keep=0.5)
    action = summary("a", "b", saves=True, last=True, by=by)
    for writer in (None, WRITER):
        result = run(it, acting({1: [action]}), UNCACHED, writer=writer)
        asked = len(told(result, "maintain")) + len(told(result, "wasted"))
        assert 1 <= asked <= 4
