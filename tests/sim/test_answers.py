"""Step 6 of a turn: re-scoring, what the harness asks back, the reader, operator requests."""

from __future__ import annotations

from typing import Any

import pytest

from sim.actions import Evict, Grant, Refresh, Refuse, RehydrationBlocked, Restore, Rewrite
from sim.script import Act, Operator, Query, WorldRefresh, Write
from sim.segments import Kind
from tests.sim.build import Idle, acting, come, outcomes, play, script, told, window

KEEP = {"surrogate.keep": 1.0}


def gate(found: list[Any], answer: Any = None) -> Any:
    """Return an on_rehydrate that notes what it is asked and gives *answer* of the segment."""

    def on_rehydrate(view: Any, segment: Any) -> Any:
        found.append(segment.id)
        return Grant() if answer is None else answer(segment)

    return on_rehydrate


def blocked(segment: Any) -> RehydrationBlocked:
    return RehydrationBlocked(segment.id, "margin", 0.9, 0.95, ())


# -- (a) salience --------------------------------------------------------------------------


def test_a_query_re_scores_everything_it_touches_to_the_greater() -> None:
    it = script(
        come(1, "low", 5, score=0.2, facts=("k",)),
        come(1, "high", 5, score=0.8),
        come(1, "gone", 5, score=0.1),
        come(1, "aside", 5, score=0.1),
        Query(2, "q", "k", 0.5, ("low", "high", "gone", "unheard of")),
    )
    scored = told(play(it, acting({1: [Evict("gone", "x")]})), "score")
    assert [(r["segment"], r["before"], r["after"], r["crossed"]) for r in scored] == [
        ("low", 0.17, 0.5, False),
        ("high", 0.68, 0.68, False),
        ("gone", 0.085, 0.5, False),
    ]


@pytest.mark.parametrize(
    ("relevance", "reversals"), [(0.6, 0), (0.61, 1), (0.3, 0)]
)  # the threshold is 0.6, and what equals it is not above it
def test_a_reversal_is_an_absent_segment_that_rises_over_the_threshold(
    relevance: float, reversals: int
) -> None:
    it = script(
        come(1, "gone", 5, score=0.1, facts=("k",)),
        come(1, "here", 5, score=0.1),
        come(1, "short", 5, score=0.1),
        Query(2, "q", "k", relevance, ("gone", "here", "short")),
        Query(2, "r", "k", relevance, ("gone",)),
        turns=2,
    )
    result = play(it, acting({1: [Evict("gone", "x"), Rewrite(("short",), 1, True, "x")]}))
    assert result.metrics["reversals"] == 2 * reversals  # gone, and the source of a surrogate


def test_what_was_over_the_threshold_already_does_not_cross_it() -> None:
    it = script(come(1, "gone", 5, score=0.9, facts=("k",)), Query(2, "q", "k", 0.95, ("gone",)))
    assert play(it, acting({1: [Evict("gone", "x")]})).metrics["reversals"] == 0


# -- (b) what the harness asks back --------------------------------------------------------


def test_the_touched_with_a_copy_and_over_the_threshold_are_asked_for_highest_first() -> None:
    names = ("b", "a", "low", "nocopy", "here", "cut")
    arrivals = [
        come(1, n, 10, score=0.1, facts=(n,), copy=n != "nocopy") for n in ("cut", *names[:-1])
    ]
    it = script(
        *arrivals,
        Query(2, "q0", "low", 0.5, ("low",)),
        Query(2, "q1", "a", 0.7, ("a", "nocopy", "here")),
        Query(2, "q2", "b", 0.9, ("b",)),
        turns=2,
    )
    asked: list[Any] = []
    evict = [Evict(n, "x") for n in ("b", "a", "low", "nocopy")]
    result = play(it, acting({1: evict}, on_rehydrate=gate(asked, blocked)))
    # b .9 before a .7 by the threshold; low .5 is only asked for by the reader
    assert asked == ["b", "a", "low"]
    by = {r["segment"]: r["by"] for r in told(result, "rehydrate")}
    assert by == {"b": "threshold", "a": "threshold", "low": "reader"}


def test_equals_are_asked_for_older_first() -> None:
    it = script(
        *(come(1, n, 10, facts=("k",), copy=True) for n in ("x", "y", "z")),
        Query(2, "q", "k", 0.95, ("z", "x", "y")),
    )
    asked: list[Any] = []
    evict = {1: [Evict(n, "x") for n in ("y", "z", "x")]}
    play(it, acting(evict, on_rehydrate=gate(asked, blocked)))
    assert asked == ["x", "y", "z"]


