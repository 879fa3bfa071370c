"""The windows that a page can show against those that explanations and the audit see."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.again import Again
from bench.cells import run_one
from bench.explain.explanations import why_words
from bench.explain.findings import is_wrong, tell
from bench.explain.places import stays, window_at
from bench.loading import load
from bench.report.windows import _moved, windows
from sim.audit import Recount
from tests.bench.report.replayed import window_in

RUNS = [
    ("doc-analysis", {"turns": 40, "budget": 12_000}, "naive-rewrite"),
    ("doc-analysis", {"turns": 40, "budget": 12_000}, "disciplined"),
    ("coding-agent", {"turns": 30, "budget": 30_000}, "tiered"),
    ("support-agent", {"turns": 40, "budget": 12_000}, "compaction"),
    ("signature-change", {}, "naive-trim"),
    ("last-of-forty", {}, "tiered"),
    ("only-pins-left", {}, "disciplined"),
]


def again(scenario: str, settings: dict[str, object], policy: str) -> Again:
    script = load(scenario, settings).script(0)
    metrics, records = run_one(script, policy)
    return Again(script, {**metrics, "scenario": scenario, "policy": policy, "seed": 0}, records)


@pytest.mark.parametrize(("scenario", "settings", "policy"), RUNS)
def test_each_turn_is_what_its_call_found(
    scenario: str, settings: dict[str, object], policy: str
) -> None:
    run = again(scenario, settings, policy)
    told = json.loads(json.dumps(windows([run])))
    seen = tell(run.script, run.records)
    (shown,) = told["runs"]
    for turn in shown["turns"]:
        places = window_at(seen, turn["turn"])
        found = window_in(told, policy, turn["turn"])["window"]
        assert [entry[:2] for entry in found] == [(p.segment, p.tokens) for p in places]
        assert turn["tokens"] == sum(p.tokens for p in places)
        for entry, place in zip(found, places, strict=True):
            assert entry[2] == pytest.approx(place.salience, abs=1e-4)
    calls = {record[2] for record in run.records if record[0] == "turn"}
    assert [turn["turn"] for turn in shown["turns"]] == sorted(calls)


@pytest.mark.parametrize(("scenario", "settings", "policy"), RUNS)
def test_every_absent_segment_has_the_answer_of_the_ledger_at_that_time(
    scenario: str, settings: dict[str, object], policy: str
) -> None:
    run = again(scenario, settings, policy)
    told = windows([run])
    seen = tell(run.script, run.records)
    named = {r[3] for r in run.records if r[0] in ("arrive", "rewrite")}
    made_up = {r[4] for r in run.records if r[0] == "restore"}
    lives = {name: stays(seen, name) for name in named | made_up}
    ends = {}
    recount = Recount()
    turn = 0
    for record in run.records:
        if (record[0] == "call" and not record[12] and record[2] > turn) or (
            record[0] in ("turn", "end") and record[2] - (record[0] == "turn") > turn
        ):
            turn = record[2] if record[0] == "call" else turn + 1
            ends[turn] = {
                name: [why_words(entry) for entry in recount.why(name)]
                for name, life in lives.items()
                if any(s.first <= turn <= s.last and s.where != "resident" for s in life)
            }
        recount.add(record)
    for number, absent in ends.items():
        shown = window_in(told, policy, number)["absent"]
        assert shown.keys() == absent.keys(), number
        for name, (_, answer) in shown.items():
            spelt = [part if part in absent[name] else f"{name} {part}" for part in _parts(answer)]
            assert spelt == absent[name][-len(spelt) :]


def _parts(answer: str) -> list[str]:
    return answer.split("; ")


def test_answers_are_shown_in_their_turn_and_marked_if_they_are_wrong() -> None:
    run = again(*RUNS[0])
    (shown,) = windows([run])["runs"]
    said = [
        (turn["turn"], entry[0], entry[3])
        for turn in shown["turns"]
        for entry in turn.get("said", ())
    ]
    asked = [r for r in run.records if r[0] in ("answer", "act")]
    assert said == [(r[2], r[3], int(is_wrong(r))) for r in asked]
    assert any(wrong for _, _, wrong in said)


def test_what_several_runs_name_stands_once() -> None:
    runs = [again("doc-analysis", {"turns": 20}, policy) for policy in ("tiered", "no-op")]
    told = windows(runs)
    assert len(told["texts"]) == len(set(told["texts"]))
    assert len(told["segments"]) == len({tuple(segment) for segment in told["segments"]})
    alone = [len(json.dumps(windows([run]))) for run in runs]
    assert len(json.dumps(told)) < 0.8 * sum(alone)


def test_a_run_that_failed_says_so() -> None:
    (shown,) = windows([again("only-pins-left", {}, "disciplined")])["runs"]
    assert "the pinned segments need 21000 tokens" in shown["ended"]


@given(st.permutations(range(8)), st.permutations(range(12)), st.integers(0, 8), st.integers(0, 12))
def test_what_leaves_and_comes_makes_one_order_of_another(
    old: list[int], new: list[int], some: int, others: int
) -> None:
    before, after = old[:some], new[:others]
    out, into = _moved(before, after)
    made = [number for number in before if number not in out]
    for at, number in into:
        made.insert(at, number)
    assert made == after
    assert len(out) == len(set(out)) and set(out) <= set(before)


def test_as_many_as_possible_stay() -> None:
    assert _moved([1, 2, 3, 4], [2, 3, 4, 1]) == ([1], [(3, 1)])
    assert _moved([1, 2, 3], [1, 2, 3]) == ([], [])
    assert _moved([5, 1, 2, 3, 6], [1, 2, 9, 3, 5]) == ([5, 6], [(2, 9), (4, 5)])
