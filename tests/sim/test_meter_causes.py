"""What a request's tokens are due to: cases by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.actions import Breakpoints, Evict, Grant, Refresh, Restore, Rewrite
from sim.break_even import passes, pays_back
from sim.prices import CacheRules, Price
from sim.script import Change, KeepAlive, Query, Script, Wait, Write
from sim.segments import Kind
from tests.sim.build import MARKED, SPEED, Idle, acting, come, outcomes, play, script, told

AUTO = Price("auto", 2.0, 2.5, 0.2, 10.0, CacheRules("auto", ttl=300.0), SPEED)
"""Any prefix is found, token by token, for 300 s; 2.50 written, 0.20 read."""
LONG = replace(MARKED, rules=replace(MARKED.rules, long_ttl=3_600.0), long_write=4.0)
CLOCK = {"clock.turn_seconds": 20.0}


def due(found: Any, call: int = -1) -> dict[str, int]:
    """Return the tokens of one of a run's calls by cause."""
    return {cause: tokens for cause, tokens, _ in told(found, "call")[call]["causes"]}


def three(**more: Any) -> Script:
    """System 40, a 300, b 200 and c 100 in turn 1, d 10 in turn 2; 20 s a turn."""
    return script(
        come(1, "sys", 40, kind=Kind.SYSTEM),
        come(1, "a", 300),
        come(1, "b", 200, kind=Kind.FILE, path="b.py", copy=True, facts=("k",)),
        come(1, "c", 100),
        come(2, "d", 10),
        *more.pop("also", ()),
        settings={**CLOCK, **more.pop("settings", {})},
        **more,
    )


def test_what_is_appended_is_new_and_the_rest_is_read() -> None:
    found = play(three(), price=AUTO)
    assert (due(found, 0), due(found)) == ({"append": 640}, {"read": 640, "append": 10})
    assert found.metrics["append_cost_usd"] == pytest.approx(650 * 2.5e-6)
    assert found.metrics["read_cost_usd"] == pytest.approx(640 * 0.2e-6)
    assert (found.metrics["passes"], found.metrics["paid_back"]) == (0, 0)


def test_what_stands_behind_an_eviction_is_due_to_it() -> None:
    """a goes: the system is read, b and c are not; S is 300, b is 300."""
    found = play(three(), acting({2: [Evict("a", "x")]}), AUTO)
    assert due(found) == {"read": 40, "append": 10, "eviction": 300}
    assert told(found, "pass") == [
        {"type": "pass", "time": 20.0 + told(found, "pass")[0]["time"] % 20.0, "turn": 2}
        | {"removed": 300, "behind": 300, "broken": 300, "live": 640, "truncated": 0, "write": 2.5}
    ]


def test_what_is_lost_in_front_of_the_cut_is_broken_too() -> None:
    """Marks stand after the system and at the end: but for the cut all 640 would be read."""
    found = play(three(), acting({2: [Evict("b", "x")]}), MARKED)
    assert due(found) == {"read": 40, "append": 10, "eviction": 400}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"], cut["broken"], cut["live"]) == (200, 100, 400, 640)


def test_of_two_cuts_the_frontmost_bears_it_all() -> None:
    both = acting({2: [Evict("c", "x"), Rewrite(("a",), 12, True, "line", line=True)]})
    found = play(three(), both, AUTO)
    assert due(found) == {"read": 40, "append": 10, "rewrite": 12 + 200}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"]) == (100 + 300 - 12, 200)


def test_a_refresh_breaks_and_brings() -> None:
    refresh = Idle(on_write=lambda view, path: [Refresh("b")])
    found = play(three(also=[Write(2, "b.py", 250)]), refresh, AUTO)
    assert due(found) == {"read": 340, "append": 10, "refresh": 250 + 100}
    assert found.metrics["passes"] == 0


def test_what_had_expired_anyway_is_due_to_that() -> None:
    """After 400 s nothing is live: a cut costs nothing more."""
    cold = three(also=[Wait(2, 400.0)])
    assert due(play(cold, price=AUTO)) == {"append": 10, "expiry": 640}
    found = play(cold, acting({2: [Evict("a", "x")]}), AUTO)
    assert due(found) == {"append": 10, "expiry": 340}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"], cut["broken"], cut["live"]) == (300, 0, 0, 0)
    assert found.metrics["paid_back"] == 1


