"""The harness: each action is checked, applied and booked, or refused and named."""

from __future__ import annotations

from typing import Any

import pytest

from sim.actions import Breakpoints, Evict, Refresh, Rewrite
from sim.errors import InadmissibleAction, PinRemoved
from sim.script import Query, WorldRefresh, Write
from sim.segments import Kind
from tests.sim.build import MARKED, Idle, acting, come, pair, play, script, told, window


def books(result: Any) -> tuple[int, int]:
    return result.metrics["evicted_copy_tokens"], result.metrics["evicted_dispensable_tokens"]


def test_an_eviction_goes_to_the_book_of_its_copy_with_the_reason_beside() -> None:
    it = script(come(1, "a", 30, copy=True), come(1, "b", 20))
    result = play(it, acting({1: [Evict("a", "bulk"), Evict("b", "untaggable")]}))
    assert [(r["segment"], r["book"], r["reason"]) for r in told(result, "evict")] == [
        ("a", "copy", "bulk"),
        ("b", "dispensable", "untaggable"),
    ]
    assert books(result) == (30, 20)
    assert (result.metrics["evictions"], result.metrics["edit_turns"]) == (2, 1)


@pytest.mark.parametrize("name", ["r", "r.call"])
def test_a_call_and_its_result_leave_together(name: str) -> None:
    result = play(script(*pair(1, "r", 30), come(1, "b", 5)), acting({1: [Evict(name, "x")]}))
    assert window(result) == ("b",)
    assert result.metrics["evictions"] == 2


def test_a_surrogate_that_leaves_is_attributed_by_its_sources() -> None:
    it = script(*(come(1, n, 30, copy=n != "c") for n in "abc"), turns=2)
    rewrites = [Rewrite(("a", "b"), 7, True, "x"), Rewrite(("c", "s1"), 3, True, "x")]
    copied = acting({1: rewrites[:1], 2: [Evict("s1", "x")]})
    assert books(play(it, copied)) == (7, 0)
    mixed = acting({1: rewrites, 2: [Evict("s2", "x")]})
    assert books(play(it, mixed)) == (0, 3)


def test_a_refresh_keeps_the_place_and_changes_the_size() -> None:
    it = script(
        come(1, "f", 10, kind=Kind.FILE, path="a.py", copy=True),
        come(1, "b", 5),
        Write(1, "a.py", 25),
        turns=2,
    )
    result = play(it, acting({2: [Refresh("f")]}))
    assert window(result) == ("f", "b")
    assert [(r["before"], r["after"], r["version"], r["by"]) for r in told(result, "refresh")] == [
        (10, 25, 1, "policy")
    ]
    figures = result.metrics
    assert (figures["refreshed_out_tokens"], figures["refreshed_in_tokens"]) == (10, 25)
    assert (figures["refreshes"], figures["fetches"], figures["edit_turns"]) == (1, 0, 0)
    assert figures["resident_tokens"] == 30


def test_only_what_is_stale_can_be_refreshed() -> None:
    it = script(come(1, "f", 10, kind=Kind.FILE, path="a.py"), come(1, "b", 5), Write(1, "a.py"))
    twice = acting({1: [Refresh("f"), Refresh("f")]})
    with pytest.raises(InadmissibleAction, match="refresh of f, which is not stale"):
        play(it, twice)
    for name in ("b", "ghost"):
        with pytest.raises(InadmissibleAction, match=name):
            play(it, acting({1: [Refresh(name)]}))


def test_the_world_refreshes_in_place_and_it_counts() -> None:
    it = script(
        come(1, "d", 50), come(1, "b", 5), WorldRefresh(2, "d", 30), WorldRefresh(2, "?", 1)
    )
    result = play(it)
    assert window(result) == ("d", "b")
    assert [(r["before"], r["after"], r["by"]) for r in told(result, "refresh")] == [
        (50, 30, "world")
    ]
    assert (result.metrics["refreshes"], result.metrics["resident_tokens"]) == (1, 35)


def test_what_the_world_changes_leaves_other_copies_behind() -> None:
    copies = [
        come(1, n, 10, kind=Kind.FILE, path="a.py", facts=("k",), copy=True, score=0.1)
        for n in "abc"
    ]
    it = script(*copies, WorldRefresh(2, "a", 30), Query(2, "q", "k", 0.1, ("b",)))
    result = play(it, acting({1: [Evict("c", "x")]}))
    assert [(r["version"], r["stale"]) for r in told(result, "write")] == [(1, ("a", "b"))]
    assert [r["segment"] for r in told(result, "missed")] == ["b"]
    assert told(result, "answer")[0]["segment"] == "a"  # the one that is current again
    absent = play(script(*copies, WorldRefresh(2, "c", 30)), acting({1: [Evict("c", "x")]}))
    assert told(absent, "write")[0]["stale"] == ("a", "b")
    assert absent.metrics["refreshes"] == 0


