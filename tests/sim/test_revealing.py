"""Stubs with a preview, text that is shown again, and what a harness reads anew by itself."""

from __future__ import annotations

from typing import Any

import pytest

from sim.actions import Admit, Evict, Refuse, Reread, Reveal, Rewrite
from sim.errors import InadmissibleAction
from sim.script import Query, Script, Write
from sim.segments import Fact, Kind
from tests.sim.build import MARKED, Idle, acting, come, outcomes, pair, play, script, told, window

KEEP = {"surrogate.keep": 1.0}


def stub(*names: str, tokens: int = 4, preview: Any = (0, 0), **more: Any) -> Rewrite:
    return Rewrite(names, tokens, True, "x", stub=True, preview=preview, **more)


# -- previews ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preview", "kept"),
    [
        ((0, 0), ()),
        ((9, 0), ()),
        ((10, 0), ("front",)),
        ((0, 10), ()),
        ((0, 11), ("back",)),
        ((10, 11), ("back", "front")),
    ],
)
def test_a_preview_keeps_the_words_that_it_shows(
    preview: tuple[int, int], kept: tuple[str, ...]
) -> None:
    """Of 100 tokens: one fact is the 10th, the other the 11th from the end."""
    facts = (Fact("front", at=9), Fact("back", at=89))
    it = script(come(1, "a", 100, facts=facts), settings=KEEP)
    result = play(it, acting({1: [stub("a", tokens=30, preview=preview)]}))
    assert told(result, "rewrite")[0]["kept"] == kept
    assert (result.metrics["maintenance_cost_usd"], told(result, "maintain")) == (0, [])


def test_a_preview_is_of_the_text_that_is_there() -> None:
    """Of 1,000 the first 200 came in; the fact at 195 is among their last 10."""
    it = script(
        come(1, "r", 1_000, kind=Kind.TOOL_RESULT, facts=(Fact("k", at=195),), copy=True),
        settings=KEEP,
    )
    policy = acting({1: [stub("r", tokens=30, preview=(0, 10))]})
    policy.on_arrival = lambda view, segment: [Admit(200, "head")]  # type: ignore[attr-defined]
    assert told(play(it, policy), "rewrite")[0]["kept"] == ("k",)


PREVIEWS = script(come(1, "a", 30), come(1, "b", 30), turns=2)


@pytest.mark.parametrize(
    "action",
    [
        stub("a", preview=(3, 2)),  # 5 in a stub of 4
        stub("a", "b", preview=(1, 0)),  # of two
        stub("a", preview=(-1, 0)),
        stub("a", preview=(1.0, 0)),
        Rewrite(("a",), 4, True, "x", preview=(1, 0)),  # no stub
    ],
)
def test_a_preview_that_cannot_be_is_refused(action: Rewrite) -> None:
    with pytest.raises(InadmissibleAction, match="with a preview that cannot be of it"):
        play(PREVIEWS, acting({1: [action]}))
    assert window(play(PREVIEWS, acting({1: [action]}), strict=False)) == ("a", "b")


def test_of_a_surrogate_there_is_no_preview_but_nothing_can_be_shown_of_anything() -> None:
    first = {1: [Rewrite(("a",), 9, True, "x")]}
    with pytest.raises(InadmissibleAction):
        play(PREVIEWS, acting({**first, 2: [stub("s1", preview=(1, 0))]}))
    result = play(PREVIEWS, acting({**first, 2: [stub("s1", "b")]}))
    assert window(result) == ("s2",)


def test_a_stub_as_long_as_its_preview() -> None:
    assert window(play(PREVIEWS, acting({1: [stub("a", preview=(2, 2))]}))) == ("s1", "b")


# -- reveals -------------------------------------------------------------------------------


def hidden(*more: Any, turns: int = 3, **settings: Any) -> Script:
    """A note of 30 with a fact in front of one of 10."""
    return script(
        come(1, "a", 30, facts=("k",)), come(1, "b", 10), *more, turns=turns, settings=settings
    )


