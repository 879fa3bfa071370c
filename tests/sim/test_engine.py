"""The engine: a turn in its order, pins, guarded attempts, time, and what a run leaves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.actions import Evict, Refresh, Rewrite
from sim.engine import lacking
from sim.errors import AuditError, InputError
from sim.records import FIELDS, to_dict, to_dicts
from sim.script import Act, Attempt, Query, Script, Wait, Write
from sim.segments import Kind
from tests.sim.build import (
    MARKED,
    Idle,
    acting,
    come,
    elsewhere,
    outcomes,
    pair,
    play,
    script,
    told,
    window,
)
from tests.support.chaos import Chaos
from tests.support.scripts import scripts

FREE = {"clock.turn_seconds": 0.0, "clock.extra_call_seconds": 0.0}


def kinds(result: Any, turn: int) -> list[str]:
    return [r["type"] for r in to_dicts(result.records) if r["turn"] == turn]


# -- the order of a turn -------------------------------------------------------------------


def test_a_turn_in_its_order() -> None:
    it = script(
        come(1, "f", 10, kind=Kind.FILE, path="a.py", facts=("k",), copy=True, score=0.1),
        come(2, "a", 5),
        Write(2, "a.py"),
        Query(2, "q", "k", 0.9, ("f",)),
        Act(2, "t", ("f",)),
        Wait(2, 30.0),
        attempts=[Attempt(1, 2)],
    )
    result = play(it, acting({1: [Evict("f", "x")]}))
    assert kinds(result, 2) == [
        "turn", "attempt", "arrive", "admit", "write", "demand", "call", "act", "missed",
        "score", "rehydrate", "fetch", "call", "answer", "end",
    ]  # fmt: skip


def test_the_demand_is_noted_before_the_pass_and_after_the_writes() -> None:
    demanded = []

    def on_write(view: Any, path: str) -> Any:
        yield Refresh("f")

    it = script(come(1, "f", 10, kind=Kind.FILE, path="a.py", copy=True), Write(1, "a.py", 25))
    result = play(it, Idle(on_write=on_write, before_call=lambda v: [Evict("f", "x")]))
    demanded = [r["tokens"] for r in told(result, "demand")]
    assert demanded == [25]


def test_what_comes_stands_in_the_order_of_completion() -> None:
    """Calls of one message together, then results as they finish; equals in script order."""
    tools = {"check": 6.0, "lint": 2.0, "tests": 4.0}
    calls, results = zip(*(pair(1, t, 9, tool=t, time=s) for t, s in tools.items()), strict=True)
    it = script(*calls, *results, come(1, "x", 1, time=2.0), settings=FREE)
    result = play(it)
    assert window(result) == (
        "check.call", "lint.call", "tests.call", "lint", "x", "tests", "check",
    )  # fmt: skip
    assert [r["time"] for r in told(result, "admit")] == [0.0, 0.0, 0.0, 2.0, 2.0, 4.0, 6.0]
    assert told(result, "call")[0]["time"] == 6.0


def test_a_write_makes_every_resident_copy_stale_and_what_comes_later_is_new() -> None:
    it = script(
        *(come(1, n, 10, kind=Kind.FILE, path="a.py", copy=True) for n in "abc"),
        come(1, "other", 10, kind=Kind.FILE, path="b.py"),
        Write(2, "a.py"),
        come(3, "d", 10, kind=Kind.FILE, path="a.py"),
        Write(4, "a.py"),
    )
    result = play(it, acting({1: [Evict("b", "x")]}))
    assert [(r["version"], r["stale"]) for r in told(result, "write")] == [
        (1, ("a", "c")),
        (2, ("a", "c", "d")),
    ]


# -- time ----------------------------------------------------------------------------------


def test_a_storys_turn_is_twenty_seconds_and_an_extra_call_five_more() -> None:
    it = script(
        come(1, "a", 10, facts=("k",), copy=True, score=0.1),
        Query(2, "q", "k", 0.9, ("a",)),
        turns=3,
    )
    result = play(it, acting({1: [Evict("a", "x")]}))
    assert [(r["time"], r["extra"]) for r in told(result, "call")] == [
        (0.0, False), (20.0, False), (25.0, True), (45.0, False),
    ]  # fmt: skip
    assert result.metrics["total_seconds"] == 65.0


def test_otherwise_a_turn_lasts_as_long_as_it_takes() -> None:
    """Arrival 3, prefill 0.5 + 100/1,000, decode 25/50; a wait of 40; then 0.6 and 0.5 again."""
    it = script(
        come(1, "a", 100, time=3.0), Wait(2, 40.0), output_tokens={1: 25, 2: 25}, settings=FREE
    )
    result = play(it)
    assert [r["time"] for r in told(result, "call")] == pytest.approx([3.0, 44.1])
    assert result.metrics["total_seconds"] == pytest.approx(45.2)
    assert result.metrics["prefill_seconds"] == pytest.approx(1.2)


def test_a_wait_outlives_the_cache_and_the_policy_may_use_it() -> None:
    waited = []

    def on_idle(view: Any, seconds: float) -> Any:
        waited.append((view.turn, seconds))
        yield Evict("b", "idle")

    it = script(come(1, "a", 50), come(1, "b", 50), Wait(3, 100.0), Wait(3, 200.5), turns=3)
    result = play(it, Idle(on_idle=on_idle), MARKED)
    assert waited == [(3, 300.5)]
    assert [r["read"] for r in told(result, "call")] == [0, 100, 0]
    assert result.metrics["edit_turns"] == 1


# -- pins ----------------------------------------------------------------------------------


def pinned_over(budget: int) -> Script:
    """System 2,000, task 6,000, specification 10,000 and at turn 3 a constraint of 3,000."""
    return script(
        come(1, "sys", 2_000, kind=Kind.SYSTEM, pinned=True),
        come(1, "task", 6_000, kind=Kind.TASK, pinned=True),
        come(2, "spec", 10_000, pinned=True),
        come(3, "rule", 3_000, pinned=True),
        come(3, "small", 50),
        turns=4,
        budget=budget,
    )


def test_pins_over_the_budget_fail_the_run_with_their_names_and_numbers() -> None:
    result = play(pinned_over(20_000))
    figures = result.metrics
    assert figures["status"] == "failed"
    for part in ("sys 2000", "task 6000", "spec 10000", "rule 3000", "21000", "20000"):
        assert part in figures["reason"]
    assert "small" not in figures["reason"]
    # the check comes before the policy acts; the demand is noted and the turn counts
    assert (figures["turns"], figures["calls"]) == (3, 2)
    assert figures["peak_demand_tokens"] == 21_050
    assert (figures["policy_bugs"], figures["truncated_tokens"]) == (0, 0)


def test_pins_that_fill_the_budget_do_not() -> None:
    result = play(
        pinned_over(21_000), Idle(before_call=lambda v: [Evict("small", "x")] * (v.over > 0))
    )
    assert (result.metrics["status"], result.metrics["turns"]) == ("completed", 4)
    assert told(result, "call")[-1]["tokens"] == 21_000


def test_a_policy_that_ignores_pins_never_fails_this_way() -> None:
    policy = Idle(
        declares=["ignores_pins"], before_call=lambda v: [Evict("sys", "x")] * (v.over > 0)
    )
    result = play(pinned_over(20_000), policy)
    assert (result.metrics["status"], result.metrics["breaches"]) == ("completed", 1)


def test_a_policys_own_pins_count() -> None:
    it = script(come(1, "a", 60, pinned=True), come(2, "b", 60), budget=100)
    assert play(it).metrics["status"] == "completed"
    result = play(it, Idle(pins=lambda view, segment: segment.id == "b"))
    assert result.metrics["status"] == "failed"
    assert "120" in result.metrics["reason"]


def test_only_pins_left_after_a_fetch_fail_the_run_too() -> None:
    it = script(
        come(1, "pin", 60, pinned=True),
        come(1, "a", 60, facts=("k",), copy=True),
        Query(2, "q", "k", 0.9, ("a",)),
        budget=119,
    )
    policy = acting({1: [Evict("a", "x")]}, pins=lambda v, s: s.id == "a" and v.turn == 2)
    assert play(it, policy).metrics["status"] == "failed"


@pytest.mark.parametrize("budget", [99, 100])
def test_pins_of_turn_1_over_the_budget_are_bad_input(budget: int) -> None:
    it = script(
        come(1, "sys", 40, kind=Kind.SYSTEM, pinned=True),
        come(1, "pic", 9_000, kind=Kind.IMAGE, pinned=True),
        come(2, "later", 900, pinned=True),
        come(1, "loose", 900),
        turns=1,
        budget=budget,
    )
    if budget == 100:
        assert play(it).metrics["turns"] == 1
        return
    with pytest.raises(
        InputError, match=r"need 100 tokens and the budget is 99 \(sys 40, pic 60\)"
    ):
        play(it, Idle(declares=["ignores_pins"]))


# -- attempts ------------------------------------------------------------------------------


def tries(*needs: tuple[str, ...], last: int = 3) -> Script:
    """Attempt 1 fails by script, then guarded ones follow; each says its branch in its diff."""
    attempts = [Attempt(1, 1)]
    for number, facts in enumerate(needs, start=2):
        branches = [
            (come(number, f"{b}{number}", 7, kind=Kind.DIFF, attempt=number),) for b in ("ok", "no")
        ]
        attempts.append(Attempt(number, number, facts, (), *branches))
    return script(
        come(1, "base", 10, facts=("k",), copy=True),
        come(1, "say", 5, kind=Kind.ASSISTANT, attempt=1),
        attempts=attempts,
        turns=last,
    )


def test_a_run_ends_at_the_first_ok() -> None:
    result = play(tries(("k",), ("k",), last=9))
    assert (result.metrics["status"], result.metrics["reason"]) == ("completed", "")
    assert [(r["attempt"], r["branch"]) for r in told(result, "attempt")] == [
        (1, "script"),
        (2, "ok"),
    ]
    assert (result.metrics["attempts"], result.metrics["turns"]) == (2, 2)
    assert window(result) == ("base", "say", "ok2")
    assert result.metrics["calls"] == 2  # the turn of the ok attempt is played to its end


def test_after_the_last_attempt_it_has_failed() -> None:
    result = play(tries(("k",), ("k", "other"), last=9), acting({1: [Evict("base", "x")]}))
    assert (result.metrics["status"], result.metrics["reason"]) == ("failed", "attempts exhausted")
    assert [r["branch"] for r in told(result, "attempt")] == ["script", "failed", "failed"]
    assert [r["missing"] for r in told(result, "turn")][1:] == [("k",), ("k", "other")]
    assert (result.metrics["attempts"], result.metrics["turns"]) == (3, 3)
    assert window(result) == ("say", "no2", "no3")


@pytest.mark.parametrize(
    ("facts", "paths", "branch"),
    [
        (("k",), (), "ok"),
        ((), ("a.py",), "ok"),
        (("k",), ("a.py", "b.py"), "failed"),
        (("k", "new"), (), "failed"),
        ((), ("c.py",), "failed"),
    ],
)
def test_every_need_must_be_met_by_what_is_current(
    facts: tuple[str, ...], paths: tuple[str, ...], branch: str
) -> None:
    it = script(
        come(1, "a", 5, kind=Kind.FILE, path="a.py", facts=("k",)),
        come(1, "b", 5, kind=Kind.FILE, path="b.py"),
        Write(1, "b.py"),
        come(2, "late", 5, facts=("new",)),  # comes with the attempt, so too late for it
        attempts=[Attempt(1, 2, facts, paths)],
    )
    assert [r["branch"] for r in told(play(it), "attempt")] == [branch]


@pytest.mark.parametrize(("keep", "branch"), [(1.0, "ok"), (0.0, "failed")])
def test_a_surrogate_that_kept_it_meets_a_fact_but_no_path(keep: float, branch: str) -> None:
    base = come(1, "a", 50, kind=Kind.FILE, path="a.py", facts=("k",), copy=True)
    for needs in (Attempt(1, 2, ("k",)), Attempt(1, 2, (), ("a.py",))):
        it = script(base, attempts=[needs], settings={"surrogate.keep": keep})
        result = play(it, acting({1: [Rewrite(("a",), 3, True, "x")]}))
        expected = branch if needs.facts else "failed"
        assert [r["branch"] for r in told(result, "attempt")] == [expected]
        assert result.metrics["fetches"] == 0  # a guard fetches nothing


def test_both_branches_bring_what_stands_beside_them() -> None:
    it = tries(("nothing",))
    it = script(*it.stimuli, come(2, "beside", 3), attempts=it.attempts, turns=3)
    assert window(play(it)) == ("base", "say", "beside", "no2")


@pytest.mark.parametrize(
    ("actions", "repeated"),
    [
        ({}, 0),
        ({1: [Evict("say", "x")]}, 1),
        ({1: [Rewrite(("say",), 3, True, "superseded", line=True)]}, 0),
        ({1: [Rewrite(("say",), 3, True, "x", line=True), Evict("s1", "x")]}, 1),
        ({2: [Evict("say", "x"), Evict("no2", "x")]}, 1),
        ({2: [Evict("say", "x")]}, 0),
        ({1: [Evict("say", "x")], 2: [Evict("no2", "x")]}, 2),
    ],
)
def test_a_failed_attempt_without_a_trace_is_repeated(
    actions: dict[int, list[Any]], repeated: int
) -> None:
    result = play(tries(("no",), ("no",)), acting(actions))
    assert result.metrics["repeated_attempts"] == repeated


def test_the_trace_of_the_last_attempt_is_not_missed() -> None:
    result = play(tries(("no",)), acting({2: [Evict("no2", "x")]}))
    assert result.metrics["repeated_attempts"] == 0


# -- what every run shares -----------------------------------------------------------------


@given(scripts(6), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_every_policy_meets_the_same_unguarded_stimuli(it: Script, seed: int) -> None:
    runs = [play(it, policy, strict=False) for policy in (Idle(), Chaos(seed))]
    assert {r.digest for r in runs} == {it.digest()}
    assert {told(r, "run")[0]["digest"] for r in runs} == {it.digest()}
    for result in runs:
        text = json.dumps(list(to_dicts(result.records)), allow_nan=False)
        assert json.loads(text)[0]["type"] == "run"


@given(scripts(6), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_the_same_run_twice_has_the_same_records(it: Script, seed: int) -> None:
    first, second = (play(it, Chaos(seed), MARKED, strict=False) for _ in range(2))
    assert first.records == second.records
    assert first.metrics == second.metrics


def test_the_same_records_in_another_process() -> None:
    code = (
        "import hashlib, json; from tests.sim.test_engine import busy;"
        "print(hashlib.blake2b(json.dumps(busy().records).encode()).hexdigest())"
    )
    assert elsewhere(code, 1) == elsewhere(code, 2)


def busy() -> Any:
    """Return a run in which a little of everything happens."""
    arrivals = [
        come(t, f"{n}{t}", 20, facts=(f"k{n}{t}",), copy=n == "f", path=f"{n}.py", score=t / 10)
        for t in range(1, 9)
        for n in "fg"
    ]
    queries = [Query(t, f"q{t}", f"kf{t - 1}", 0.7, (f"f{t - 1}", "g1")) for t in range(2, 9)]
    writes = [Write(t, "f.py") for t in (3, 6)]
    it = script(*arrivals, *queries, *writes, budget=150, settings={"surrogate.keep": 0.5})
    return play(it, Chaos(14), strict=False)


def test_a_run_of_more_turns_begins_with_the_shorter_one() -> None:
    arrivals = [come(t, f"a{t}", 30, facts=(f"k{t}",)) for t in range(1, 10)]
    queries = [Query(t, f"q{t}", f"k{t - 1}", 0.5, (f"a{t - 1}",)) for t in range(2, 10)]
    long = play(script(*arrivals, *queries, turns=9, budget=100))
    short = play(script(*arrivals, *queries, turns=4, budget=100))
    assert [r for r in long.records if 0 < r[2] <= 4] == [
        r for r in short.records if r[2] > 0 and r[0] != "end"
    ]


def test_records_are_plain_and_their_fields_are_declared() -> None:
    for record in busy().records:
        assert type(record) is tuple
        assert len(record) == 3 + len(FIELDS[record[0]])
        assert {"type", "time", "turn", *FIELDS[record[0]]} == set(to_dict(record))
        assert type(record[1]) is float
        for value in record[3:]:
            assert type(value) in (str, int, float, bool, tuple, type(None))


def test_the_hand_made_run_repeats_what_it_must() -> None:
    result = busy()
    assert {r[0] for r in result.records} >= {
        *("evict", "rewrite", "answer", "score", "demand"),
        *("summary", "reveal", "wasted"),
    }
    assert outcomes(result)


# -- checks on itself ----------------------------------------------------------------------


def test_a_policy_that_tampers_with_the_window_is_found_out() -> None:
    def shrink(view: Any) -> Any:
        view.log["a"].tokens = 1
        return [Evict("a", "x")]

    def drop(view: Any) -> Any:
        view.window.pop()
        return ()

    for tamper in (shrink, drop):
        it = script(come(1, "a", 30), come(1, "b", 20))
        with pytest.raises(AuditError):
            play(it, Idle(before_call=tamper))


class _Odd(Exception):
    def __init__(self, message: str, *, line: int) -> None:
        super().__init__(message)
        self.line = line


def test_what_a_policy_raises_comes_out_as_it_was_raised() -> None:
    raised = _Odd("no idea", line=7)

    def fail(view: Any) -> Any:
        raise raised

    for hook in ("before_call", "after_turn", "start", "pins", "on_arrival"):
        with pytest.raises(_Odd) as caught:
            play(script(come(1, "a", 30)), Idle(**{hook: lambda *rest: fail(rest)}))
        assert caught.value is raised
        assert caught.traceback[-1].path.name == "test_engine.py"


def test_capabilities_that_a_script_lacks_are_named() -> None:
    policy = Idle()
    policy.needs = frozenset({"ranks", "facts", "roles"})
    assert lacking(script(come(1, "a", 1), capabilities=["facts"]), policy) == ["ranks", "roles"]
    assert lacking(script(come(1, "a", 1), capabilities=policy.needs), policy) == []


class _Watched(list[Any]):
    """A list that counts how much of it is looked at."""

    looked = 0

    def __iter__(self) -> Any:
        self.looked += len(self)
        return super().__iter__()

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        self.looked += len(found) if isinstance(at, slice) else 1
        return found


def test_a_turn_does_not_look_at_the_whole_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 segments stand; 50 turns each add one, ask for one, evict one near the end."""
    from sim.window import Window

    made: list[Window] = []
    begin = Window.__init__

    def watch(self: Window) -> None:
        begin(self)
        self.segments = _Watched()
        made.append(self)

    monkeypatch.setattr(Window, "__init__", watch)
    first = [come(1, f"a{n}", 5, facts=(f"k{n}",), copy=True) for n in range(500)]
    rest = [come(t, f"b{t}", 5) for t in range(2, 52)]
    queries = [Query(t, f"q{t}", f"k{t}", 0.9, (f"a{t}",)) for t in range(2, 52)]
    acts = [Act(t, f"t{t}", ("a1",)) for t in range(2, 52)]
    it = script(*first, *rest, *queries, *acts)
    looked: list[int] = []

    def before_call(view: Any) -> Any:
        looked.append(made[0].segments.looked)  # type: ignore[attr-defined]
        return [Evict(f"b{view.turn - 1}", "x")] if view.turn > 2 else []

    result = play(it, Idle(before_call=before_call))
    assert result.metrics["evictions"] == 49
    per_turn = (looked[-1] - looked[2]) / (len(looked) - 3)
    assert per_turn < 20