@pytest.mark.parametrize(
    ("actions", "says"),
    [
        ([Evict("ghost", "x")], "an eviction of 'ghost', which is not resident"),
        ([Evict("a", "x"), Evict("a", "x")], "an eviction of 'a', which is not resident"),
        ([Rewrite(("a", "ghost"), 2, True, "x")], "a rewrite of 'ghost', which is not resident"),
        ([Rewrite((), 2, True, "x")], "a rewrite of 0 segments"),
        ([Rewrite(("a",), 0, True, "x")], "into 0 tokens"),
        ([Rewrite(("a",), 1.5, True, "x")], "into 1.5 tokens"),  # type: ignore[arg-type]
        ([Breakpoints(("a",) * 5)], "5 breakpoints, more than the 4"),
        (["evict a"], "'evict a' is no action of the pass"),
        ([None], "None is no action of the pass"),
    ],
)
def test_what_cannot_be_applied_raises_or_is_refused_and_named(
    actions: list[Any], says: str
) -> None:
    it = script(come(1, "a", 30))
    with pytest.raises(InadmissibleAction) as caught:
        play(it, acting({1: actions}))
    assert says in str(caught.value)
    assert str(caught.value).startswith("idle, turn 1: ")
    result = play(it, acting({1: actions}), strict=False)
    assert result.metrics["policy_bugs"] == 1
    assert [r["rule"] for r in told(result, "bug")] == ["inadmissible action"]
    assert says in told(result, "bug")[0]["says"]


def test_a_pin_stays_unless_the_policy_declares_that_it_ignores_pins() -> None:
    it = script(come(1, "pin", 30, pinned=True), *pair(1, "r", 9, pinned=True), come(1, "b", 5))
    for name in ("pin", "r", "r.call"):
        with pytest.raises(PinRemoved):
            play(it, acting({1: [Evict(name, "x")]}))
        refused = play(it, acting({1: [Evict(name, "x")]}), strict=False)
        assert window(refused) == ("pin", "r.call", "r", "b")
        assert [r["rule"] for r in told(refused, "bug")] == ["pin removed"]
        applied = play(it, acting({1: [Evict(name, "x")]}, declares=["ignores_pins"]))
        assert name not in window(applied)
        assert [r["rule"] for r in told(applied, "breach")] == ["pin removed"]
        assert (applied.metrics["breaches"], applied.metrics["policy_bugs"]) == (1, 0)


def test_a_policys_own_pin_binds_it_too() -> None:
    pins = {"pins": lambda view, segment: segment.id == "a"}
    it = script(come(1, "a", 30), come(1, "b", 5))
    with pytest.raises(PinRemoved, match="which it pins itself"):
        play(it, acting({1: [Evict("a", "x")]}, **pins))
    result = play(it, acting({1: [Evict("b", "x")]}, **pins))
    assert told(result, "demand")[0]["pinned"] == 30


def test_pins_are_asked_for_anew_when_a_role_changes() -> None:
    """Pinned: the newest result of each tool, and files that a current diagnostic names."""

    def pins(view: Any, it: Any) -> bool:
        newest = it.tool is not None and view.roles.latest(it.tool) is it
        return newest or (it.kind is Kind.FILE and view.roles.named(it.path))

    held = []

    def before_call(view: Any) -> Any:
        held.append([s.id for s in view.window if s.held])
        return ()

    it = script(
        come(1, "f", 10, kind=Kind.FILE, path="a.py"),
        come(1, "g", 10, kind=Kind.FILE, path="b.py"),
        come(1, "r1", 9, kind=Kind.TOOL_RESULT, tool="lint", names=("a.py",)),
        come(2, "r2", 9, kind=Kind.TOOL_RESULT, tool="lint", names=("b.py",)),
        come(3, "r3", 9, kind=Kind.TOOL_RESULT, tool="tests"),
    )
    play(it, Idle(pins=pins, before_call=before_call))
    assert held == [["f", "r1"], ["g", "r2"], ["g", "r2", "r3"]]


@pytest.mark.parametrize("action", [Evict("ghost", "x"), Breakpoints(())])
def test_a_pass_that_never_ends_is_stopped(action: Any) -> None:
    def forever(view: Any) -> Any:
        while True:
            yield action

    result = play(script(come(1, "a", 30)), Idle(before_call=forever), strict=False)
    assert told(result, "bug")[-1]["says"] == "the pass does not end"
    assert result.metrics["status"] == "completed"


def test_actions_of_every_hook_are_booked_under_its_name() -> None:
    it = script(*(come(1, n, 5) for n in "abcdef"), Write(1, "p"), Query(1, "q", "k", 0.5, ()))
    hooks = {
        "on_write": lambda view, path: [Evict("a", "x")],
        "before_call": lambda view: [Evict("b", "x")],
        "after_turn": lambda view: [Evict("c", "x")],
    }
    result = play(it, Idle(**hooks))
    assert [(r["segment"], r["by"]) for r in told(result, "evict")] == [
        ("a", "on_write"), ("b", "pass"), ("c", "after_turn"),
    ]  # fmt: skip


def test_breakpoints_stand_until_put_otherwise() -> None:
    """Marked after a, then b is cut: 50 are read. Marked after x, which is gone: the end alone."""
    it = script(*(come(1, n, t) for n, t in (("a", 50), ("b", 30), ("c", 20))), turns=4)
    policy = acting({1: [Breakpoints(("a",))], 2: [Evict("b", "x")], 4: [Breakpoints(("b",))]})
    result = play(it, policy, MARKED)
    assert [(r["read"], r["written"]) for r in told(result, "call")] == [
        (0, 100),
        (50, 20),
        (70, 0),
        (70, 0),
    ]
