"""The door: whole, reduced, a page, or kept out; and what is displaced for it."""

from __future__ import annotations

from typing import Any

import pytest

from sim.actions import Admit, Evict, Grant, Refuse, Rewrite
from sim.errors import InadmissibleAction, PinRemoved
from sim.script import Query, Structure, Write
from sim.segments import Fact, Kind
from tests.sim.build import Idle, acting, come, outcomes, pair, play, script, told, window


def door(answers: dict[str, Any], **more: Any) -> Idle:
    """Return a policy whose door says *answers*, by segment, each a list of actions."""
    return Idle(on_arrival=lambda view, segment: answers.get(segment.id), **more)


def test_without_an_answer_everything_comes_in_whole() -> None:
    it = script(come(1, "a", 30), come(1, "b", 20))
    for policy in (Idle(), door({"a": []}), door({"a": None})):
        result = play(it, policy)
        assert [
            (r["segment"], r["tokens"], r["how"], r["never"]) for r in told(result, "admit")
        ] == [
            ("a", 30, "whole", 0),
            ("b", 20, "whole", 0),
        ]


def test_what_a_reduction_or_a_page_leaves_out_never_entered() -> None:
    call, result = pair(
        1, "r", 61_204, max_result_tokens=24_000, structure=Structure(431, 118, 142, 44)
    )
    seen: list[Any] = []

    def on_arrival(view: Any, segment: Any) -> Any:
        if segment.id == "r":
            seen.append((segment.raw_tokens, segment.reduced_tokens, segment.max_result_tokens))
            yield Admit(segment.reduced_tokens, "reduced")
        if segment.id == "log":
            yield Admit(10, "page")

    run = play(script(call, result, come(1, "log", 100)), Idle(on_arrival=on_arrival))
    assert seen == [(61_204, 16_800, 24_000)]
    figures = run.metrics
    assert figures["admitted_tokens"] == 1 + 16_800 + 10
    assert figures["never_admitted_tokens"] == 44_404 + 90
    assert (figures["evictions"], figures["evicted_dispensable_tokens"]) == (0, 0)
    assert [r["how"] for r in told(run, "admit")] == ["whole", "reduced", "page"]
    assert run.ledger.why("log") == (("log", "admitted", 1, "page"),)


def test_a_reduction_loses_the_facts_that_it_cannot_keep() -> None:
    facts = (Fact("kept", "v"), Fact("lost", "v", reducible=False))
    arrivals = [come(1, n, 50, facts=facts) for n in ("r",)]
    queries = [Query(1, f"q-{k}", k, 0.5, ("r",)) for k in ("kept", "lost")]
    it = script(*arrivals, *queries)
    assert [o for o, _ in outcomes(play(it, door({"r": [Admit(20, "reduced")]})))] == [
        "correct", "abstained",
    ]  # fmt: skip
    assert [o for o, _ in outcomes(play(it, door({"r": [Admit(50)]})))] == ["correct"] * 2


def test_a_refusal_is_booked_once_and_kept() -> None:
    it = script(
        come(1, "a", 90, facts=("k",), copy=True),
        *(Query(t, f"q{t}", "k", 0.9, ("a",)) for t in (2, 3)),
    )
    refusal = Refuse("margin", 90, (), 0.2, 0.57)

    def on_arrival(view: Any, segment: Any) -> Any:
        return [refusal] if view.turn < 3 else [Admit(40, "reduced")]

    result = play(it, Idle(on_arrival=on_arrival))
    assert [(r["tokens"], r["reason"], r["score"], r["floor"]) for r in told(result, "refuse")] == [
        (90, "margin", 0.2, 0.57),
        (0, "margin", 0.2, 0.57),
    ]
    assert [(r["tokens"], r["never"]) for r in told(result, "admit")] == [(40, 0)]
    figures = result.metrics
    assert (figures["never_admitted_tokens"], figures["admitted_tokens"]) == (90, 40)
    assert result.ledger.why("a") == (
        ("a", "never-admitted", 1, "margin"),
        ("a", "never-admitted", 2, "margin"),
        ("a", "admitted", 3, "reduced"),
    )