def test_a_tagged_source_is_asked_for_if_the_readers_draw_is_to_fetch() -> None:
    it = script(
        come(1, "a", 10, facts=("k",), copy=True),
        Query(2, "q", "k", 0.9, ("a",)),
        settings={"reader.fetch_tagged": 0.5, "reader.abstain_tagged": 0.5},
    )
    seen = set()
    for seed in range(30):
        asked: list[Any] = []
        policy = acting({1: [Rewrite(("a",), 2, True, "x")]}, on_rehydrate=gate(asked))
        result = play(script(*it.stimuli, settings=dict(it.settings), seed=seed), policy)
        seen.add((bool(asked), *outcomes(result)))
    assert seen == {(True, ("correct", "full")), (False, ("abstained", "tagged"))}


def test_an_untagged_surrogate_has_no_known_source() -> None:
    it = script(come(1, "a", 10, facts=("k",), copy=True), Query(2, "q", "k", 0.9, ("a",)))
    asked: list[Any] = []
    policy = acting(
        {1: [Rewrite(("a",), 2, False, "x")]}, on_rehydrate=gate(asked), declares=["untagged"]
    )
    result = play(it, policy)
    assert asked == []
    assert outcomes(result) == [("confabulated", "untagged")]
    assert told(result, "answer")[0]["value"] == "k?"


def test_a_source_whose_surrogate_is_gone_is_gone() -> None:
    it = script(come(1, "a", 10, facts=("k",), copy=True), Query(3, "q", "k", 0.9, ("a",)), turns=3)
    policy = acting(
        {1: [Rewrite(("a",), 2, False, "x")], 2: [Evict("s1", "x")]}, declares=["untagged"]
    )
    result = play(it, policy)
    assert outcomes(result) == [("correct", "full")]
    assert window(result) == ("a",)


def test_without_a_gate_everything_is_granted() -> None:
    it = script(come(1, "a", 10, facts=("k",), copy=True), Query(2, "q", "k", 0.9, ("a",)))
    result = play(it, acting({1: [Evict("a", "x")]}))
    assert [(r["how"], r["by"]) for r in told(result, "rehydrate")] == [("granted", "threshold")]
    figures = result.metrics
    assert (figures["fetches"], figures["rehydrated_slack"], figures["rehydrated_swap"]) == (
        1,
        0,
        0,
    )


# -- (c) the reader asks -------------------------------------------------------------------


def test_the_readers_fetch_passes_the_gate_but_not_the_threshold() -> None:
    it = script(
        come(1, "a", 10, score=0.1, facts=("k",), copy=True), Query(2, "q", "k", 0.1, ("a",))
    )
    for answer, expected in ((None, "gone, fetched"), (blocked, "gone, blocked")):
        asked: list[Any] = []
        policy = acting({1: [Evict("a", "x")]}, on_rehydrate=gate(asked, answer))
        result = play(it, policy)
        assert asked == ["a"]
        outcome = "correct" if answer is None else "deferred"
        assert outcomes(result) == [(outcome, expected)]
        assert result.metrics["fetches"] == (answer is None)


def test_nobody_is_asked_twice_in_a_turn() -> None:
    it = script(
        come(1, "a", 10, facts=("k",), copy=True),
        *(Query(2, f"q{n}", "k", 0.9, ("a",)) for n in range(3)),
    )
    asked: list[Any] = []
    result = play(it, acting({1: [Evict("a", "x")]}, on_rehydrate=gate(asked, blocked)))
    assert asked == ["a"]
    assert outcomes(result) == [("deferred", "gone, blocked")] * 3
    assert result.metrics["rehydrated_refused"] == 1


def test_what_is_blocked_is_answered_from_a_summary_that_covers_it() -> None:
    it = script(
        come(1, "a", 10, facts=("k",), copy=True),
        come(1, "sum", 3, kind=Kind.SUMMARY, facts=("k",)),
        Query(2, "q", "k", 0.9, ("a",)),
    )
    asked: list[Any] = []
    result = play(it, acting({1: [Evict("a", "x")]}, on_rehydrate=gate(asked, blocked)))
    assert asked == ["a"]
    assert [(r["segment"], r["outcome"], r["value"]) for r in told(result, "answer")] == [
        ("sum", "correct", "k!")
    ]