def test_what_the_rule_leaves_out_is_due_to_the_rule() -> None:
    """Steps of 128: 640 are kept whole of 640, and of 650 what is over 640 comes again."""
    steps = replace(AUTO, rules=CacheRules("auto", step=128, ttl=300.0))
    found = play(three(also=[come(3, "e", 5)]), price=steps)
    assert due(found, 1) == {"read": 640, "append": 10}
    assert due(found, 2) == {"read": 640, "append": 5, "rule": 10}
    least = replace(AUTO, rules=CacheRules("auto", minimum=1_000, ttl=300.0))
    assert due(play(three(), price=least)) == {"append": 10, "rule": 640}


def test_what_comes_back_is_due_to_its_coming() -> None:
    again = three(
        also=[Query(3, "q", "k", 0.9, ("b",))], settings={"clock.extra_call_seconds": 5.0}
    )
    found = play(again, acting({2: [Evict("b", "x")]}), AUTO)
    assert outcomes(found) == [("correct", "full")]
    assert due(found) == {"read": 450, "rehydration": 200}
    assert found.metrics["rehydration_cost_usd"] == pytest.approx(200 * 2.5e-6)


def test_the_backstop_is_a_cause_of_its_own() -> None:
    found = play(three(budget=640), price=AUTO, strict=False)
    assert due(found) == {"append": 10, "truncation": 600}
    assert told(found, "pass")[0]["truncated"] == 40


def test_a_summary_reads_what_is_cached_and_brings_itself() -> None:
    """The summary call reads 640 and computes d; then all but the system is the summary."""
    whole = Rewrite(("a", "b", "c", "d"), 30, True, "compaction", whole=True)
    found = play(three(), acting({2: [whole]}, declares=["spends"]), AUTO)
    (asked,) = told(found, "maintain")
    assert [(cause, n) for cause, n, _ in asked["causes"]] == [("append", 10), ("compaction", 640)]
    spent = {cause: usd for cause, _, usd in asked["causes"]}
    assert spent == pytest.approx({"append": 25e-6, "compaction": (128 + 300) * 1e-6})
    assert asked["usd"] == pytest.approx(sum(spent.values()))
    assert due(found) == {"read": 40, "compaction": 30}


@pytest.mark.parametrize(
    ("what", "read"), [("tools", 0), ("system", 0), ("effort", 40), ("tool_choice", 40)]
)
def test_a_change_breaks_from_where_it_comes_in(what: str, read: int) -> None:
    found = play(three(also=[Change(2, what, "other")]), price=AUTO)
    expected = {"read": read, "append": 10, "change": 640 - read}
    assert due(found) == {cause: n for cause, n in expected.items() if n}
    assert told(found, "pass") == []


def test_a_system_behind_tools_keeps_them() -> None:
    it = script(
        come(1, "tools", 70, kind=Kind.TOOLS),
        come(1, "sys", 40, kind=Kind.SYSTEM),
        come(1, "a", 300),
        Change(2, "system", "other"),
        settings=CLOCK,
    )
    assert due(play(it, price=AUTO)) == {"read": 70, "change": 340}


def test_a_value_that_returns_finds_its_prefix_again() -> None:
    """High at first, low in turn 2, high again in turn 3: what was stored as high is read."""
    also = [Change(2, "effort", "low"), Change(3, "effort", "default"), come(4, "e", 1)]
    found = play(three(also=also), price=AUTO)
    assert due(found, 1) == {"read": 40, "append": 10, "change": 600}
    assert due(found, 2) == {"read": 640, "change": 10}
    assert due(found, 3) == {"read": 650, "append": 1}
    same = play(three(also=[Change(2, "effort", "default")]), price=AUTO)
    assert due(same) == {"read": 640, "append": 10}


def test_a_ping_reads_the_prefix_and_keeps_it_alive() -> None:
    """400 s with a ping after 150 and 300: each reads 640 at 0.20 and says one token at 10."""
    kept = three(also=[Wait(2, 400.0), KeepAlive(2, 150.0)])
    found = play(kept, price=AUTO)
    assert due(found) == {"read": 640, "append": 10}
    pings = told(found, "ping")
    assert [(p["tokens"], p["read"], p["output"]) for p in pings] == [(640, 640, 1)] * 2
    assert [p["time"] - pings[0]["time"] for p in pings] == [0.0, 150.0]
    assert [p["usd"] for p in pings] == pytest.approx([138e-6] * 2)
    assert pings[0]["causes"] == (("keep-alive", 640, pytest.approx(138e-6)),)
    metrics = found.metrics
    assert (metrics["pings"], metrics["calls"], metrics["input_tokens"]) == (2, 2, 1_290)
    assert metrics["maintenance_cost_usd"] == pytest.approx(276e-6)


