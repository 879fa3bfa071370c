"""Explanations of random runs: none crashes, and their figures are those of a naive reckoning."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.explain.cases import Case
from bench.explain.causes import cause_of
from bench.explain.checking import rule_for
from bench.explain.explanations import of_segment, of_turn, wrong_answers
from bench.explain.findings import findings, tell
from bench.explain.rules import RULES, remedies
from bench.explain.steps import steps
from bench.output import json_document
from bench.tables import explain
from policies.registry import make, names
from sim.engine import lacking, run
from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.bench.explain.live import PRICE, play
from tests.policies.playing import script_of
from tests.support.chaos import Chaos
from tests.support.dense import dense
from tests.support.scripts import scripts

POLICIES = (*names(), "chaos")


def naive_tokens(records, name):
    """Return what each record moved of *name*: plain sums over the records, nothing rebuilt."""
    here, moves = 0, []
    for record in records:
        kind = record[0]
        if kind in ("admit", "fetch") and record[3] == name:
            here = record[4]
            moves.append((record[2], here))
        elif kind in ("evict", "truncate") and record[3] == name:
            moves.append((record[2], 0))
        elif kind == "refresh" and record[3] == name and record[5]:
            moves.append((record[2], record[5]))
        elif kind == "rewrite" and name in record[4]:
            moves.append((record[2], record[6]))
    return moves


def explained(script, policy, seed):
    made = Chaos(seed) if policy == "chaos" else make(policy)
    if lacking(script, made):
        return
    played = run(script, made, PRICE)
    case = Case(script, made.label, played.metrics, played.records)
    told = tell(script, case.records)
    for finding in findings(told):
        cause = cause_of(told, finding)
        rule = rule_for(told, finding, cause)
        assert rule.name in RULES
        if policy != "chaos":
            for remedy in remedies(rule, cause, policy):
                make(remedy.policy)
        chain = steps(told, finding.carriers, finding.index)
        assert [s.index for s in chain] == sorted(s.index for s in chain)
        if cause.index is not None and cause.index < finding.index:
            assert cause.index in {step.index for step in chain}
        assert (cause.index is None) == (finding.level == "absent")
    listed = wrong_answers(case)
    counted = [played.metrics[m] for m in ("confabulated", "stale", "abstained", "violations")]
    assert len(listed["wrong"]) == sum(counted)
    drawn = [*explain.list_tables([listed])]
    arrived = {r[3] for r in case.records if r[0] == "arrive"}
    named = [r[3] for r in case.records if r[0] in ("arrive", "rewrite")]
    for name in named[:6]:
        found = of_segment(case, name)
        drawn += explain.segment_tables(found)
        json.loads(json_document({"segments": [found]}))
        if name in arrived:
            why = [entry[:3] for entry in played.ledger.why(name)]
            assert [(e["segment"], e["what"], e["turn"]) for e in found["why"]] == why
        moved = [
            (c["turn"], c["tokens_after"])
            for c in found["changes"]
            if c["segment"] == name
            and c["event"] in ("admitted", "fetched", "evicted", "cut", "refreshed", "rewritten")
        ]
        sole = [r for r in case.records if r[0] == "rewrite" and name in r[4] and r[4][0] != name]
        if not sole:
            assert moved == naive_tokens(case.records, name)
    for turn in range(1, min(4, played.metrics["turns"]) + 1):
        found = of_turn(case, turn)
        drawn += explain.turn_tables(found)
        json.loads(json_document({"turns": [found]}))
        if found["calls"]:
            assert sum(place["tokens"] for place in found["window"]) == found["calls"][0]["tokens"]
    assert all(table.title or table.notes for table in drawn)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(scripts(), st.sampled_from(POLICIES), st.integers(0, 9))
def test_short_runs(script, policy, seed):
    explained(script, policy, seed)


@pytest.mark.parametrize("seed", range(28))
def test_long_runs(seed):
    explained(dense(seed), POLICIES[seed % len(POLICIES)], seed)


@pytest.mark.parametrize("seed", range(3))
def test_stays_are_where_the_engine_had_it(seed):
    """Position and tokens at each turn's own call, against the engine's window at that record."""
    script = dense(seed)
    live = play(script, Chaos(seed), ())
    played = Case(script, "chaos", live.metrics, live.records)
    calls = {}
    for index, record in enumerate(live.records):
        if record[0] == "call" and not record[12]:
            calls[record[2]] = [(name, tokens) for name, tokens, _ in live.windows[index]]
    for name in [r[3] for r in live.records if r[0] == "arrive"][:8]:
        for stay in of_segment(played, name)["stays"]:
            for turn, place in zip(
                range(stay["first_turn"], stay["last_turn"] + 1), stay["positions"], strict=True
            ):
                if turn not in calls:
                    continue
                there = [n for n, _ in calls[turn]]
                assert (name in there) == (stay["where"] == "resident")
                if name in there:
                    assert place == there.index(name)
                    assert stay["tokens"] == calls[turn][place][1]


def test_a_turn_tells_of_what_arrived_before_and_is_refused_again():
    script = script_of(
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "big", Kind.TOOL_RESULT, 900, 1.0, copy=True, facts=(Fact("k", "v"),)),
        Query(2, "ask", "k", 1.0, ("big",)),
        budget=200,
    )
    policy = make("slack-swap-refuse")
    played = run(script, policy, PRICE)
    found = of_turn(Case(script, policy.label, played.metrics, played.records), 2)
    (step,) = [step for step in found["came"] if step["event"] == "kept out"]
    assert step["segment"] == "big"
    assert "kept out at the door (oversize)" in step["says"]