def test_what_was_hidden_stands_where_its_stub_stood() -> None:
    it = hidden(Query(2, "q2", "k", 0.5, ("a",)), Query(3, "q3", "k", 0.5, ("a",)))
    result = play(it, acting({2: [stub("a")], 3: [Reveal("s1")]}))
    assert window(result) == ("a", "b")
    assert outcomes(result) == [("abstained", "tagged"), ("correct", "full")]
    (record,) = told(result, "reveal")
    assert (record["stub"], record["segment"], record["before"], record["after"]) == (
        *("s1", "a"),
        *(4, 30),
    )
    figures = result.metrics
    # 30 for the stub of 4, then 4 for the 30: 34 rewritten, 4 and 30 came in their place
    assert (figures["rewritten_tokens"], figures["surrogate_tokens"]) == (34, 4)
    assert (figures["rehydrated_tokens"], figures["resident_tokens"]) == (30, 40)
    assert (figures["fetches"], figures["rewrites"], figures["edit_turns"]) == (0, 1, 2)
    assert result.ledger.why("a") == (
        ("a", "admitted", 1, "whole"),
        ("a", "rewritten", 2, "s1", True),
        ("s1", "revealed", 3, "a"),
    )


def test_a_pass_that_shows_again_removes_less_than_nothing() -> None:
    """b of the stub is 30 - 4, of the reveal 4 - 30."""
    result = play(hidden(), acting({2: [stub("a")], 3: [Reveal("s1")]}))
    assert [r["removed"] for r in told(result, "pass")] == [26, -26]


def test_a_reveal_breaks_the_prefix_where_it_stands() -> None:
    """40 written, then 14, then 40 again: the cache has the first request still."""
    result = play(hidden(), acting({2: [stub("a")], 3: [Reveal("s1")]}), MARKED)
    assert [(r["read"], r["written"]) for r in told(result, "call")] == [(0, 40), (0, 14), (40, 0)]


def test_what_is_hidden_together_stays_hidden() -> None:
    for actions in ([stub("a", "b"), Reveal("s1")], [Rewrite(("a",), 4, True, "x"), Reveal("s1")]):
        with pytest.raises(InadmissibleAction, match="hides no text of the log"):
            play(hidden(), acting({1: actions}))


def test_a_text_that_came_back_is_not_shown_twice() -> None:
    it = script(come(1, "a", 30, facts=("k",), copy=True), Query(1, "q", "k", 0.5, ("a",)), turns=2)
    with pytest.raises(InadmissibleAction, match="whose text is there"):
        play(it, acting({1: [stub("a")], 2: [Reveal("s1")]}))
    result = play(it, acting({1: [stub("a")], 2: [Reveal("s1")]}), strict=False)
    assert window(result) == ("s1", "a")


def test_what_came_back_and_left_again_is_shown_in_the_old_place() -> None:
    it = script(
        come(1, "a", 30, facts=("k",), copy=True),
        come(1, "b", 10),
        Query(1, "q", "k", 0.5, ("a",)),
        turns=3,
    )
    result = play(it, acting({1: [stub("a")], 2: [Evict("a", "x")], 3: [Reveal("s1")]}))
    assert window(result) == ("a", "b")


def test_a_hidden_surrogate_stands_for_its_source_again() -> None:
    it = hidden(Query(3, "q", "k", 0.5, ("a",)), **KEEP)
    actions = {1: [Rewrite(("a",), 9, True, "x")], 2: [stub("s1")], 3: [Reveal("s2")]}
    result = play(it, acting(actions))
    assert window(result) == ("s1", "b")
    assert outcomes(result) == [("correct", "kept")]


def test_a_result_comes_back_beside_its_call() -> None:
    it = script(*pair(1, "r", 30, copy=True), turns=3)
    result = play(it, acting({1: [stub("r")], 2: [Reveal("s1")], 3: [Evict("r", "x")]}))
    assert window(result) == ()
    assert [r["segment"] for r in told(result, "evict")] == ["r", "r.call"]