@pytest.mark.parametrize("relevance", [0.1, 0.9])  # asked for by the reader, by the threshold
def test_what_the_next_pass_throws_out_was_fetched_in_vain(relevance: float) -> None:
    it = script(
        come(1, "a", 10, score=0.1, facts=("k",), copy=True), Query(2, "q", "k", relevance, ("a",))
    )

    def before_call(view: Any) -> Any:
        return [Evict("a", "x")] if view.log["a"].resident else []

    result = play(it, Idle(before_call=before_call))
    assert [o for o, _ in outcomes(result)] == ["deferred"]
    assert result.metrics["fetches"] == 1
    assert [r["extra"] for r in told(result, "call")] == [False, False, True]


def test_what_was_answered_stays_answered_when_a_later_fetch_displaces_it() -> None:
    """q1 reads x; q2 has y fetched, and the pass that follows evicts x."""
    it = script(
        come(1, "x", 30, facts=("kx",)),
        come(1, "y", 60, score=0.1, facts=("ky",), copy=True),
        Query(2, "q1", "kx", 0.2, ("x",)),
        Query(2, "q2", "ky", 0.5, ("y",)),
    )

    def before_call(view: Any) -> Any:
        out = "y" if view.turn == 1 else "x"
        return [Evict(out, "x")] if view.tokens == 90 else []

    result = play(it, Idle(before_call=before_call))
    assert outcomes(result) == [("correct", "full"), ("correct", "gone, fetched")]
    assert window(result) == ("y",)


def test_a_stale_answer_stays_stale_when_the_next_pass_refreshes() -> None:
    it = script(
        come(1, "f", 30, kind=Kind.FILE, path="a.py", facts=("kf",), copy=True),
        come(1, "y", 60, score=0.1, facts=("ky",), copy=True),
        Write(1, "a.py"),
        Query(2, "q1", "kf", 0.2, ("f",)),
        Query(2, "q2", "ky", 0.5, ("y",)),
    )

    def before_call(view: Any) -> Any:
        if view.turn == 1:
            return [Evict("y", "x")]
        return [Refresh("f")] if view.log["y"].resident else []

    result = play(it, Idle(before_call=before_call))
    assert outcomes(result) == [("stale", "stale"), ("correct", "gone, fetched")]


def test_the_queries_add_up_and_the_fetch_comes_to_the_end() -> None:
    it = script(
        come(1, "a", 10, facts=("ka",), copy=True),
        come(1, "b", 10, facts=("kb",)),
        come(1, "c", 10, facts=("kc",)),
        *(Query(2, f"q{k}", f"k{k}", 0.9, (k,)) for k in "abc"),
        Query(2, "q?", "nobody knows", 0.9, ()),
    )
    actions = {1: [Evict("a", "x"), Evict("b", "x"), Rewrite(("c",), 2, False, "x")]}
    result = play(it, acting(actions, declares=["untagged"]))
    figures = result.metrics
    assert [figures[k] for k in ("queries", "correct", "confabulated", "abstained")] == [4, 1, 1, 2]
    assert figures["confabulation_rate"] == 0.25
    assert figures["first_confabulation_turn"] == 2
    assert window(result) == ("s1", "a")


# -- through the door ----------------------------------------------------------------------


def test_what_was_never_admitted_goes_through_the_door() -> None:
    it = script(
        come(1, "a", 10, facts=("k",), copy=True),
        Query(2, "q", "k", 0.9, ("a",)),
        Query(3, "r", "k", 0.9, ("a",)),
    )
    asked: list[Any] = []

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Refuse("margin", segment.tokens)] if view.turn < 3 else []

    result = play(it, Idle(on_arrival=on_arrival, on_rehydrate=gate(asked)))
    assert asked == []
    assert outcomes(result) == [
        ("deferred", "never admitted, blocked"),
        ("correct", "never admitted, fetched"),
    ]
    figures = result.metrics
    assert (figures["fetches"], figures["rehydrated_tokens"]) == (0, 0)  # it had never left
    assert (figures["never_admitted_tokens"], figures["admitted_tokens"]) == (10, 10)
    assert told(result, "admit")[0]["segment"] == "a"