def test_no_ping_without_a_request_nor_at_the_end_of_the_wait() -> None:
    first = three(also=[Wait(1, 400.0), KeepAlive(1, 100.0)])
    assert told(play(first, price=AUTO), "ping") == []
    last = three(also=[Wait(2, 200.0), KeepAlive(2, 200.0)])
    assert told(play(last, price=AUTO), "ping") == []


def test_a_ping_that_comes_too_late_pays_for_all() -> None:
    late = three(also=[Wait(2, 700.0), KeepAlive(2, 350.0)])
    (ping,) = told(play(late, price=AUTO), "ping")
    assert [(cause, n) for cause, n, _ in ping["causes"]] == [("keep-alive", 0), ("expiry", 640)]


def test_a_change_makes_the_summary_dear() -> None:
    whole = Rewrite(("a", "b", "c", "d"), 30, True, "compaction", whole=True)
    it = three(also=[Change(2, "tools", "other")])
    found = play(it, acting({2: [whole]}, declares=["spends"]), AUTO)
    (asked,) = told(found, "maintain")
    assert [(cause, n) for cause, n, _ in asked["causes"]] == [
        ("append", 10), ("compaction", 0), ("change", 640)
    ]  # fmt: skip


def test_the_longer_life_is_dearer_and_longer() -> None:
    """The first of two marks, after the system, lives an hour: 400 s later it alone is read."""
    it = three(also=[Wait(2, 400.0)], settings={"cache.long": 1})
    found = play(it, price=LONG)
    assert due(found) == {"read": 40, "append": 10, "expiry": 600}
    calls = told(found, "call")
    assert calls[0]["usd"] == pytest.approx((40 * 4.0 + 600 * 2.5) * 1e-6)
    assert calls[1]["usd"] == pytest.approx((40 * 0.2 + 610 * 2.5) * 1e-6)


def test_an_append_only_history_takes_no_edit() -> None:
    it = three(settings={"history": "append-only"})
    found = play(it, acting({2: [Evict("a", "x")]}), AUTO, strict=False)
    assert (found.metrics["policy_bugs"], found.metrics["evictions"]) == (1, 0)
    whole = Rewrite(("a", "b", "c", "d"), 30, True, "compaction", whole=True)
    done = play(it, acting({2: [whole]}, declares=["spends"]), AUTO)
    assert (done.metrics["policy_bugs"], done.metrics["rewrites"]) == (0, 1)


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (Evict("a", "x"), "an eviction of 'a'"),
        (Rewrite(("a", "b"), 12, True, "x"), "a rewrite of 'a'"),
        (Rewrite(("a",), 12, True, "x", stub=True), "a rewrite of 'a'"),
        (Refresh("a"), "a refresh of 'a'"),
        (Restore("a", "k", 9), "a restoration of 'a'"),
    ],
    ids=str,
)
def test_an_edit_of_an_append_only_history_is_named(edit: Any, what: str) -> None:
    it = three(settings={"history": "append-only"})
    found = play(it, acting({2: [edit]}), AUTO, strict=False)
    (bug,) = told(found, "bug")
    assert (bug["rule"], bug["segment"], bug["tokens"]) == ("inadmissible action", "a", 300)
    assert bug["says"] == f"{what}, though the history may only be appended to or compacted"


def test_breakpoints_are_recorded_when_they_move() -> None:
    """After a and at the end from turn 2 on: a's own prefix is found once b has gone."""
    marks = Breakpoints(("a",), 0)
    policy = acting({1: [marks], 2: [marks, Evict("b", "x")], 3: [Breakpoints(())]})
    found = play(three(also=[come(3, "e", 5)]), policy, MARKED)
    assert [(r["turn"], r["after"], r["long"]) for r in told(found, "breakpoints")] == [
        (1, ("a",), 0),
        (3, (), 0),
    ]
    assert due(found, 1) == {"read": 340, "append": 10, "eviction": 100}
    (cut,) = told(found, "pass")
    assert (cut["behind"], cut["broken"]) == (100, 100)