def test_a_swap_at_the_door_is_one_two_sided_record() -> None:
    it = script(come(1, "low", 30), come(1, "b", 5), come(2, "new", 40))
    policy = door({"new": [Admit(40, "whole", ("low",), 0.9, 0.3)]})
    result = play(it, policy)
    record = told(result, "admit")[-1]
    assert (record["displaced"], record["score"], record["floor"]) == (("low",), 0.9, 0.3)
    assert [(r["segment"], r["reason"], r["by"]) for r in told(result, "evict")] == [
        ("low", "swap", "door")
    ]
    assert window(result) == ("b", "new")
    assert (result.metrics["edit_turns"], result.metrics["rehydrated_swap"]) == (1, 0)


def test_a_displaced_result_takes_its_call_along_whoever_is_named() -> None:
    for names in (("r",), ("r.call",), ("r", "r.call"), ("r.call", "r")):
        it = script(*pair(1, "r", 30), come(2, "new", 40))
        result = play(it, door({"new": [Admit(40, "whole", names)]}))
        assert window(result) == ("new",)
        assert told(result, "admit")[-1]["displaced"] == names
        assert result.metrics["policy_bugs"] == 0


def test_the_demand_is_what_would_have_been_resident() -> None:
    """Resident 35; 40 and 8 come, 30 go for the first, the second is refused: 35 + 48 = 83."""
    it = script(come(1, "low", 30), come(1, "b", 5), come(2, "new", 40), come(2, "shut", 8))
    answers = {"new": [Admit(40, "whole", ("low",))], "shut": [Refuse("margin", 8)]}
    result = play(it, door(answers))
    assert [r["tokens"] for r in told(result, "demand")] == [35, 83]
    assert [r["tokens"] for r in told(result, "call")] == [35, 45]
    assert (result.metrics["peak_demand_tokens"], result.metrics["peak_tokens"]) == (83, 45)


def test_lines_made_at_the_door_are_part_of_the_demand() -> None:
    it = script(come(1, "old", 30), come(2, "new", 40))
    line = Rewrite(("old",), 12, True, "superseded", line=True)
    result = play(it, door({"new": [line, Admit(40)]}))
    assert [r["tokens"] for r in told(result, "demand")] == [30, 70]
    assert told(result, "rewrite")[0]["by"] == "door"
    assert window(result) == ("s1", "new")


def test_what_leaves_outside_the_door_is_no_part_of_the_demand() -> None:
    it = script(come(1, "a", 30), come(1, "b", 20), turns=2)
    result = play(it, Idle(after_turn=lambda view: [Evict("a", "x")] if view.turn == 1 else []))
    assert [r["tokens"] for r in told(result, "demand")] == [50, 20]


def test_the_gates_displaced_set_is_outside_the_demand() -> None:
    it = script(
        come(1, "a", 30, facts=("k",), copy=True), come(1, "b", 20), Query(2, "q", "k", 0.9, ("a",))
    )
    policy = acting(
        {1: [Evict("a", "x")]}, on_rehydrate=lambda v, s: Grant("swap", ("b",), 0.9, 0.1)
    )
    result = play(it, policy)
    assert [r["tokens"] for r in told(result, "demand")] == [50, 20]
    record = told(result, "rehydrate")[0]
    assert (record["how"], record["displaced"], record["floor"]) == ("swap", ("b",), 0.1)
    assert [r["by"] for r in told(result, "evict")] == ["pass", "gate"]
    assert result.metrics["rehydrated_swap"] == 1


@pytest.mark.parametrize("at_gate", [False, True])
def test_a_pin_is_not_displaced(at_gate: bool) -> None:
    arrivals = [
        come(1, "pin", 30, pinned=True),
        come(1, "a", 20, facts=("k",), copy=True),
        come(2, "new", 5),
        Query(2, "q", "k", 0.9, ("a",)),
    ]
    if at_gate:
        policy = acting({1: [Evict("a", "x")]}, on_rehydrate=lambda v, s: Grant("swap", ("pin",)))
    else:
        policy = door({"new": [Admit(5, "whole", ("pin", "ghost"))]})
    with pytest.raises(PinRemoved, match="would evict pin, which is pinned"):
        play(script(*arrivals), policy)
    if at_gate:
        policy = acting({1: [Evict("a", "x")]}, on_rehydrate=lambda v, s: Grant("swap", ("pin",)))
    result = play(script(*arrivals), policy, strict=False)
    assert window(result)[0] == "pin"
    assert result.metrics["policy_bugs"] == (1 if at_gate else 2)
    records = told(result, "rehydrate" if at_gate else "admit")
    assert records[-1]["displaced"] == ()