def test_the_door_sees_the_size_that_a_file_has_by_now() -> None:
    it = script(
        come(1, "f", 10, kind=Kind.FILE, path="a.py", facts=("k",), copy=True),
        Write(2, "a.py", 25),
        Query(2, "q", "k", 0.9, ("f",)),
    )

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Refuse("margin", segment.tokens)] if view.turn == 1 else []

    result = play(it, Idle(on_arrival=on_arrival))
    assert [r["tokens"] for r in told(result, "admit")] == [25]
    assert outcomes(result)[0][0] == "correct"


# -- operator requests ---------------------------------------------------------------------


def test_an_operator_bypasses_the_gate_and_the_door() -> None:
    it = script(
        come(1, "out", 10, copy=True),
        come(1, "shut", 20, copy=True),
        come(1, "here", 5),
        come(1, "lost", 5),
        *(Operator(2, f"o-{n}", n) for n in ("out", "shut", "here", "lost", "nothing")),
        turns=2,
    )

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Refuse("margin", segment.tokens)] if segment.id == "shut" else []

    asked: list[Any] = []
    policy = acting(
        {1: [Evict("out", "x"), Evict("lost", "x")]},
        on_arrival=on_arrival,
        on_rehydrate=gate(asked, blocked),
    )
    result = play(it, policy)
    assert [(r["segment"], r["how"]) for r in told(result, "operator")] == [
        ("out", "fetched"),
        ("shut", "admitted"),
        ("here", "resident"),
        ("lost", "unavailable"),
        ("nothing", "unavailable"),
    ]
    assert asked == []
    assert window(result) == ("here", "out", "shut")
    assert result.metrics["fetches"] == 1  # bringing in what never entered is none
    assert [r["extra"] for r in told(result, "call")] == [False, False, True]


def test_what_an_operator_brought_answers_the_query_of_the_same_turn() -> None:
    it = script(
        come(1, "a", 10, facts=("k",), copy=True),
        Operator(2, "o", "a"),
        Query(2, "q", "k", 0.1, ("a",)),
    )
    result = play(it, acting({1: [Evict("a", "x")]}))
    assert outcomes(result) == [("correct", "full")]


# -- acts and what is missed ---------------------------------------------------------------


def test_acts_read_the_window_of_the_call() -> None:
    """The fetch of the same turn comes too late for the act."""
    it = script(
        come(1, "a", 10, facts=("k",), copy=True),
        Query(2, "q", "k", 0.9, ("a",)),
        Act(2, "t", ("a",)),
        Act(3, "u", ("a",)),
    )
    result = play(it, acting({1: [Evict("a", "x")]}))
    assert [r["missing"] for r in told(result, "act")] == [("a",), ()]
    assert (result.metrics["acts"], result.metrics["violations"]) == (2, 1)


@pytest.mark.parametrize(
    ("facts", "keep", "readable"),
    [(("k",), 1.0, True), (("k",), 0.0, False), ((), 1.0, False)],
)
def test_a_surrogate_is_readable_if_it_kept_all(
    facts: tuple[str, ...], keep: float, readable: bool
) -> None:
    it = script(
        come(1, "a", 10, facts=facts),
        Act(1, "t", ("a", "never heard of")),
        settings={"surrogate.keep": keep},
    )
    result = play(it, acting({1: [Rewrite(("a",), 2, True, "x")]}))
    missing = ("never heard of",) if readable else ("a", "never heard of")
    assert [r["missing"] for r in told(result, "act")] == [missing]
    assert result.metrics["violations"] == 1


def test_made_up_text_is_not_readable() -> None:
    it = script(
        come(1, "a", 10, facts=("k",)),
        Query(2, "q", "k", 0.1, ("a",)),
        Act(3, "t", ("a",)),
        Query(3, "r", "k", 0.1, ("a",)),
    )
    policy = acting(
        {1: [Rewrite(("a",), 2, False, "x")]},
        declares=["untagged"],
        on_restore=lambda view, surrogate, key: [Restore(surrogate.id, key, 40)],
    )
    result = play(it, policy)
    assert [r["missing"] for r in told(result, "act")] == [("a",)]
    assert outcomes(result) == [("confabulated", "untagged"), ("confabulated", "invented")]


