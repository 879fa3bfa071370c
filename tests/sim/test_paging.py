"""Pages, pointers and differences: what a result leaves out, and how the model comes by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.actions import Admit, Evict, Refuse
from sim.errors import InadmissibleAction
from sim.script import Arrival, Query, Write
from sim.segments import Fact, Kind
from tests.sim.build import Idle, come, play, script, told, window

FACTS = tuple(Fact(name, "v", "w", reducible=False, at=at) for name, at in
              (("a", 99), ("b", 100), ("c", 250), ("d", 400)))  # fmt: skip
"""On pages 1, 2, 3 and 5 of 100 tokens."""


def outcomes(run: Any) -> list[str]:
    """Return the outcome of every answer."""
    return [r["outcome"] for r in told(run, "answer")]


def log(turn: int = 1, name: str = "log", **more: Any) -> Arrival:
    """Return a result of 450 tokens whose tool allows 100: four pages and a half."""
    limits = {"max_result_tokens": 100, "reduced_tokens": 60}
    more = {"kind": Kind.TOOL_RESULT, "facts": FACTS, "tool": "tests", **limits, **more}
    return come(turn, name, 450, **more)


def ask(key: str, turn: int = 1, of: str = "log") -> Query:
    return Query(turn, f"q-{key}", key, 0.9, (of,))


def form(how: str, tokens: int = 100, **hooks: Any) -> Idle:
    """Return a policy that admits what is over its limit as *how*, and all else whole."""

    def on_arrival(view: Any, segment: Any) -> Any:
        over = segment.max_result_tokens is not None and segment.tokens > segment.max_result_tokens
        yield Admit(tokens, how) if over else Admit(segment.tokens)

    return Idle(on_arrival=on_arrival, **hooks)


@pytest.mark.parametrize(
    ("key", "pages", "tokens"), [("a", 0, 100), ("b", 1, 200), ("c", 2, 300), ("d", 4, 450)]
)
def test_pages_come_one_by_one_until_the_fact_is_there(key: str, pages: int, tokens: int) -> None:
    run = play(script(log(), ask(key)), form("page"), strict=True)
    assert outcomes(run) == ["correct"]
    assert (run.metrics["pages"], run.metrics["calls"]) == (pages, 1 + pages)
    assert run.metrics["peak_tokens"] == run.metrics["admitted_tokens"] == tokens
    assert run.metrics["never_admitted_tokens"] == 350
    assert run.metrics["fetches"] == 0
    sizes = [r["tokens"] for r in told(run, "call")]
    assert sizes == [100, 200, 300, 400, 450][: 1 + pages]
    assert [(r["number"], r["pages"], r["how"]) for r in told(run, "page")] == [
        (n, 5, "cursor") for n in range(2, 2 + pages)
    ]


def test_a_pointer_leads_to_the_very_page() -> None:
    run = play(script(log(), ask("d")), form("spill", 60), strict=True)
    assert outcomes(run) == ["correct"]
    assert [(r["number"], r["how"]) for r in told(run, "page")] == [(5, "pointer")]
    assert run.metrics["calls"] == 2
    assert window(run) == ("log", "log.p5")
    assert run.metrics["admitted_tokens"] == 60 + 50
    assert run.metrics["never_admitted_tokens"] == 390


@pytest.mark.parametrize(
    ("how", "book"), [("spill", "evicted_copy_tokens"), ("page", "evicted_dispensable_tokens")]
)
def test_what_was_spilled_has_a_copy(how: str, book: str) -> None:
    out = form(how, after_turn=lambda view: [Evict("log", "test")])
    run = play(script(log()), out, strict=True)
    assert run.metrics[book] == 100


def test_two_who_ask_in_one_turn_read_the_same_pages() -> None:
    run = play(script(log(), ask("c"), ask("d"), ask("b")), form("page"), strict=True)
    assert outcomes(run) == ["correct"] * 3
    assert (run.metrics["pages"], run.metrics["calls"]) == (4, 5)


def test_pages_that_were_read_are_there_in_later_turns() -> None:
    it = script(log(), ask("c"), replace(ask("b", 2), id="again"), ask("d", 3))
    run = play(it, form("page"), strict=True)
    assert outcomes(run) == ["correct"] * 3
    assert [(r["turn"], r["number"]) for r in told(run, "page")] == [(1, 2), (1, 3), (3, 4), (3, 5)]


def test_a_page_that_is_kept_out_ends_the_reading_for_this_turn() -> None:
    """Page 3 is refused in turn 1 and let in when it is asked for again."""

    def on_arrival(view: Any, segment: Any) -> Any:
        if segment.id == "log":
            yield Admit(100, "page")
        elif segment.number == 3 and view.turn == 1:
            yield Refuse("margin", segment.tokens)
        else:
            yield Admit(segment.tokens)

    it = script(log(), ask("d"), replace(ask("d", 2), id="again"))
    run = play(it, Idle(on_arrival=on_arrival), strict=True)
    assert outcomes(run) == ["deferred", "correct"]
    assert [(r["turn"], r["number"]) for r in told(run, "page")] == [
        (1, 2), (1, 3), (2, 3), (2, 4), (2, 5),
    ]  # fmt: skip
    assert run.metrics["never_admitted_tokens"] == 350
    assert run.metrics["calls"] == 2 + 4


def test_without_the_first_page_or_another_there_is_no_cursor() -> None:
    out = form("page", after_turn=lambda view: [Evict("log", "test")] if view.turn == 1 else [])
    run = play(script(log(), ask("d", 2)), out, strict=True)
    assert outcomes(run) == ["abstained"]
    assert run.metrics["pages"] == 0


def test_a_reader_who_does_not_follow_the_cursor() -> None:
    """Three quarters read on, a tenth abstain, the rest invent, query by query."""
    measured = {
        "reader.fetch_tagged": 0.75,
        "reader.abstain_tagged": 0.10,
        "reader.invent_tagged": 0.15,
    }
    counts = {"correct": 0, "abstained": 0, "confabulated": 0}
    for seed in range(400):
        it = script(log(), ask("b"), seed=seed, settings=measured)
        counts[outcomes(play(it, form("page"), strict=True))[0]] += 1
    assert counts["correct"] == pytest.approx(300, abs=35)
    assert counts["abstained"] == pytest.approx(40, abs=24)
    assert counts["confabulated"] == pytest.approx(60, abs=29)


@pytest.mark.parametrize(("how", "kept"), [("head-tail", {"d"}), ("reduced", set()),
                                           ("whole", {"a", "b", "c", "d"})])  # fmt: skip
def test_what_each_form_keeps(how: str, kept: set[str]) -> None:
    """At 101 tokens head and tail are the first 50 and the last 51: from 399 on."""
    it = script(log(), *(ask(key) for key in "abcd"))
    run = play(it, form(how, 450 if how == "whole" else 101), strict=True)
    assert {r["key"] for r in told(run, "answer") if r["outcome"] == "correct"} == kept
    assert run.metrics["pages"] == 0


def test_a_fact_without_a_place_stands_in_front_or_at_the_end() -> None:
    facts = (Fact("kept", "v"), Fact("lost", "v", reducible=False))
    it = script(log(facts=facts), ask("kept"), ask("lost"))
    run = play(it, form("page"), strict=True)
    assert [r["number"] for r in told(run, "page")] == [2, 3, 4, 5]
    assert outcomes(run) == ["correct", "correct"]


# -- the difference to the result before


def check(turn: int, keys: str, delta: int | None = None, **more: Any) -> Arrival:
    return come(turn, f"check-{turn}", 300, kind=Kind.TOOL_RESULT, tool="typecheck",
                facts=keys, delta_tokens=delta, **more)  # fmt: skip


def difference(**hooks: Any) -> Idle:
    def on_arrival(view: Any, segment: Any) -> Any:
        before = segment.previous
        if segment.delta_tokens is not None and before is not None and before.resident:
            yield Admit(segment.delta_tokens, "delta")

    return Idle(on_arrival=on_arrival, **hooks)


def test_a_difference_says_what_is_new_and_rests_on_what_is_there() -> None:
    it = script(check(1, "ab"), check(2, "abc", 20), ask("a", 3, "check-2"), ask("c", 3, "check-2"))
    run = play(it, difference(), strict=True)
    assert outcomes(run) == ["correct", "correct"]
    answers = {r["key"]: r["segment"] for r in told(run, "answer")}
    assert answers == {"a": "check-1", "c": "check-2"}
    assert run.metrics["admitted_tokens"] == 320
    assert run.metrics["never_admitted_tokens"] == 280


def test_when_what_it_rests_on_has_left_only_the_difference_is_known() -> None:
    gone = difference(after_turn=lambda v: [Evict("check-1", "test")] if v.turn == 2 else [])
    it = script(check(1, "ab"), check(2, "abc", 20), ask("a", 3, "check-2"), ask("c", 3, "check-2"))
    assert outcomes(play(it, gone, strict=True)) == ["abstained", "correct"]


def test_what_a_difference_rests_on_is_not_superseded_until_a_whole_result_comes() -> None:
    seen: dict[int, list[str]] = {}

    def after_turn(view: Any) -> Any:
        seen[view.turn] = [s.id for s in view.log.values() if s.superseded]
        return []

    it = script(check(1, "a"), check(2, "ab", 20), check(3, "abc", 10), check(4, "abcd"))
    play(it, difference(after_turn=after_turn), strict=True)
    assert seen == {1: [], 2: [], 3: [], 4: ["check-1", "check-2", "check-3"]}


def test_a_difference_to_what_is_not_there_is_a_bug() -> None:
    it = script(check(1, "ab", 20))
    always = Idle(on_arrival=lambda view, segment: [Admit(20, "delta")])
    run = play(it, always, strict=False)
    assert run.metrics["policy_bugs"] == 1
    assert told(run, "admit")[0]["how"] == "reduced"
    with pytest.raises(InadmissibleAction, match="difference of 20 tokens to what is not there"):
        play(it, always, strict=True)


def test_a_form_that_there_is_not_is_a_bug() -> None:
    always = Idle(on_arrival=lambda view, segment: [Admit(20, "folded")])
    with pytest.raises(InadmissibleAction, match="'folded', which is none of whole, reduced"):
        play(script(check(1, "ab")), always, strict=True)


@pytest.mark.parametrize("how", ["reduced", "head-tail"])
def test_without_a_structure_a_reduction_is_head_and_tail(how: str) -> None:
    """Of 450 tokens the first 50 and the last 50 stay: what stands at 400 does, at 99 not."""
    it = script(log(reduced_tokens=None), *(ask(key) for key in "abcd"))
    run = play(it, form(how), strict=True)
    assert {r["key"] for r in told(run, "answer") if r["outcome"] == "correct"} == {"d"}


def test_a_difference_says_all_that_is_new_whatever_a_reduction_would_keep() -> None:
    facts = (Fact("a", "v"), Fact("new", "v", reducible=False))
    for limit in (None, 300, 200):
        more = {"facts": facts, "max_result_tokens": limit, "reduced_tokens": 100}
        later = replace(check(2, "", 20), **more)
        it = script(check(1, "a"), later, ask("new", 2, "check-2"))
        assert outcomes(play(it, difference(), strict=True)) == ["correct"]


@pytest.mark.parametrize("how", ["head-saved", "tail-saved", "head-tail-saved", "pointer"])
def test_a_cut_result_in_a_file_has_a_copy_and_pages(how: str) -> None:
    """The middle of 450 is in none of the forms that leave 60 tokens of it."""
    out = form(how, 60, after_turn=lambda view: [Evict("log", "test")])
    run = play(script(log(), ask("c")), out, strict=True)
    assert outcomes(run) == ["correct"]
    assert [(r["number"], r["how"]) for r in told(run, "page")] == [(3, "pointer")]
    assert run.metrics["evicted_copy_tokens"] == 60


def test_a_pointer_states_nothing() -> None:
    front = (Fact("front", "v", at=0),)
    run = play(script(log(facts=front), ask("front")), form("pointer", 60), strict=True)
    assert [r["number"] for r in told(run, "page")] == [1]


def test_the_policy_says_how_much_one_read_brings() -> None:
    """Of 450 tokens 400 stand on the third page of 180, which has 90."""

    def on_arrival(view: Any, segment: Any) -> Any:
        yield Admit(60, "pointer", page=180) if segment.id == "log" else Admit(segment.tokens)

    run = play(script(log(), ask("d")), Idle(on_arrival=on_arrival), strict=True)
    assert [(r["number"], r["pages"]) for r in told(run, "page")] == [(3, 3)]
    assert run.metrics["admitted_tokens"] == 60 + 90


def test_what_a_file_no_longer_states_is_on_no_page() -> None:
    """It comes back as the write has left it, and what the cut had left out is not there."""
    file = {"kind": Kind.FILE, "path": "a.py", "copy": True}
    it = script(
        log(**file, facts=(Fact("old", "v", reducible=False, at=250),)),
        Write(2, "a.py", facts=(Fact("new", "v"),)),
        Query(2, "q1", "new", 0.9, ("log",)),
        replace(ask("old", 3), id="q2"),
    )
    out = form("spill", 60, after_turn=lambda view: [Evict("log", "t")] if view.turn == 1 else [])
    run = play(it, out, strict=True)
    assert outcomes(run) == ["correct", "abstained"]
    assert told(run, "page") == []
