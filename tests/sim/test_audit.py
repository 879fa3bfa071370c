"""The second reckoning against records whose window, books and chains were worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from sim.actions import Refresh, Rewrite
from sim.audit import Recount, audit
from sim.errors import AuditError
from sim.metrics import measure
from sim.records import FIELDS, Record
from sim.script import Act, Write
from sim.segments import Fact
from tests.sim.build import acting, come, play, script
from tests.support.diary import Diary


def everything() -> list[Record]:
    """Every way in and out once, four turns, budget 1,000.

    | turn | what | window after |
    |---|---|---|
    | 1 | system 100*, task 50*, file 300, raw result 500 cut to 200 | 650 |
    | 2 | note 400 refused, span 120 comes: 1,170 demanded | 770 |
    |   | the file is rewritten to 12; call | 100 50 12 200 120 = 482 |
    |   | the file is fetched, its surrogate evicted; extra call | 100 50 200 120 300 = 770 |
    | 3 | dump 500 comes: 1,270; backstop cuts system, task, result: 350 | 120 300 500 = 920 |
    |   | span rewritten, untagged, to 20; call at 820; restored as 40 | 40 300 500 = 840 |
    |   | the file is written | |
    | 4 | the file is refreshed, 300 → 310; call | 850 |
    """
    d = Diary(declares=("untagged",))
    d.turn()
    d.come("sys", 100, kind="system", pinned=True).come("task", 50, kind="task", pinned=True)
    d.come("file", 300, kind="file", copy=True, path="a.py", facts=("fact",))
    d.arrive("res", 500, kind="tool_result").admit("res", 200, "reduced", 300)
    d.demand(650, 150).call(650)
    d.turn()
    d.arrive("note", 400, kind="note").refuse("note", 400, displaced=("file",))
    d.come("span", 120, facts=("other",))
    d.demand(1_170, 150)
    d.rewrite("s1", ("file",), 300, 12)
    d.call(482, 150)
    d.score("file", 0.1, 0.9, True).missed("file", 300, "q1")
    d.rehydrate("file", 300).fetch("file", 300)
    d.evict("s1", 12, "copy")
    d.call(770, 350, extra=True)
    d.answer("q1", "file")
    d.turn()
    d.come("dump", 500)
    d.demand(1_270, 150)
    d.truncate("sys", 100, pinned=True).truncate("task", 50, pinned=True).truncate("res", 200)
    d.rewrite("s2", ("span",), 120, 20, tagged=False)
    d.breach("untagged rewrite", "s2")
    d.call(820)
    d.missed("span", 120, "q2").answer("q2", "span", "confabulated", "other")
    d.restore("s2", "x1", 20, 40, "other")
    d.act("a1", ("task", "file"), ("task",))
    d.write("a.py", 1, ("file",))
    d.turn().refresh("file", 300, 310, 1, "policy").demand(850, 0).call(850)
    return d.end("x1", "file", "dump")


def test_window_after_every_record() -> None:
    totals = {}
    recount = Recount()
    for record in everything():
        recount.add(record)
        totals[record[0], record[2]] = sum(tokens for _, tokens in recount.window)
    assert recount.window == (("x1", 40), ("file", 310), ("dump", 500))
    assert [totals["call", turn] for turn in (1, 2, 3, 4)] == [650, 770, 820, 850]
    assert totals["rewrite", 2] == 482
    assert totals["restore", 3] == 840


def test_rewrite_keeps_the_place_of_the_front_most_source() -> None:
    d = Diary().turn()
    for name in "abcde":
        d.come(name, 10)
    d.rewrite("s1", ("d", "b"), 20, 5)
    d.rewrite("s2", ("e", "a"), 20, 4)
    recount = Recount()
    for record in d.records:
        recount.add(record)
    assert recount.window == (("s2", 4), ("s1", 5), ("c", 10))


def test_books_of_everything() -> None:
    books = audit(everything()).books
    # admitted: 100 + 50 + 300 + 200 + 120 + 500; surrogates 12 + 20; x1 40; the file twice
    assert books == {
        "admitted_tokens": 1_270,
        "surrogate_tokens": 32,
        "fabricated_tokens": 40,
        "refreshed_in_tokens": 310,
        "rehydrated_tokens": 300,
        "evicted_copy_tokens": 12,
        "evicted_dispensable_tokens": 0,
        "rewritten_tokens": 300 + 120 + 20,
        "refreshed_out_tokens": 300,
        "truncated_tokens": 350,
        "never_admitted_tokens": 300 + 400,
        "resident_tokens": 850,
    }


def test_metrics_of_everything() -> None:
    """Of the passes the second and third pay back, at 2.50 written and 0.20 read.

    First: 288 · 4 · 0.2 against a file of 300 that comes back: more. Second: 12 · 3 · 0.2 against
    nothing. Third: 450 · 2 · 0.2. Fourth: invented text has made the window larger.
    """
    metrics = audit(everything()).metrics()
    expected = {
        "queries": 2,
        "correct": 1,
        "stale": 0,
        "confabulated": 1,
        "abstained": 0,
        "deferred": 0,
        "acts": 1,
        "violations": 1,
        "confabulation_rate": 0.5,
        "first_confabulation_turn": 3,
        "repeated_attempts": 0,
        "attempts": 0,
        "peak_tokens": 850,
        "peak_demand_tokens": 1_270,
        "mean_tokens": (650 + 482 + 770 + 820 + 850) / 5,
        "peak_share": 0.85,
        "calls": 5,
        "input_tokens": 3_572,
        "cached_tokens": 500,
        "written_tokens": 0,
        "plain_tokens": 3_072,
        "output_tokens": 5 * 10 + 12 + 20,
        "prefill_cost_usd": 2.5,
        "maintenance_cost_usd": 0.25,
        "total_cost_usd": 5 * 0.75 + 0.25,
        "prefill_seconds": 10.0,
        "cache_hit_rate": 500 / 3_572,
        "missed_tokens": 420,
        "evictions": 1,
        "rewrites": 2,
        "refreshes": 1,
        "fetches": 1,
        "rehydrated_slack": 0,
        "rehydrated_swap": 0,
        "rehydrated_refused": 0,
        "edit_turns": 2,
        "reversals": 1,
        "policy_bugs": 3,
        "breaches": 1,
        "pins_lost": 2,
        "turns": 4,
        "passes": 4,
        "paid_back": 2,
        "pings": 0,
        "read_cost_usd": 0.5,
        "append_cost_usd": 2.0,
        "eviction_cost_usd": 0.0,
        "resident_tokens": 850,
        "never_admitted_tokens": 700,
        "status": "completed",
        "reason": None,
    }
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)


def test_waits_for_a_slot() -> None:
    d = Diary().turn().come("a", 50).put("queue", 1.5).call(50)
    d.turn().put("queue", 0.25).call(50)
    assert audit(d.end("a")).metrics()["queue_seconds"] == 1.75


def queued(*seconds: float, then: bool = True) -> Diary:
    d = Diary().turn().come("a", 50)
    for wait in seconds:
        d.put("queue", wait)
    return d.call(50) if then else d


@pytest.mark.parametrize(
    ("records", "says"),
    [
        (lambda: queued(0.0).end("a"), "no request can have waited 0.0 s"),
        (lambda: queued(-1.0).end("a"), "a wait is a number from 0 on"),
        (lambda: queued(99.0).end("a"), "no request can have waited 99.0 s at"),
        (lambda: queued(1.0, 1.0).end("a"), "waited before was never sent"),
        (lambda: queued(1.0, then=False).end("a"), "waited was never sent"),
    ],
)
def test_a_wait_that_cannot_be(records: Any, says: str) -> None:
    with pytest.raises(AuditError, match=says):
        audit(records())


def test_an_act_may_read_what_a_newer_version_states_from_its_surrogate() -> None:
    """The file states nothing when it comes; its next version does, and a surrogate keeps that."""
    it = script(
        come(1, "a", 30, path="a.py", copy=True),
        Write(2, "a.py", None, (Fact("k", "v", "p"),)),
        Act(3, "t", ("a",)),
        settings={"surrogate.keep": 1.0},
    )
    actions = {2: [Refresh("a")], 3: [Rewrite(("a",), 5, True, "x")]}
    assert play(it, acting(actions)).metrics["violations"] == 0


def test_a_summary_may_be_asked_for_with_the_whole_window() -> None:
    d = Diary().turn().come("a", 50).come("b", 50).maintain("s", 100, 80, 5, 0.5)
    d.put("rewrite", "s", ("b",), 50, 5, True, (), "compaction", "pass", True).call(55)
    metrics = audit(d.end("a", "s")).metrics()
    assert (metrics["maintenance_cost_usd"], metrics["output_tokens"]) == (0.5, 15)
    assert (metrics["calls"], metrics["input_tokens"]) == (1, 55)


def compacted() -> list[Record]:
    """A summary, a failure, a stub shown again and a reread, budget 1,000, window sys, a, b, c.

    | turn | what | window after |
    |---|---|---|
    | 1 | system 100*, file 200 (a copy), spans 300 and 50; call at 650 | 100 200 300 50 |
    | 2 | b is asked about in vain; b and c become s1 of 40, where c stood, and are saved | 340 |
    |   | the file becomes a stub of 10; call at 150 | 100 10 40 |
    | 3 | the file is shown again, b read anew; call at 640 | 100 200 40 300 |
    """
    d = Diary(declares=("ignores_pins",))
    d.turn().come("sys", 100, kind="system", pinned=True)
    d.come("a", 200, kind="file", copy=True, path="a.py")
    d.come("b", 300, facts=("kb",)).come("c", 50, facts=("kc", "other")).demand(650, 100).call(650)
    d.turn().demand(650, 100)
    d.wasted("failed", ("b", "c"), 360, 0, 40, 0.25, (("rewrite", 360, 0.25),))
    d.wasted("overflow", ("b", "c"), 0, 0, 0, 0.0, ())
    given = {"kept": ("kb", "kc"), "made_up": ("kb",), "unseen": ("kb",)}
    d.summarised("s1", ("b", "c"), 350, 40, sent=60, written=80, saved=True, last=True, **given)
    d.stub("s2", "a", 200, 10).call(150)
    d.turn().reveal("s2", "a", 10, 200)
    d.rehydrate("b", 300, by="harness").fetch("b", 300, by="harness")
    d.demand(640, 100).call(640)
    return d.end("sys", "a", "s1", "b")


def test_summaries_reveals_and_rereads_are_booked() -> None:
    reckoned = audit(compacted())
    metrics = reckoned.metrics()
    assert reckoned.window == (("sys", 100), ("a", 200), ("s1", 40), ("b", 300))
    # 350 and 200 rewritten, then the stub of 10; the file's 200 and b's 300 came back
    assert reckoned.books["rewritten_tokens"] == 560
    assert reckoned.books["surrogate_tokens"] == 50
    assert reckoned.books["rehydrated_tokens"] == 500
    assert (metrics["fetches"], metrics["rewrites"], metrics["edit_turns"]) == (1, 2, 2)
    # three calls of 10, two drafts of 40, a failure of 40
    assert metrics["output_tokens"] == 30 + 80 + 40
    assert metrics["maintenance_cost_usd"] == pytest.approx(0.25 + 0.125)
    assert reckoned.why("a")[-1] == ("s2", "revealed", 3, "a")
    assert [entry[1] for entry in reckoned.why("b")] == ["admitted", "rewritten", "fetched"]


def test_the_books_of_a_reveal_are_those_of_the_metrics() -> None:
    records = compacted()
    measured, metrics = measure(records), audit(records).metrics()
    for name in ("rewritten_tokens", "surrogate_tokens", "rehydrated_tokens", "resident_tokens"):
        assert measured[name] == metrics[name]
    assert measured["maintenance_cost_usd"] == pytest.approx(metrics["maintenance_cost_usd"])


def test_every_wrong_size_of_a_summary_is_noticed() -> None:
    """One token more in any place where a record says how many moved, or were sent for it."""
    sized = {
        "reveal": (2, 3),
        "rewrite": (2, 3),
        "fetch": (1,),
        "maintain": (1, 3),
        "summary": (1,),
    }
    records = compacted()
    for at, record in enumerate(records):
        for field in sized.get(record[0], ()):
            wrong = list(record)
            wrong[3 + field] += 1
            with pytest.raises(AuditError):
                audit([*records[:at], tuple(wrong), *records[at + 1 :]])


def test_a_summary_cannot_be_left_out_or_doubled() -> None:
    records = compacted()
    for at, record in enumerate(records):
        if record[0] in ("reveal", "summary", "maintain"):
            for corrupted in (records[:at] + records[at + 1 :], records[: at + 1] + records[at:]):
                with pytest.raises(AuditError):
                    audit(corrupted)


def test_the_place_of_a_summary_is_what_its_record_says() -> None:
    wider = Diary().turn().come("a", 50).come("x", 9).come("b", 50)
    wider.summarised("s", ("a", "b"), 100, 9, sent=100, last=True).call(18)
    with pytest.raises(AuditError, match="position 0 of the window holds 'x'"):
        audit(wider.end("s", "x"))


def test_a_reveal_or_a_fetch_at_the_door_is_no_part_of_the_demand() -> None:
    # 30 and 10 of stub stand there when 50 come; at the door 200 are shown again, 40 read anew
    d = Diary().turn().come("a", 200).come("b", 40, copy=True).come("c", 30).call(270)
    d.turn().stub("s", "a", 200, 10).evict("b", 40, "copy").call(40)
    d.turn().arrive("z", 50).reveal("s", "a", 10, 200)
    d.rehydrate("b", 40, by="harness").fetch("b", 40, by="harness").admit("z", 50)
    d.demand(90, 0).call(320)
    assert audit(d.end("a", "c", "b", "z")).metrics()["peak_demand_tokens"] == 90


def test_a_file_that_was_rewritten_may_state_what_its_summary_keeps() -> None:
    """What its newer version states is not in the records: the invention may have become true."""
    d = Diary().turn().come("a", 50, path="x").come("b", 50)
    d.summarised("s", ("b",), 50, 9, sent=50, kept=("k",), made_up=("k",)).call(59)
    d.turn().write("x", 1, ("a",)).refresh("a", 50, 50, 1, "policy")
    d.summarised("t", ("a", "s"), 59, 9, sent=59, kept=("k",)).call(9)
    audit(d.end("t"))


def test_rates_without_denominator_are_null() -> None:
    d = Diary(budget=100).turn().come("pin", 200, pinned=True).demand(200, 200)
    metrics = audit(d.end("pin", status="failed", reason="pins")).metrics()
    for rate in ("confabulation_rate", "first_confabulation_turn", "mean_tokens", "cache_hit_rate"):
        assert metrics[rate] is None
    assert (metrics["calls"], metrics["turns"], metrics["reason"]) == (0, 1, "pins")


def test_why_of_everything() -> None:
    reckoned = audit(everything())
    assert reckoned.why("sys") == (("sys", "admitted", 1, "whole"), ("sys", "truncated", 3))
    assert reckoned.why("res") == (("res", "admitted", 1, "reduced"), ("res", "truncated", 3))
    assert reckoned.why("note") == (("note", "never-admitted", 2, "margin"),)
    assert reckoned.why("file") == (
        ("file", "admitted", 1, "whole"),
        ("file", "rewritten", 2, "s1", True),
        ("file", "fetched", 2),
    )
    assert reckoned.why("s1") == (("s1", "evicted", 2, "copy", "lowest"),)
    assert reckoned.why("span") == (
        ("span", "admitted", 2, "whole"),
        ("span", "rewritten", 3, "s2", False),
        ("s2", "restored", 3, "x1"),
    )
    assert reckoned.why("x1") == ()
    with pytest.raises(KeyError, match="s41"):
        reckoned.why("s41")


def test_why_goes_on_with_the_surrogate_until_the_segment_is_back() -> None:
    # admitted turn 1 → rewritten turn 2 as s1 → s1 rewritten turn 3 as s2 → s2 evicted turn 4
    # → fetched turn 4 → evicted turn 5
    d = Diary().turn().come("a", 100, copy=True).call(100)
    d.turn().rewrite("s1", ("a",), 100, 20).call(20)
    d.turn().come("b", 50).rewrite("s2", ("s1", "b"), 70, 10).call(10)
    d.turn().evict("s2", 10).call(0)
    d.rehydrate("a", 100).fetch("a", 100).call(100, extra=True)
    d.turn().evict("a", 100, "copy").call(0)
    reckoned = audit(d.end())
    assert reckoned.why("a") == (
        ("a", "admitted", 1, "whole"),
        ("a", "rewritten", 2, "s1", True),
        ("s1", "rewritten", 3, "s2", True),
        ("s2", "evicted", 4, "dispensable", "lowest"),
        ("a", "fetched", 4),
        ("a", "evicted", 5, "copy", "lowest"),
    )
    assert reckoned.why("s1") == (
        ("s1", "rewritten", 3, "s2", True),
        ("s2", "evicted", 4, "dispensable", "lowest"),
    )


def test_why_leaves_out_what_befalls_the_surrogate_after_a_fetch() -> None:
    d = Diary().turn().come("a", 100, copy=True).rewrite("s1", ("a",), 100, 20).call(20)
    d.rehydrate("a", 100).fetch("a", 100).call(120, extra=True)
    d.turn().evict("s1", 20, "copy").call(100)
    chain = audit(d.end("a")).why("a")
    assert [entry[1] for entry in chain] == ["admitted", "rewritten", "fetched"]


def test_never_admitted_is_booked_once_and_admission_comes_later() -> None:
    d = Diary().turn().come("sys", 10)
    d.arrive("r", 90, kind="tool_result", copy=True).refuse("r", 90).demand(100, 0).call(10)
    d.turn().call(10).refuse("r", 0)
    d.turn().call(10).admit("r", 90).call(100, extra=True)
    reckoned = audit(d.end("sys", "r"))
    assert reckoned.books["never_admitted_tokens"] == 90
    assert reckoned.metrics()["fetches"] == 0
    assert [entry[1] for entry in reckoned.why("r")] == [
        "never-admitted",
        "never-admitted",
        "admitted",
    ]


def test_a_surrogate_is_a_copy_only_if_every_source_has_one() -> None:
    def with_copies(a: bool, b: bool, book: str) -> list[Record]:
        d = Diary().turn().come("a", 50, copy=a).come("b", 50, copy=b)
        return d.rewrite("s1", ("a", "b"), 100, 10).evict("s1", 10, book).call(0).end()

    assert audit(with_copies(True, True, "copy")).books["evicted_copy_tokens"] == 10
    assert audit(with_copies(True, False, "dispensable")).books["evicted_dispensable_tokens"] == 10
    with pytest.raises(AuditError, match="no external copy"):
        audit(with_copies(True, False, "copy"))
    with pytest.raises(AuditError, match="has external copy"):
        audit(with_copies(True, True, "dispensable"))


def test_a_world_refresh_of_an_absent_segment_moves_nothing() -> None:
    d = Diary().turn().come("a", 50).evict("a", 50).refresh("a", 0, 0, 1, "world").call(0)
    reckoned = audit(d.end())
    assert reckoned.metrics()["refreshes"] == 0
    assert reckoned.books["refreshed_in_tokens"] == 0


def test_a_copy_is_stale_once_its_path_has_a_newer_version() -> None:
    d = Diary().turn().come("a", 50, path="x").come("b", 50, path="x").demand(100, 0).call(100)
    d.turn().refresh("a", 50, 60, 1, "world").demand(110, 0).call(110)
    d.missed("b", 60, "query").answer("q", "b", "stale").answer("r", "a")
    assert audit(d.end("a", "b")).metrics()["stale"] == 1


def test_an_answer_may_come_from_what_left_after_the_call() -> None:
    d = Diary().turn().come("a", 50).call(50).evict("a", 50).call(0, extra=True)
    assert audit(d.answer("q", "a").end()).metrics()["correct"] == 1


def test_demand_counts_what_was_freed_and_refused_for_arrivals() -> None:
    # 60 + 50 arrive on 40, a frees 40 at the door, 50 is kept out: the turn asks for 150
    d = Diary(budget=100).turn().come("a", 40).demand(40, 0).call(40)
    d.turn().arrive("b", 60).evict("a", 40, by="door").admit("b", 60, displaced=("a",))
    d.arrive("c", 50).refuse("c", 50).demand(150, 0).call(60)
    assert audit(d.end("b")).metrics()["peak_demand_tokens"] == 150


def test_what_a_grant_displaces_leaves_between_grant_and_fetch() -> None:
    d = Diary().turn().come("a", 50, copy=True).come("b", 40).evict("a", 50, "copy").call(40)
    d.rehydrate("a", 50, "swap", displaced=("b",)).evict("b", 40, by="gate").fetch("a", 50)
    metrics = audit(d.call(50, extra=True).end("a")).metrics()
    assert (metrics["rehydrated_swap"], metrics["rehydrated_slack"], metrics["fetches"]) == (
        1,
        0,
        1,
    )


def test_a_blocked_rehydration_counts_as_refused() -> None:
    d = Diary().turn().come("a", 50, copy=True).come("b", 40).evict("a", 50, "copy").call(40)
    d.rehydrate("a", 50, "blocked", reason="margin", displaced=("b",))
    metrics = audit(d.answer("q", "a", "deferred").end("b")).metrics()
    assert (metrics["rehydrated_refused"], metrics["fetches"], metrics["deferred"]) == (1, 0, 1)


def test_attempts_and_their_repetitions() -> None:
    d = Diary().turn().attempt(1, "script", False).call(0)
    d.turn().attempt(2, "failed", True).call(0).turn().attempt(3, "ok", False).call(0)
    metrics = audit(d.end()).metrics()
    assert (metrics["attempts"], metrics["repeated_attempts"]) == (3, 1)


def test_an_operator_is_served_past_every_gate() -> None:
    d = Diary().turn().come("a", 50, copy=True).evict("a", 50, "copy").call(0)
    d.missed("a", 50, "operator").fetch("a", 50, by="operator").operator("o", "a", "fetched")
    reckoned = audit(d.call(50, extra=True).end("a"))
    assert reckoned.metrics()["fetches"] == 1


def test_what_the_door_restores_or_rewrites_is_in_the_demand() -> None:
    # 60 stood there when 20 came; at the door 60 became 14, then 10 was written for the 14
    d = Diary().turn().come("a", 60).rewrite("s", ("a",), 60, 59).call(59)
    d.turn().arrive("b", 20).restore("s", "x", 59, 14, "fact")
    d.rewrite("t", ("x",), 14, 10, by="door").admit("b", 20)
    d.demand(79, 0).call(30)
    assert audit(d.end("t", "b")).metrics()["peak_demand_tokens"] == 79


PAIRED = {"kind": "tool_call", "pair": "p"}
RESULT = {"kind": "tool_result", "pair": "p"}


def test_pairs_that_are_whole() -> None:
    """Under way, refused, rewritten, left together, and fetched on its own."""
    d = Diary().turn().come("c", 5, **PAIRED).call(5)
    d.turn().come("r", 50, **RESULT, copy=True).call(55)
    d.turn().rewrite("s1", ("r",), 50, 10).call(15)
    d.turn().rewrite("s2", ("s1",), 10, 8).call(13)
    d.turn().evict("c", 5).evict("s2", 8, "copy").call(0)
    d.rehydrate("r", 50).fetch("r", 50).call(50, extra=True)
    audit(d.end("r"))
    d = Diary().turn().come("c", 5, **PAIRED).arrive("r", 50, **RESULT).refuse("r", 50).call(5)
    audit(d.end("c"))


@pytest.mark.parametrize("goes", ["c", "r"])
def test_pairs_that_are_split(goes: str) -> None:
    d = Diary().turn().come("c", 50, **PAIRED).come("r", 50, **RESULT).evict(goes, 50).call(50)
    with pytest.raises(AuditError, match="call and its result are split"):
        audit(d.records)


def test_a_pair_is_split_when_the_stand_in_of_one_leaves() -> None:
    d = Diary().turn().come("c", 5, **PAIRED).come("r", 50, **RESULT).call(55)
    d.turn().rewrite("s1", ("r",), 50, 10).evict("s1", 10).call(5)
    with pytest.raises(AuditError, match="split"):
        audit(d.records)


def test_a_result_whose_call_was_cut_before_it_came_is_whole() -> None:
    d = Diary(budget=10).turn().come("c", 5, **PAIRED).come("m", 8).demand(13, 0)
    d.truncate("c", 5).call(8).turn().come("r", 2, **RESULT).call(10)
    audit(d.end("m", "r"))


def test_a_result_whose_call_was_rewritten_before_it_came_is_whole() -> None:
    d = Diary().turn().come("c", 50, **PAIRED).rewrite("s", ("c",), 50, 5).call(5)
    d.turn().come("r", 20, **RESULT).call(25).turn().evict("s", 5).call(20)
    audit(d.end("r"))


def test_the_backstop_cuts_call_and_result_together() -> None:
    d = Diary(budget=100).turn().come("c", 10, **PAIRED).come("m", 60).come("r", 40, **RESULT)
    d.demand(110, 0).truncate("c", 10).truncate("r", 40).call(60)
    assert audit(d.end("m")).books["truncated_tokens"] == 50


def full() -> Diary:
    """A run in its second turn, after the call: budget 1,000, window sys*, a (copy), b."""
    d = Diary().turn().come("sys", 100, pinned=True).come("a", 200, copy=True, path="a.py")
    d.come("b", 300, facts=("fact",)).demand(600, 100).call(600)
    return d.turn().demand(600, 100).call(600)


def spender() -> Diary:
    return Diary(declares=("spends",)).turn().demand(0, 0).call(0)


def asked(given: int, written: int) -> Diary:
    d = full().maintain("s", given, 0, written, 0.0)
    return d.put("rewrite", "s", ("b",), 300, 9, True, (), "relevance", "pass", True)


def cut(*values: Any) -> Diary:
    """b has left, and a pass says something of it."""
    return full().turn().evict("b", 300).put("pass", *values)


def due(*causes: tuple[str, int, float]) -> Diary:
    """Send 600 tokens for $0.50, due to *causes*."""
    values = (600, 0, 0, 600, 10, 0.5, 0.25, 2.0, 3.0, False, causes)
    return full().turn().demand(600, 100).put("call", *values)


IMPOSSIBLE: dict[str, tuple[Callable[[], Diary], str]] = {
    "leaves twice": (lambda: full().evict("b", 300).evict("b", 300), "'b' is not in the window"),
    "wrong size": (lambda: full().evict("b", 299), "holds 300 tokens, the record says 299"),
    "unknown leaves": (lambda: full().evict("z", 1), "'z' never arrived"),
    "wrong book": (lambda: full().evict("b", 300, "copy"), "no external copy"),
    "unknown book": (lambda: full().evict("b", 300, "lost"), "copy or dispensable"),
    "no reason": (lambda: full().evict("b", 300, reason=""), "gives no reason"),
    "pin leaves": (lambda: full().evict("sys", 100), "'sys' is pinned"),
    "pin rewritten": (lambda: full().rewrite("s", ("sys",), 100, 1), "'sys' is pinned"),
    "comes twice": (lambda: full().arrive("b", 300), "'b' arrived"),
    "admitted twice": (lambda: full().evict("b", 300).admit("b", 300), "can only be fetched"),
    "admitted resident": (lambda: full().admit("b", 300), "admitted before"),
    "admits a stranger": (lambda: full().admit("z", 1), "'z' never arrived"),
    "admits nothing": (lambda: full().arrive("z", 0).admit("z", 0), "at least one token"),
    "admits more": (lambda: full().arrive("z", 5).admit("z", 6), "arrived with 5 tokens"),
    "part unbooked": (lambda: full().arrive("z", 9).admit("z", 5, "reduced"), "of which 5"),
    "whole in part": (lambda: full().arrive("z", 9).admit("z", 5, "whole", 4), "admitted whole"),
    "displaced stays": (
        lambda: full().arrive("z", 9).admit("z", 9, displaced=("b",)),
        "'b' is named as displaced",
    ),
    "displaced gone": (
        lambda: full().evict("b", 300).arrive("z", 9).refuse("z", 9, displaced=("b",)),
        "would have been displaced",
    ),
    "refused size": (lambda: full().arrive("z", 9).refuse("z", 8), "expected 9 tokens, found 8"),
    "booked twice": (
        lambda: full().arrive("z", 9).refuse("z", 9).refuse("z", 9),
        "expected 0 tokens, found 9",
    ),
    "refuses a resident": (lambda: full().refuse("b", 300), "no say"),
    "undecided": (lambda: full().arrive("z", 9).turn().call(600), "neither admitted nor refused"),
    "request too small": (lambda: full().turn().call(599), "holds 600 tokens, the request 599"),
    "over budget": (lambda: full().turn().come("z", 401).call(1_001), "over the budget of 1000"),
    "parts": (
        lambda: full().turn().put("call", 600, 1, 0, 600, 1, 0.0, 0.0, 0.0, 0.0, False, ()),
        "are not 600",
    ),
    "negative part": (
        lambda: full().turn().put("call", 600, -1, 0, 601, 1, 0.0, 0.0, 0.0, 0.0, False, ()),
        "whole number",
    ),
    "money is not a number": (lambda: full().turn().call(600, usd=math.nan), "a price"),
    "extra first": (lambda: full().turn().call(600, extra=True), "one request"),
    "two calls": (lambda: full().call(600), "one request"),
    "three calls": (lambda: full().call(600, extra=True).call(600, extra=True), "one request"),
    "no call": (lambda: full().turn().turn(), "sent no request"),
    "empty rewrite": (lambda: full().rewrite("s", (), 0, 1), "at least one source"),
    "source twice": (lambda: full().rewrite("s", ("b", "b"), 600, 1), "each of them once"),
    "wrong sum": (lambda: full().rewrite("s", ("a", "b"), 499, 1), "held 500 tokens"),
    "untagged": (lambda: full().rewrite("s", ("b",), 300, 1, tagged=False), "declare untagged"),
    "growth": (lambda: full().rewrite("s", ("b",), 300, 300), "declare grows"),
    "breach of nothing": (
        lambda: spender().turn().come("m", 9).breach("compress-then-spend", "m"),
        "nothing that bars a rewrite",
    ),
    "breach of what has a copy": (
        lambda: (
            spender()
            .turn()
            .come("r", 9, kind="tool_result", copy=True)
            .breach("compress-then-spend", "r")
        ),
        "nothing that bars a rewrite",
    ),
    "displaced for a fetch stays": (
        lambda: (
            full()
            .evict("a", 200, "copy")
            .rehydrate("a", 200, "swap", displaced=("b",))
            .fetch("a", 200)
        ),
        "'b' is named as displaced",
    ),
    "invented text has a copy": (
        lambda: (
            full()
            .rewrite("s", ("a",), 200, 9)
            .restore("s", "x", 9, 40, "fact")
            .evict("x", 40, "copy")
        ),
        "no external copy",
    ),
    "restores a segment": (lambda: full().restore("b", "x", 300, 40, "fact"), "no surrogate"),
    "restores as old": (
        lambda: full().rewrite("s", ("b",), 300, 9).restore("s", "a", 9, 40, "fact"),
        "'a' arrived or was made",
    ),
    "cut within budget": (
        lambda: full().put("truncate", "sys", 100, True, False, None),
        "within the budget",
    ),
    "cut from the middle": (
        lambda: full().turn().come("z", 500).put("truncate", "a", 200, False, False, None),
        "from the front, where 'sys'",
    ),
    "cut pin hidden": (
        lambda: full().turn().come("z", 500).put("truncate", "sys", 100, False, False, None),
        "is pinned",
    ),
    "cut unexplained": (
        lambda: (
            full()
            .turn()
            .come("z", 500)
            .put("truncate", "sys", 100, True, False, None)
            .call(1_000)
            .turn()
        ),
        "no policy bug names it",
    ),
    "fetched resident": (lambda: full().rehydrate("a", 200), "needs no rehydration"),
    "fetched ungranted": (
        lambda: full().evict("a", 200, "copy").fetch("a", 200),
        "not granted this turn",
    ),
    "fetched without copy": (
        lambda: full().evict("b", 300).rehydrate("b", 300).fetch("b", 300),
        "no external copy to fetch",
    ),
    "fetched never": (
        lambda: full().evict("a", 200, "copy").rehydrate("a", 200).call(400, extra=True).turn(),
        "granted and never fetched",
    ),
    "fetched old": (
        lambda: (
            full()
            .evict("a", 200, "copy")
            .write("a.py", 3, ())
            .rehydrate("a", 200)
            .fetch("a", 200, 2)
        ),
        "an old version 2 of 'a' was fetched",
    ),
    "rehydrates what never entered": (
        lambda: full().arrive("z", 9).refuse("z", 9).rehydrate("z", 9),
        "goes through the door",
    ),
    "blocked without reason": (
        lambda: full().evict("a", 200, "copy").rehydrate("a", 200, "blocked"),
        "without a reason",
    ),
    "unknown verdict": (
        lambda: full().evict("a", 200, "copy").rehydrate("a", 200, "maybe"),
        "not 'maybe'",
    ),
    "stale stranger": (lambda: full().write("a.py", 1, ("b",)), "'b' is a copy of None"),
    "stale absentee": (
        lambda: full().evict("a", 200, "copy").write("a.py", 1, ("a",)),
        "not in the window",
    ),
    "version back": (
        lambda: full().write("a.py", 2, ("a",)).write("a.py", 2, ("a",)),
        "had version 2 already",
    ),
    "refresh size": (lambda: full().refresh("a", 199, 9, 1, "policy"), "holds 200"),
    "refresh absent": (
        lambda: full().evict("a", 200, "copy").refresh("a", 200, 9, 1, "policy"),
        "not in the window",
    ),
    "refresh to the old": (
        lambda: full().write("a.py", 2, ("a",)).refresh("a", 200, 9, 1, "policy"),
        "refreshed to an old version 1",
    ),
    "refresh back": (
        lambda: full().refresh("b", 300, 9, 2, "world").refresh("b", 9, 8, 1, "world"),
        "had version 2 already, not 1",
    ),
    "refresh empty": (lambda: full().refresh("a", 200, 0, 1, "policy"), "at least one token"),
    "demand twice": (lambda: full().demand(600, 0), "noted before"),
    "demand small": (lambda: full().turn().come("z", 9).demand(608, 0), "demands 609"),
    "demand large": (lambda: full().turn().come("z", 9).demand(610, 0), "demands 609"),
    "demand pins": (lambda: full().turn().demand(600, 601), "do not fit"),
    "score falls": (lambda: full().score("a", 0.5, 0.4, False), "which is less"),
    "score crossed": (lambda: full().score("a", 0.5, 0.9, True), "no threshold to cross"),
    "missed resident": (lambda: full().missed("a", 200, "q"), "was resident"),
    "answered twice": (
        lambda: full().answer("q", "b").answer("q", "b"),
        "query 'q' was met before",
    ),
    "served twice": (
        lambda: full().operator("o", "a", "resident").operator("o", "a", "resident"),
        "operator 'o' was met before",
    ),
    "acted twice": (
        lambda: full().act("t", ("a",), ()).act("t", ("a",), ()),
        "act 't' was met before",
    ),
    "attempted twice": (
        lambda: full().attempt(2, "script", 0).attempt(2, "failed", 0),
        "attempt 2 is followed by attempt 2",
    ),
    "asked for twice": (
        lambda: full().maintain("s", 9, 0, 1, 0.0).maintain("s", 9, 0, 1, 0.0),
        "asked for 's' twice",
    ),
    "unknown outcome": (lambda: full().answer("q", "b", "guessed"), "not 'guessed'"),
    "correct from what left": (
        lambda: full().turn().evict("b", 300).call(300).answer("q", "b"),
        "'b', which was not resident",
    ),
    "correct from nothing": (lambda: full().answer("q", None), "from no segment"),
    "correct from the old": (
        lambda: full().turn().write("a.py", 1, ("a",)).call(600).answer("q", "a"),
        "an old version of 'a'",
    ),
    "correct from what was lost": (
        lambda: full().turn().rewrite("s", ("b",), 300, 9).call(309).answer("q", "s"),
        "'s' did not keep 'fact'",
    ),
    "stale from nothing": (lambda: full().answer("q", None, "stale"), "from no segment"),
    "stale from the current": (lambda: full().answer("q", "a", "stale"), "'a' is current"),
    "act misses another": (lambda: full().act("t", ("a",), ("b",)), "does not require"),
    "act misses resident": (lambda: full().act("t", ("a",), ("a",)), "readable at the call"),
    "act reads the absent": (
        lambda: full().turn().evict("b", 300).call(300).act("t", ("b",), ()),
        "not readable at the call",
    ),
    "act reads what came later": (
        lambda: (
            full()
            .turn()
            .evict("a", 200, "copy")
            .call(400)
            .rehydrate("a", 200)
            .fetch("a", 200)
            .act("t", ("a",), ())
        ),
        "not readable at the call",
    ),
    "unknown service": (lambda: full().operator("o", "a", "maybe"), "not 'maybe'"),
    "not brought in": (lambda: full().operator("o", "a", "fetched"), "did not enter"),
    "undeclared breach": (lambda: full().breach("pin removed", "sys"), "declare ignores_pins"),
    "unknown breach": (lambda: full().breach("bad taste", "sys"), "no policy can declare"),
    "reads more than sent": (lambda: full().maintain("s", 9, 10, 1, 0.0), "10 tokens are read"),
    "asks for an arrival": (lambda: full().maintain("b", 9, 0, 1, 0.0), "too late"),
    "never asked": (
        lambda: full().put("rewrite", "s", ("b",), 300, 9, True, (), "relevance", "pass", True),
        "never asked for 's'",
    ),
    "another output": (lambda: asked(300, 8), "wrote 8 tokens for 's', which has 9"),
    "another input": (lambda: asked(301, 9), "given 301 tokens"),
    "second run": (lambda: full().put("run", "", "", 0, 1, "", (), (), ""), "only record 'run'"),
    "unknown type": (lambda: full().put("vanish", "b"), "no record type 'vanish'"),
    "field missing": (lambda: full().put("evict", "b", 300, "copy"), "has 5 values, this has 3"),
    "field too many": (lambda: full().put("write", "a", 1, (), 0), "has 3 values, this has 4"),
    "size is no number": (lambda: full().arrive("z", "many"), "whole number of tokens"),
    "size is negative": (lambda: full().arrive("z", -1), "whole number of tokens"),
    "size is a fraction": (lambda: full().arrive("z", 1.5), "whole number of tokens"),
    "a pass of nothing": (lambda: full().put("pass", 0, 0, 0, 0, 0, 2.5), "nothing has left"),
    "no pass": (
        lambda: (
            full()
            .turn()
            .evict("b", 300)
            .put("call", 300, 0, 0, 300, 1, 0.5, 0.0, 2.0, 3.0, False, (("append", 300, 0.5),))
        ),
        "no pass says so",
    ),
    "another b": (lambda: cut(299, 0, 0, 0, 0, 2.5), "removed 300 tokens, the record says 299"),
    "another cut": (lambda: cut(300, 0, 0, 0, 1, 2.5), "the backstop cut 0, not 1"),
    "S above what broke": (lambda: cut(300, 5, 4, 9, 0, 2.5), "5 tokens behind the cut, 4 broken"),
    "S above the window": (lambda: cut(300, 301, 301, 9, 0, 2.5), "301 tokens behind the cut"),
    "live below 0": (lambda: cut(300, 0, 0, -1, 0, 2.5), "what is live is a whole number"),
    "w below 0": (lambda: cut(300, 0, 0, 0, 0, -1.0), "a price is a number from 0 on"),
    "due to nothing": (lambda: due(("append", 599, 0.5)), "explain 599 of 600 tokens"),
    "paid for nothing": (lambda: due(("append", 600, 0.4)), "explain 0.4 of 0.5 dollars"),
    "ping in parts": (
        lambda: full().put("ping", 600, 100, 0, 499, 1, 0.0, ()),
        "499 plain are not 600",
    ),
    "no change": (lambda: full().put("change", "effort", ""), "nothing changes"),
    "five marks": (lambda: full().put("breakpoints", ("a",) * 5, 0), "5 breakpoints are placed"),
    "three of two marks": (
        lambda: full().put("breakpoints", ("a",), 3),
        "3 of 1 breakpoints ask for the longer life",
    ),
    "summary twice": (
        lambda: full().summary("s", 9, (), (), False, False).summary("s", 9, (), (), False, False),
        "said too late, or twice",
    ),
    "summary too late": (
        lambda: full().stub("s", "b", 300, 9).summary("s", 9, (), (), False, False),
        "said too late, or twice",
    ),
    "summary sent a fraction": (
        lambda: full().summary("s", 1.5, (), (), False, False),
        "an input is a whole number",
    ),
    "another sum was sent": (
        lambda: (
            full()
            .maintain("s", 300, 0, 9, 0.0)
            .summary("s", 301, (), (), False, False)
            .put("rewrite", "s", ("b",), 300, 9, True, (), "x", "pass", True)
        ),
        "301 tokens were sent for 's' of 9, of which 300",
    ),
    "nothing was sent": (
        lambda: (
            full()
            .summary("s", 0, (), (), False, False)
            .put("rewrite", "s", ("b",), 300, 9, True, (), "x", "pass", True)
        ),
        "never asked for 's'",
    ),
    "a draft and a half": (
        lambda: full().summarised("s", ("b",), 300, 8, sent=300, written=12),
        "with 12 of output",
    ),
    "no draft": (
        lambda: full().summarised("s", ("b",), 300, 8, sent=300, written=0),
        "with 0 of output",
    ),
    "made up and not stated": (
        lambda: full().summarised("s", ("b",), 300, 9, sent=300, made_up=("fact",)),
        "does not state all that it is said to have made up",
    ),
    "kept and never given": (
        lambda: full().summarised("s", ("b",), 300, 9, sent=9, kept=("fact",), unseen=("fact",)),
        "keeps 'fact', which it was never given",
    ),
    "unseen by nobody": (
        lambda: full().summarised("s", ("b",), 300, 9, sent=None, unseen=("fact",)),
        "misses 'fact', though none was asked for it",
    ),
    "an invention forgotten": (
        lambda: (
            full()
            .summarised("s", ("a",), 200, 9, sent=9, kept=("x",), made_up=("x",))
            .summarised("t", ("s", "b"), 309, 9, sent=309, kept=("x",))
        ),
        "repeats 'x', which was made up before",
    ),
    "wasted for no reason": (
        lambda: full().wasted("bored", ("b",), 300, 0, 9, 0.5, (("rewrite", 300, 0.5),)),
        "fails or overflows, not 'bored'",
    ),
    "wasted unexplained": (
        lambda: full().wasted("failed", ("b",), 300, 0, 9, 0.5, (("rewrite", 299, 0.5),)),
        "explain 299 of 300 tokens",
    ),
    "wasted for nothing": (
        lambda: full().wasted("failed", ("b",), 0, 0, 9, 0.0, ()),
        "failed was sent nothing",
    ),
    "refused and paid": (
        lambda: full().wasted("overflow", ("b",), 0, 0, 9, 0.0, ()),
        "refused is counted or paid for",
    ),
    "refused and counted": (
        lambda: full().wasted("overflow", ("b",), 0, 0, 0, 0.0, (), calls=1),
        "refused is counted or paid for",
    ),
    "wasted on nothing": (
        lambda: full().wasted("overflow", (), 0, 0, 0, 0.0, ()),
        "a summary of nothing",
    ),
    "wasted on the absent": (
        lambda: full().evict("b", 300).wasted("overflow", ("b",), 0, 0, 0, 0.0, ()),
        "'b' is not in the window",
    ),
    "wasted reads more than sent": (
        lambda: full().wasted("failed", ("b",), 300, 301, 9, 0.5, (("rewrite", 300, 0.5),)),
        "301 tokens are read",
    ),
    "wasted in no call": (
        lambda: full().wasted("failed", ("b",), 300, 0, 9, 0.5, (("rewrite", 300, 0.5),), calls=0),
        "300 tokens are sent in no call",
    ),
    "wasted, read by nobody": (
        lambda: full().wasted(
            "failed", ("b",), 300, 9, 9, 0.5, (("rewrite", 300, 0.5),), prefix=False
        ),
        "9 tokens are read by a request that the cache has not seen",
    ),
    "reveals no stub": (
        lambda: full().rewrite("s", ("b",), 300, 9).reveal("s", "b", 9, 300),
        "'s' is no stub of 'b' alone",
    ),
    "reveals what nobody wrote": (
        lambda: full().summarised("s", ("b",), 300, 9).reveal("s", "b", 9, 300),
        "'s' is no stub of 'b' alone",
    ),
    "reveals another": (
        lambda: full().stub("s", "b", 300, 9).reveal("s", "a", 9, 200),
        "'s' is no stub of 'a' alone",
    ),
    "reveals a segment": (lambda: full().reveal("b", "b", 300, 300), "'b' is no stub"),
    "reveals at another size": (
        lambda: full().stub("s", "b", 300, 9).reveal("s", "b", 9, 299),
        "'b' had 300 tokens, the record says 299",
    ),
    "reveals from another size": (
        lambda: full().stub("s", "b", 300, 9).reveal("s", "b", 8, 300),
        "'s' holds 9 tokens",
    ),
    "reveals twice": (
        lambda: full().stub("s", "b", 300, 9).reveal("s", "b", 9, 300).reveal("s", "b", 9, 300),
        "'s' is not in the window",
    ),
    "reveals what is there": (
        lambda: (
            full()
            .stub("s", "a", 200, 9)
            .rehydrate("a", 200)
            .fetch("a", 200)
            .reveal("s", "a", 9, 200)
        ),
        "'a' is in the window already",
    ),
    "saved is no eviction of the dispensable": (
        lambda: full().summarised("s", ("b",), 300, 9, sent=300, saved=True).evict("s", 9),
        "has external copy",
    ),
    "saved behind a surrogate": (
        lambda: (
            full()
            .rewrite("s", ("b",), 300, 90)
            .summarised("t", ("s",), 90, 9, sent=90, saved=True)
            .evict("t", 9, "copy")
            .rehydrate("b", 300)
            .fetch("b", 300)
            .evict("b", 300)
        ),
        "has external copy",
    ),
    "nothing in it": (lambda: full().rewrite("s", None, 300, 1), "at least one source"),
    "sources no list": (lambda: full().rewrite("s", 7, 300, 1), "malformed values"),
}


@pytest.mark.parametrize("case", IMPOSSIBLE, ids=str)
def test_the_impossible_is_named(case: str) -> None:
    make, sentence = IMPOSSIBLE[case]
    records = make().records
    with pytest.raises(AuditError) as caught:
        audit(records)
    said = str(caught.value)
    assert sentence in said
    assert said.startswith(f"record {len(records) - 1} ({records[-1][0]}, turn {records[-1][2]})")


def test_ends_that_cannot_be() -> None:
    with pytest.raises(AuditError, match="position 0 of the window holds 'sys'"):
        audit(full().end("a", "sys", "b"))
    with pytest.raises(AuditError, match="holds 3 segments, the record says 2"):
        audit(full().end("sys", "a"))
    with pytest.raises(AuditError, match="completed or failed, not 'tired'"):
        audit(full().end("sys", "a", "b", status="tired"))
    with pytest.raises(AuditError, match="asked for 's', which never came"):
        audit(full().maintain("s", 9, 0, 1, 0.0).end("sys", "a", "b"))
    with pytest.raises(AuditError, match="'s' is described and never came"):
        audit(full().summary("s", 9, (), (), False, False).end("sys", "a", "b"))
    with pytest.raises(AuditError, match="stop before"):
        audit(full().records)
    with pytest.raises(AuditError, match="nothing comes after"):
        audit([*full().end("sys", "a", "b"), ("act", 99.0, 2, "t", (), ())])
    with pytest.raises(AuditError, match="another turn begins"):
        audit(full().attempt(1, "ok", 0).turn().records)


def test_clocks_that_cannot_be() -> None:
    records = full().records
    late = [*records[:-1], (records[-1][0], 0.5, *records[-1][2:])]
    with pytest.raises(AuditError, match="time goes from"):
        audit(late)
    with pytest.raises(AuditError, match="turn 2 is followed by turn 4"):
        audit([*records, ("turn", 99.0, 4, None, None, ())])
    with pytest.raises(AuditError, match="turn 2 is followed by turn 1"):
        audit([*records, ("act", 99.0, 1, "t", (), ())])
    with pytest.raises(AuditError, match="turn 2 begins twice"):
        audit([*records, ("turn", 99.0, 2, None, None, ())])
    with pytest.raises(AuditError, match="begins with its only record"):
        audit(records[1:])
    with pytest.raises(AuditError, match="record 0"):
        audit([()])


@pytest.mark.parametrize("at", range(len(everything())))
def test_a_record_that_moves_tokens_cannot_be_left_out_or_doubled(at: int) -> None:
    records = everything()
    moving = {"admit", "evict", "fetch", "refresh", "restore", "rewrite", "truncate", "arrive"}
    kept = [r for i, r in enumerate(records) if i != at]
    doubled = records[: at + 1] + records[at:]
    if records[at][0] in moving:
        for corrupted in (kept, doubled):
            with pytest.raises(AuditError):
                audit(corrupted)


def test_every_wrong_size_is_noticed() -> None:
    """One token more in any place where a record says how many moved."""
    sized = {
        "admit": (1, 3),
        "evict": (1,),
        "fetch": (1,),
        "refresh": (1, 2),
        "refuse": (1,),
        "restore": (2, 3),
        "rewrite": (2, 3),
        "truncate": (1,),
        "demand": (0,),
        "call": (0, 1, 2, 3),
    }
    records = everything()
    for at, record in enumerate(records):
        for field in sized.get(record[0], ()):
            wrong = list(record)
            wrong[3 + field] += 1
            corrupted = [*records[:at], tuple(wrong), *records[at + 1 :]]
            if record[0] in ("restore", "refresh") and at > len(records) - 5:
                continue  # nothing weighs the window after the last call
            with pytest.raises(AuditError):
                audit(corrupted)


def test_every_record_type_is_understood() -> None:
    seen = {record[0] for record in everything()}
    also = {"attempt", "breakpoints", "bug", "change", "operator", "page", "ping", "queue"}
    also |= {"reveal", "summary", "wasted"}
    assert seen | also == set(FIELDS)