# -- break-even ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("removed", "behind", "calls", "ratio", "pays"),
    [
        (100, 71, 36, 49.0, True),  # 71 · 49 / 100 = 34.79 calls are needed
        (100, 71, 34, 49.0, False),
        (100, 0, 1, 49.0, True),
        (0, 0, 9, 1.0, False),
        (100, 100, 9, 9.0, False),  # exactly even is not more
        (100, 100, 10, 9.0, True),
    ],
)
def test_the_rule(removed: int, behind: int, calls: int, ratio: float, pays: bool) -> None:
    assert pays_back(removed, behind, calls, 1.0, 1.0 + ratio) is pays


def test_a_pass_and_what_came_of_it() -> None:
    """b goes in turn 2 of 4 and is asked for in turn 3: b·L·r = 200 · 4 · 0.2 = 160 millionths.

    Calls to go: turns 2, 3, the extra call and turn 4. S is c, 100: 100 · 2.3 = 230. The 200 that
    come back are written once and read once more, 540; the extra call reads 450 and writes an
    answer of its own.
    """
    also = [Query(3, "q", "k", 0.9, ("b",)), come(4, "e", 1)]
    settings = {"clock.extra_call_seconds": 5.0, "call.output_tokens": 7}
    found = play(three(also=also, settings=settings), acting({2: [Evict("b", "x")]}), AUTO)
    (cut,) = passes(found.records)
    assert (cut.turn, cut.removed, cut.behind, cut.calls) == (2, 200, 100, 4)
    assert (cut.refetches, cut.refetched) == (1, 200)
    assert cut.saved_usd == pytest.approx(160e-6)
    assert cut.lost_usd == pytest.approx(230e-6)
    assert cut.refetch_usd == pytest.approx((200 * 2.7 + 450 * 0.2 + 7 * 10.0) * 1e-6)
    assert cut.paid_back is False
    assert cut.pays_at(7.9) and not cut.pays_at(8.0)
    assert found.metrics["paid_back"] == 0


def test_where_nothing_is_paid_nothing_pays_back() -> None:
    free = replace(AUTO, input=0.0, write=0.0, read=0.0, output=0.0)
    found = play(three(), acting({2: [Evict("a", "x")]}), free)
    assert (found.metrics["passes"], found.metrics["paid_back"]) == (1, None)


# -- what else can break the prefix, or come back -----------------------------------------------


def test_a_removal_behind_a_change_breaks_nothing_more() -> None:
    """Other tools: all 640 are computed again anyway, and b leaves for nothing."""
    it = three(also=[Change(2, "tools", "other")])
    found = play(it, acting({2: [Evict("b", "x")]}), AUTO)
    assert due(found) == {"append": 10, "change": 440}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"], cut["broken"], cut["live"]) == (200, 0, 0, 640)
    assert found.metrics["paid_back"] == 1


def test_a_removal_behind_a_refresh_breaks_nothing_more() -> None:
    """b is refreshed, c behind it goes: the refresh broke the prefix in front of it."""
    policy = acting({2: [Evict("c", "x")]})
    policy.on_write = lambda view, path: [Refresh("b")]
    found = play(three(also=[Write(2, "b.py", 250)]), policy, AUTO)
    assert due(found) == {"read": 340, "append": 10, "refresh": 250}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"], cut["broken"]) == (100, 0, 0)


def test_a_removal_in_front_of_a_refresh_bears_what_stays() -> None:
    """a goes in front of b, which is refreshed: of what would have been read only c stays."""
    policy = acting({2: [Evict("a", "x")]})
    policy.on_write = lambda view, path: [Refresh("b")]
    found = play(three(also=[Write(2, "b.py", 250)]), policy, AUTO)
    assert due(found) == {"read": 40, "append": 10, "refresh": 250, "eviction": 100}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"]) == (300, 100)


def test_calls_so_far_are_neither_pings_nor_summaries() -> None:
    """Two pings and a summary later, the pass of turn 3 follows two calls."""
    seen: dict[int, int] = {}
    whole = Rewrite(("a", "b", "c"), 30, True, "compaction", whole=True)

    def before_call(view: Any) -> Any:
        seen[view.turn] = view.cache.calls
        return [whole] if view.turn == 2 else []

    kept = three(also=[Wait(2, 400.0), KeepAlive(2, 150.0), come(3, "e", 1)])
    play(kept, Idle(before_call=before_call, declares=["spends"]), AUTO)
    assert seen == {1: 0, 2: 1, 3: 2}