def test_missed_tokens_are_the_smallest_that_would_have_done() -> None:
    """Evicted 10; refused, 30 reduced to 20; stale, refreshed to 25; resident and current: 0."""
    it = script(
        come(1, "gone", 10, facts=("kg",)),
        come(1, "shut", 30, kind=Kind.TOOL_RESULT, max_result_tokens=20),
        come(1, "file", 40, kind=Kind.FILE, path="a.py", copy=True),
        come(1, "here", 7),
        Write(1, "a.py", 25),
        Query(2, "q", "kg", 0.1, ("gone", "shut")),
        Operator(2, "o1", "shut"),
        Operator(2, "o2", "file"),
        Operator(2, "o3", "here"),
        Query(2, "r", "kg", 0.1, ("gone",)),
    )

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Refuse("margin", segment.tokens)] if segment.id == "shut" else []

    result = play(it, acting({1: [Evict("gone", "x")]}, on_arrival=on_arrival))
    assert [(r["segment"], r["tokens"], r["by"]) for r in told(result, "missed")] == [
        ("gone", 10, "query"),
        ("gone", 10, "query"),
        ("shut", 20, "operator"),
        ("file", 25, "operator"),
    ]
    assert result.metrics["missed_tokens"] == 65


def test_missed_is_counted_whatever_the_answer() -> None:
    it = script(come(1, "a", 10, facts=("k",), copy=True), Query(2, "q", "k", 0.9, ("a",)))
    result = play(it, acting({1: [Evict("a", "x")]}))
    assert outcomes(result) == [("correct", "full")]
    assert result.metrics["missed_tokens"] == 10


# -- invention -----------------------------------------------------------------------------


def test_asked_to_restore_a_policy_puts_invented_text_in_place() -> None:
    it = script(
        come(1, "a", 10, facts=("k",)),
        come(1, "b", 10),
        Query(2, "q", "k", 0.1, ("a",)),
        turns=2,
    )
    asked = []

    def on_restore(view: Any, surrogate: Any, key: str) -> Any:
        asked.append((surrogate.id, key))
        return [Restore(surrogate.id, key, 40)]

    policy = acting(
        {1: [Rewrite(("a",), 2, False, "x")]}, declares=["untagged"], on_restore=on_restore
    )
    result = play(it, policy)
    assert asked == [("s1", "k")]
    assert window(result) == ("s2", "b")
    figures = result.metrics
    assert (figures["fabricated_tokens"], figures["rewrites"]) == (40, 1)
    assert figures["rewritten_tokens"] == 12
    assert len(told(result, "call")) == 2  # it is no fetch: no extra call
    assert result.ledger.why("a") == (
        ("a", "admitted", 1, "whole"),
        ("a", "rewritten", 1, "s1", False),
        ("s1", "restored", 2, "s2"),
    )


def test_distraction_counts_bulk_files_which_no_current_diagnostic_names() -> None:
    """One file is bulk, the other is named; each turn's answer is right or spoilt by one file."""
    it = script(
        come(1, "n", 5, facts=("k",)),
        come(1, "bulk", 5, kind=Kind.FILE, path="a.py"),
        come(1, "named", 5, kind=Kind.FILE, path="b.py"),
        come(1, "lint", 5, kind=Kind.TOOL_RESULT, tool="lint", names=("b.py",)),
        *(Query(t, f"q{t}", "k", 0.5, ("n",)) for t in (1, 2)),
        settings={"reader.distraction": 1.0},
    )
    assert [o for o, _ in outcomes(play(it))] == ["confabulated"] * 2
    cleared = play(it, acting({2: [Evict("bulk", "x")]}))
    assert outcomes(cleared) == [("confabulated", "distraction"), ("correct", "full")]


def test_a_refreshed_document_is_a_new_version_when_it_comes_back() -> None:
    it = script(
        come(1, "d", 10, facts=("k",), copy=True),
        WorldRefresh(2, "d", 10),
        Query(2, "q", "k", 0.9, ("d",)),
    )
    result = play(it, acting({1: [Evict("d", "x")]}))
    assert [(r["tokens"], r["version"]) for r in told(result, "fetch")] == [(10, 1)]


@pytest.mark.parametrize("answer", [None, "yes"])
def test_a_gate_without_an_answer_grants_and_a_wrong_one_is_named(answer: Any) -> None:
    it = script(come(1, "a", 10, facts=("k",), copy=True), Query(2, "q", "k", 0.9, ("a",)))
    policy = acting({1: [Evict("a", "x")]}, on_rehydrate=lambda view, segment: answer)
    result = play(it, policy, strict=False)
    assert outcomes(result) == [("correct", "full")]
    assert result.metrics["policy_bugs"] == (answer is not None)