def test_pins_hold_what_is_shown_again() -> None:
    it = script(come(1, "a", 30, pinned=True), come(1, "b", 10), turns=3)
    policy = acting({1: [stub("a")], 2: [Reveal("s1")]}, declares=["ignores_pins"])
    result = play(it, policy)
    assert [r["pinned"] for r in told(result, "demand")] == [30, 0, 30]


def test_a_reveal_at_the_door_is_no_part_of_the_demand() -> None:
    """40 stood there and 50 come; that 26 more are shown again is the policy's own doing."""
    it = script(come(1, "a", 30), come(1, "b", 10), come(2, "c", 50))

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Reveal("s1")] if segment.id == "c" else []

    policy = acting({1: [stub("a")]}, on_arrival=on_arrival)
    assert [r["tokens"] for r in told(play(it, policy), "demand")] == [40, 14 + 50]


def test_an_append_only_history_shows_nothing_again() -> None:
    it = hidden(history="append-only")
    result = play(it, acting({1: [stub("a", whole=True)], 2: [Reveal("s1")]}), strict=False)
    assert [r["says"].split(",")[0] for r in told(result, "bug")] == ["a reveal of 's1'"]


# -- rereads -------------------------------------------------------------------------------


def test_a_harness_reads_anew_what_has_a_copy() -> None:
    """The newest content, at the end: the file was written to 50 tokens meanwhile."""
    it = script(
        come(1, "f", 30, kind=Kind.FILE, copy=True, path="f.py", facts=("k",)),
        come(1, "b", 10),
        Write(2, "f.py", 50),
        Query(3, "q", "k", 0.5, ("f",)),
    )
    result = play(it, acting({1: [Evict("f", "x")], 3: [Reread("f")]}))
    assert window(result) == ("b", "f")
    (decided,) = told(result, "rehydrate")
    assert (decided["how"], decided["by"], decided["tokens"]) == ("granted", "harness", 50)
    assert [(r["tokens"], r["version"], r["by"]) for r in told(result, "fetch")] == [
        (50, 1, "harness")
    ]
    assert (result.metrics["fetches"], result.metrics["rehydrated_tokens"]) == (1, 50)
    assert outcomes(result) == [("correct", "full")]
    assert [r["extra"] for r in told(result, "call")] == [False] * 3


def test_what_was_saved_can_be_read_anew() -> None:
    result = play(hidden(), acting({1: [stub("a", saves=True)], 2: [Reread("a")]}))
    assert window(result) == ("s1", "b", "a")


def test_a_reread_at_the_door_is_no_part_of_the_demand() -> None:
    it = script(come(1, "a", 30, copy=True), come(1, "b", 10), come(2, "c", 50))

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Reread("a")] if segment.id == "c" else []

    policy = acting({1: [Evict("a", "x")]}, on_arrival=on_arrival)
    assert [r["tokens"] for r in told(play(it, policy), "demand")] == [40, 60]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("b", "'b', which is there"),
        ("a", "'a', which has no copy"),
        ("c", "'c', which never entered"),
        ("s1", "'s1', which is no segment of the log"),
        ("z", "'z', which has not arrived"),
    ],
)
def test_what_cannot_be_read_anew_is_refused(name: str, says: str) -> None:
    it = script(
        come(1, "a", 30), come(1, "b", 10), come(1, "c", 5, copy=True), come(1, "d", 9, copy=True)
    )

    def on_arrival(view: Any, segment: Any) -> Any:
        return [Refuse("margin", 5)] if segment.id == "c" else []

    def before_call(view: Any) -> Any:
        return [Evict("a", "x"), Rewrite(("d",), 2, True, "x"), Evict("s1", "x"), Reread(name)]

    policy = Idle(before_call=before_call, on_arrival=on_arrival)
    with pytest.raises(InadmissibleAction, match=f"a reread of {says}"):
        play(it, policy)