@pytest.mark.parametrize("tokens", [0, -5, 31, 12.5])
@pytest.mark.parametrize("what", [Admit, Refuse])
def test_a_size_that_cannot_be(what: Any, tokens: Any) -> None:
    it = script(come(1, "a", 30))
    answer = Admit(tokens) if what is Admit else Refuse("margin", tokens)
    with pytest.raises(InadmissibleAction, match=f"of a at {tokens} of 30 tokens"):
        play(it, door({"a": [answer]}))
    result = play(it, door({"a": [answer]}), strict=False)
    assert result.metrics["policy_bugs"] == 1
    entered = 30 if what is Admit else 0
    assert result.metrics["admitted_tokens"] == entered
    assert result.metrics["never_admitted_tokens"] == 30 - entered


def test_a_part_is_not_admitted_as_the_whole() -> None:
    result = play(script(come(1, "a", 30)), door({"a": [Admit(20)]}))
    assert told(result, "admit")[0]["how"] == "reduced"


def test_an_image_counts_the_same_whatever_its_encoding() -> None:
    it = script(come(1, "i", 90_000, kind=Kind.IMAGE), come(1, "j", 5, kind=Kind.IMAGE))
    result = play(it)
    assert [r["tokens"] for r in told(result, "admit")] == [60, 60]


def test_a_door_that_never_decides_is_stopped() -> None:
    def forever(view: Any, segment: Any) -> Any:
        while True:
            yield Evict("ghost", "x")

    result = play(script(come(1, "a", 30)), Idle(on_arrival=forever), strict=False)
    assert window(result) == ("a",)
    assert told(result, "bug")[-1]["says"] == "the door does not end"


def test_what_comes_back_has_the_newest_version_and_stands_last() -> None:
    it = script(
        come(1, "f", 10, kind=Kind.FILE, path="a.py", facts=(Fact("k", "old"),), copy=True),
        come(1, "b", 5),
        Write(2, "a.py", 25, (Fact("k", "new"),)),
        *(Query(t, f"q{t}", "k", 0.9, ("f",)) for t in (2, 3)),
    )
    result = play(it, acting({2: [Evict("f", "x")]}))
    assert [(r["outcome"], r["value"]) for r in told(result, "answer")] == [
        ("correct", "new"),
        ("correct", "new"),
    ]
    assert [(r["tokens"], r["version"]) for r in told(result, "fetch")] == [(25, 1)]
    assert window(result) == ("b", "f")
    assert result.metrics["rehydrated_tokens"] == 25


def test_what_came_cut_and_grew_comes_back_whole() -> None:
    """100 tokens let in as both ends of 10; the version of 60 has its middle, too."""
    middle, newer = Fact("k", "old", at=50), Fact("k", "new", at=30)
    it = script(
        come(1, "f", 100, kind=Kind.FILE, path="a.py", facts=(middle,), copy=True),
        come(1, "b", 5),
        Write(2, "a.py", 60, (newer,)),
        Query(1, "q1", "k", 0.9, ("f",)),
        Query(2, "q2", "k", 0.9, ("f",)),
    )
    ends = Idle(
        on_arrival=lambda view, s: [Admit(10, "head-tail") if s.id == "f" else Admit(s.tokens)],
        before_call=lambda view: [Evict("f", "x")] if view.turn == 2 and view.tokens == 15 else [],
    )
    result = play(it, ends)
    first, last = told(result, "answer")
    assert first["outcome"] != "correct"
    assert (last["outcome"], last["value"]) == ("correct", "new")
    assert [r["tokens"] for r in told(result, "fetch")] == [60]


def test_a_pin_is_not_refused_at_the_door() -> None:
    it = script(come(1, "sys", 100, pinned=True))
    refusing = {"sys": [Refuse("margin", 100)]}
    played = play(it, door(refusing), strict=False)
    kinds = [r[0] for r in played.records if r[0] in ("admit", "refuse", "bug")]
    assert kinds == ["bug", "admit"]
    assert played.metrics["policy_bugs"] == 1
    with pytest.raises(PinRemoved):
        play(it, door(refusing))
    played = play(it, door(refusing, declares=frozenset({"ignores_pins"})))
    assert (played.metrics["breaches"], played.metrics["never_admitted_tokens"]) == (1, 100)
