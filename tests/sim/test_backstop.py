"""The backstop: hard truncation from the front, and who is to blame."""

from __future__ import annotations

from sim.actions import Evict, Restore, Rewrite
from sim.script import Query
from sim.segments import Kind
from tests.sim.build import Idle, acting, come, outcomes, pair, play, script, told, window


def test_whole_segments_go_from_the_front_until_it_fits() -> None:
    it = script(*(come(1, n, 40) for n in "abcd"), budget=100)
    result = play(it)
    assert window(result) == ("c", "d")
    assert [(r["segment"], r["tokens"]) for r in told(result, "truncate")] == [("a", 40), ("b", 40)]
    figures = result.metrics
    assert (figures["truncated_tokens"], figures["policy_bugs"], figures["evictions"]) == (80, 2, 0)
    assert (figures["peak_demand_tokens"], figures["peak_tokens"], figures["edit_turns"]) == (
        160,
        80,
        0,
    )


def test_exactly_full_is_not_over() -> None:
    result = play(script(come(1, "a", 40), come(1, "b", 60), budget=100))
    assert window(result) == ("a", "b")
    assert result.metrics["peak_share"] == 1.0


def test_it_knows_no_pins() -> None:
    it = script(come(1, "pin", 40, pinned=True), come(1, "a", 90), budget=100)
    result = play(it)
    assert window(result) == ("a",)
    assert [(r["segment"], r["pinned"]) for r in told(result, "truncate")] == [("pin", True)]
    assert result.metrics["policy_bugs"] == 1


def test_a_call_and_its_result_go_together() -> None:
    it = script(*pair(1, "r", 30), come(1, "b", 50), come(1, "c", 50), budget=100)
    result = play(it)
    assert window(result) == ("b", "c")
    assert [r["segment"] for r in told(result, "truncate")] == ["r.call", "r"]
    # parted by another segment, they still go together
    call, lint = pair(1, "r", 30)
    apart = play(script(call, come(1, "b", 50), lint, come(1, "c", 50), budget=100))
    assert window(apart) == ("b", "c")


def test_each_cut_names_segment_tokens_and_the_last_action_that_grew_the_window() -> None:
    it = script(come(1, "a", 40), come(2, "b", 50), come(2, "c", 30), budget=100)
    bug = told(play(it), "bug")[0]
    assert (bug["rule"], bug["segment"], bug["tokens"]) == ("unexplained truncation", "a", 40)
    assert "a (40 tokens)" in bug["says"]
    assert "the admission of c (30 tokens)" in bug["says"]


def test_a_rewrite_that_grew_is_to_blame() -> None:
    """The growing surrogate of the stories, in small: 200 becomes 900 and `other` is cut."""
    it = script(
        come(1, "other", 5_000, pinned=True),
        come(1, "span", 200),
        come(2, "doc", 3_000, pinned=True),
        budget=8_500,
    )
    grow = acting({2: [Rewrite(("span",), 900, True, "x")]}, declares=["grows"])
    result = play(it, grow)
    assert [r["segment"] for r in told(result, "truncate")] == ["other"]
    assert "the rewrite of span (200 → 900 tokens)" in told(result, "bug")[0]["says"]
    shrink = acting({2: [Rewrite(("span",), 50, True, "x")]})
    assert play(it, shrink).metrics["policy_bugs"] == 0


def test_what_shrank_is_not_to_blame() -> None:
    it = script(come(1, "a", 60, facts=("k",)), come(2, "b", 90), turns=2, budget=100)
    policy = acting(
        {1: [Rewrite(("a",), 40, False, "x")], 2: [Restore("s1", "k", 15)]},
        declares=["untagged"],
    )
    assert "the admission of b" in told(play(it, policy), "bug")[0]["says"]


def test_a_cut_surrogate_is_explained_by_its_source_and_invented_text_is_not() -> None:
    it = script(come(1, "a", 60, facts=("k",)), come(2, "b", 90), come(3, "c", 50), budget=100)
    result = play(it, acting({1: [Rewrite(("a",), 40, True, "x")]}))
    cuts = told(result, "truncate")
    assert [(r["segment"], r["surrogate"]) for r in cuts] == [("s1", True), ("b", False)]
    assert result.metrics["policy_bugs"] == 1
    assert result.ledger.why("a") == (
        ("a", "admitted", 1, "whole"),
        ("a", "rewritten", 1, "s1", True),
        ("s1", "truncated", 2),
    )
    policy = acting(
        {1: [Rewrite(("a",), 3, False, "x"), Restore("s1", "k", 40)]}, declares=["untagged"]
    )
    assert play(it, policy).metrics["policy_bugs"] == 2


def test_the_overflow_hook_comes_before_it() -> None:
    it = script(come(1, "a", 40), come(1, "b", 90), budget=100)
    result = play(it, Idle(on_overflow=lambda view: [Evict("b", "late")]))
    assert window(result) == ("a",)
    assert (result.metrics["policy_bugs"], told(result, "evict")[0]["by"]) == (0, "on_overflow")


def test_what_was_cut_with_a_copy_can_be_fetched_by_the_reader() -> None:
    it = script(
        come(1, "a", 40, kind=Kind.FILE, facts=("k",), copy=True, score=0.1),
        come(1, "b", 70),
        Query(2, "q", "k", 0.5, ("a",)),
        budget=100,
    )
    result = play(it)
    # it comes back to the end; the backstop then cuts what stands in front
    assert outcomes(result) == [("correct", "gone, fetched")]
    assert window(result) == ("a",)


def test_one_segment_larger_than_the_budget_leaves_nothing() -> None:
    result = play(script(come(1, "a", 140), budget=100))
    assert window(result) == ()
    assert (result.metrics["peak_tokens"], result.metrics["mean_tokens"]) == (0, 0.0)
    assert result.metrics["cache_hit_rate"] is None