def test_what_never_was_in_a_request_breaks_nothing() -> None:
    found = play(three(), acting({2: [Evict("d", "x")]}), AUTO)
    assert due(found) == {"read": 640}
    (cut,) = told(found, "pass")
    assert (cut["removed"], cut["behind"], cut["live"]) == (10, 0, 640)


def test_where_all_breakpoints_ask_for_the_longer_life_writing_costs_that() -> None:
    """Both marks live an hour: 4.00 written, so R is 19; with one of them, w is 2.50."""
    evict = {2: [Evict("a", "x")]}
    for long, write, ratio in ((2, 4.0, 19.0), (1, 2.5, 11.5)):
        found = play(three(settings={"cache.long": long}), acting(evict), LONG)
        (cut,) = passes(found.records)
        assert (cut.write, (cut.write - 0.2) / 0.2) == (write, pytest.approx(ratio))
        assert cut.lost_usd == pytest.approx(300 * (write - 0.2) * 1e-6)


def swapping(displaced: dict[str, tuple[str, ...]], **more: Any) -> Idle:
    """Return a policy whose gate lets everything in, for what it displaces by name."""
    return Idle(
        on_rehydrate=lambda view, segment: Grant("swap", displaced.get(segment.id, ())), **more
    )


def moved() -> Any:
    """b leaves in turn 2; in turn 3 it comes back for c, and c is asked for and comes, too.

    Answers have 20 tokens at 10.
    """
    it = script(
        come(1, "sys", 40, kind=Kind.SYSTEM),
        come(1, "a", 300),
        come(1, "c", 100, kind=Kind.FILE, copy=True, facts=("m",)),
        come(1, "b", 200, kind=Kind.FILE, copy=True, facts=("k",)),
        Query(3, "q", "k", 0.9, ("b",)),
        Query(3, "r", "m", 0.1, ("c",)),
        come(4, "e", 1),
        settings={**CLOCK, "clock.extra_call_seconds": 5.0},
    )
    policy = swapping({"b": ("c",)})
    todo = {2: [Evict("b", "x")]}
    policy.before_call = lambda view: todo.pop(view.turn, ())
    return play(it, policy, AUTO)


def test_what_left_and_came_back_between_two_requests_has_come_anew() -> None:
    """c, sent in turn 3 and swapped out, stands behind b in the extra call: both were brought."""
    found = moved()
    assert outcomes(found) == [("correct", "full"), ("correct", "gone, fetched")]
    assert due(found, 3) == {"read": 340, "rehydration": 300}
    assert due(found) == {"read": 640, "append": 1}


def test_a_pass_pays_for_what_came_back_before_its_own_request() -> None:
    """The extra call reads 340 and answers; both that it was for pay for half of that.

    What came is written once and then read once, in turn 4.
    """
    first, second = passes(moved().records)
    assert [(p.turn, p.removed, p.refetches, p.refetched) for p in (first, second)] == [
        (2, 200, 1, 200),
        (3, 100, 1, 100),
    ]
    shared = (340 * 0.2 + 20 * 10) / 2
    assert first.refetch_usd == pytest.approx((200 * 2.7 + shared) * 1e-6)
    assert second.refetch_usd == pytest.approx((100 * 2.7 + shared) * 1e-6)


def test_what_is_thrown_out_again_is_never_written() -> None:
    """b comes back in turn 3 and leaves before the extra call: 2 calls to go, read at each.

    What the second pass removed, b once more, saves as much: nothing was won or lost but the extra
    call, which reads 450 and answers.
    """
    also = [Query(3, "q", "k", 0.9, ("b",)), come(4, "e", 1)]
    todo = [[Evict("b", "x")], [], [Evict("b", "y")]]
    policy = Idle(before_call=lambda view: todo.pop(0) if view.turn > 1 and todo else ())
    found = play(three(also=also, settings={"clock.extra_call_seconds": 5.0}), policy, AUTO)
    assert outcomes(found) == [("deferred", "thrown out")]
    first, second = passes(found.records)
    assert (first.refetches, second.removed, second.calls, second.behind) == (1, 200, 2, 0)
    assert first.refetch_usd == pytest.approx((200 * 2 * 0.2 + 450 * 0.2 + 20 * 10) * 1e-6)
    assert second.saved_usd == pytest.approx(200 * 2 * 0.2e-6)
