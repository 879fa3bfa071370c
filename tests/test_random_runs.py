"""Random scripts under every policy: what must hold whatever happens."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from policies.registry import make, names
from sim.audit import audit
from sim.engine import Run, run
from sim.errors import InputError
from sim.metrics import METRICS
from sim.policy import DECLARABLE
from sim.prices import CacheRules, Price, Speed
from sim.records import Record
from sim.script import Arrival, Operator, Query, Script, script_from_json, script_to_json
from sim.segments import Kind
from tests.support.chaos import Chaos
from tests.support.dense import dense
from tests.support.naive_cache import NaiveCache
from tests.support.oracle import Oracle, is_strict
from tests.support.scripts import BASE_SETTINGS, roomy, scripts

POLICIES = names()
FORMS = (
    "tiered:arrival=page",
    "tiered:arrival=spill,delta=on",
    "disciplined:arrival=page,delta=on",
    "disciplined:arrival=spill",
)
"""The other forms in which results enter."""
SPEED = Speed(1_000.0, 10_000.0, 0.5, 100.0)
PRICE = Price("hand", 2.0, 2.5, 0.2, 10.0, CacheRules("auto", 1, 1, 300.0), SPEED)
WRITER = Price("writer", 0.5, 0.5, 0.5, 2.0, CacheRules("none"), SPEED)
"""Another model, which writes the summaries of harnesses."""

CAREFUL = ("naive-trim", "slack-swap-refuse", "tag-or-drop", "tiered", "disciplined")
"""Policies that declare no rule that they break."""

FITTING = (
    "sliding-window",
    "naive-rehydrate",
    "slack-swap-refuse",
    "tag-or-drop",
    "tiered",
    "disciplined",
)
"""Policies that can make any window fit whose pins do."""

QUIET = ("no-op", "sliding-window", "naive-trim", "naive-rehydrate", "compaction")
"""Policies that do nothing at all while the window fits."""


def examples(count: int) -> Callable[[Any], Any]:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


def played(script: Script, policy: str, price: Price = PRICE, writer: Price | None = None) -> Run:
    return run(script, make(policy), price, writer=writer)


def agree(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def weigh(result: Run) -> None:
    """Hold a run against the second reckoning and against what no run may break."""
    reckoned = audit(result.records)
    metrics = reckoned.metrics()
    assert set(metrics) == {metric.name for metric in METRICS} | {"status", "reason"}
    for name, value in metrics.items():
        assert agree(result.metrics[name], value), (name, result.metrics[name], value)
    arrived = {record[3] for record in result.records if record[0] == "arrive"}
    made = {record[3] for record in result.records if record[0] == "rewrite"}
    for segment in arrived | {s for s in made if reckoned.why(s)}:
        assert tuple(result.ledger.why(segment)) == reckoned.why(segment)
    answers = ("correct", "stale", "confabulated", "abstained", "deferred")
    assert metrics["queries"] == sum(metrics[name] for name in answers)
    assert metrics["violations"] <= metrics["acts"]


@pytest.mark.parametrize("policy", [*POLICIES, *FORMS])
@examples(40)
@given(script=scripts(harness=True), writer=st.sampled_from([None, None, WRITER]))
def test_every_policy_agrees_with_the_second_reckoning(
    policy: str, script: Script, writer: Price | None
) -> None:
    weigh(played(script, policy, writer=writer))


@examples(150)
@given(
    script=scripts(harness=True),
    seed=st.integers(0, 9_999),
    declares=st.sets(st.sampled_from(sorted(DECLARABLE))),
    writer=st.sampled_from([None, None, WRITER]),
)
def test_a_policy_that_does_anything_is_booked_all_the_same(
    script: Script, seed: int, declares: set[str], writer: Price | None
) -> None:
    weigh(run(script, Chaos(seed, frozenset(declares)), PRICE, writer=writer))


@pytest.mark.parametrize("policy", [*POLICIES, *FORMS])
@pytest.mark.parametrize("seed", range(12))
def test_long_runs_hold_as_well(policy: str, seed: int) -> None:
    script = dense(seed, strict=seed % 2 == 0)
    weigh(played(script, policy))
    for check in (follow_the_rules, score_and_miss, read_from_the_cache):
        check(policy, script)


@pytest.mark.parametrize("seed", range(24))
def test_long_runs_of_a_policy_that_does_anything_hold_as_well(seed: int) -> None:
    rules = sorted(DECLARABLE)
    declares = frozenset(rule for at, rule in enumerate(rules) if seed >> at & 1)
    script = dense(seed, harness=seed % 4 > 0)
    weigh(run(script, Chaos(seed, declares, sane=seed % 3 > 0), PRICE))


@pytest.mark.parametrize("policy", CAREFUL)
@examples(25)
@given(script=scripts())
def test_pins_stay_unless_the_backstop_cuts_them(policy: str, script: Script) -> None:
    result = played(script, policy)
    pinned = {record[3] for record in result.records if record[0] == "arrive" and record[8]}
    cut = {record[3] for record in result.records if record[0] == "truncate"}
    assert pinned <= cut | set(result.records[-1][5])
    assert result.metrics["breaches"] == 0


@pytest.mark.parametrize("policy", FITTING)
@examples(25)
@given(script=scripts())
def test_policies_that_know_their_limit_leave_nothing_to_the_backstop(
    policy: str, script: Script
) -> None:
    assert played(script, policy).metrics["policy_bugs"] == 0


@pytest.mark.parametrize("policy", QUIET)
@examples(25)
@given(script=scripts())
def test_without_pressure_quiet_policies_remove_nothing(policy: str, script: Script) -> None:
    script = replace(roomy(script), settings={**roomy(script).settings, "reader.distraction": 0.0})
    metrics = played(script, policy).metrics
    for name in ("evictions", "rewrites", "truncated_tokens", "policy_bugs", "fetches"):
        assert metrics[name] == 0
    assert metrics["correct"] + metrics["stale"] + metrics["abstained"] == metrics["queries"]


@examples(25)
@given(script=scripts())
def test_without_pressure_quiet_policies_are_one_and_the_same(script: Script) -> None:
    runs = [played(roomy(script), policy).records[1:] for policy in QUIET]
    assert all(records == runs[0] for records in runs)


@pytest.mark.parametrize("policy", POLICIES)
@examples(15)
@given(script=scripts())
def test_the_same_script_gives_the_same_records(policy: str, script: Script) -> None:
    again = script_from_json(script_to_json(script))
    assert played(script, policy).records == played(again, policy).records


@pytest.mark.parametrize("policy", [p for p in POLICIES if p not in ("tiered", "disciplined")])
@examples(15)
@given(script=scripts())
def test_a_longer_run_begins_with_the_shorter_one(policy: str, script: Script) -> None:
    """For `tiered`, the last turn is one that has a rule of its own."""
    turns = script.settings["turns"]
    longer = replace(script, settings={**script.settings, "turns": turns + 1})
    short, long = played(script, policy).records, played(longer, policy).records
    assert long[: len(short) - 1] == short[:-1]


@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "pays-back"])
@examples(15)
@given(script=scripts())
def test_prices_change_money_and_nothing_else(policy: str, script: Script) -> None:
    script = replace(
        script,
        settings={
            **script.settings,
            "clock.turn_seconds": 20.0,
            "clock.extra_call_seconds": 5.0,
        },
    )
    other = Price("other", 9.0, 9.0, 9.0, 1.0, CacheRules("breakpoints", 64, 1, 60.0), SPEED)

    def without_money(records: list[Record]) -> list[Record]:
        kept = [r for r in records if r[0] not in ("run", "maintain", "pass")]
        return [("call", r[2], r[3], r[12]) if r[0] == "call" else (r[0], *r[2:]) for r in kept]

    assert without_money(played(script, policy).records) == without_money(
        played(script, policy, other).records
    )


def renamed(script: Script) -> tuple[Script, dict[str, str]]:
    """Return *script* with ids that sort the other way round."""
    text = script_to_json(script)
    stimuli = [*text["stimuli"]]
    for attempt in text["attempts"]:
        stimuli += [*attempt.get("ok", ()), *attempt.get("failed", ())]
    ids = [s["id"] for s in stimuli if "id" in s]
    new = {old: f"n{len(ids) - at:04}" for at, old in enumerate(ids)}
    for s in stimuli:
        for name in ("id", "segment", "pair"):
            if name in s:
                s[name] = new[s[name]]
        for name in ("touches", "requires"):
            if name in s:
                s[name] = [new[old] for old in s[name]]
    return script_from_json(text), new


@pytest.mark.parametrize("policy", POLICIES)
@examples(20)
@given(script=scripts())
def test_names_do_not_matter(policy: str, script: Script) -> None:
    assume(is_strict(script) and script.settings["surrogate.keep"] in (0.0, 1.0))
    other, new = renamed(script)

    def translated(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(translated(part) for part in value)
        if not isinstance(value, str):
            return value
        name, dot, page = value.partition(".p")
        return f"{new[name]}.p{page}" if dot and name in new else new.get(value, value)

    def plain(records: list[Record]) -> list[Record]:
        """Leave out the digest and whatever is a sentence."""
        cut = [r[:-1] if r[0] in ("truncate", "bug") else r for r in records[1:]]
        return [(*r[:4], *r[5:]) if r[0] == "end" else r for r in cut]

    before = [translated(r) for r in plain(played(script, policy).records)]
    after = plain(played(other, policy).records)
    assert before == after


@pytest.mark.parametrize("policy", POLICIES)
@examples(25)
@given(script=scripts())
def test_answers_and_saliences_are_what_the_rules_say(policy: str, script: Script) -> None:
    follow_the_rules(policy, script)


def follow_the_rules(policy: str, script: Script) -> None:
    """Hold every record of a run against a slow reading of the rules."""
    oracle = Oracle(script)
    queries = {s.id: s for s in every(script) if isinstance(s, Query)}
    decided = is_strict(script)
    threshold = script.settings["rehydrate.threshold"]
    for record in played(script, policy).records:
        kind, _, turn, *values = record
        if kind == "score":
            segment, before, after, crossed = values
            said = oracle.salience(segment, turn)
            assert math.isclose(before, said, rel_tol=1e-9, abs_tol=1e-15)
            absent = segment not in oracle.residents()
            assert crossed == (absent and before <= threshold < after)
        elif kind == "turn" and values[0] is not None:
            attempt = script.attempts[values[0] - 1]
            unmet = oracle.unmet(attempt.facts, attempt.paths)
            if unmet is not None and attempt.guarded:
                assert sorted(values[2]) == sorted(unmet)
                assert values[1] == ("failed" if values[2] else "ok")
        elif kind == "answer" and decided:
            possible = oracle.outcomes(queries[values[0]])
            assert possible is None or values[3] in possible, (record, possible)
        oracle.follow(record)
    assert tuple(oracle.residents()) == record[5]


@pytest.mark.parametrize("policy", POLICIES)
@examples(20)
@given(script=scripts())
def test_what_is_asked_is_scored_and_missed_by_the_script(policy: str, script: Script) -> None:
    score_and_miss(policy, script)


def score_and_miss(policy: str, script: Script) -> None:
    """Every touch of a query scores, in the order of the script; whoever is asked and was not
    resident, full and current at the call is missed."""
    oracle = Oracle(script)
    due: list[tuple[str, float]] = []
    lacking: list[str] = []
    met: list[Any] = []
    for record in played(script, policy).records:
        kind, _, turn, *values = record
        if kind == "turn":
            assert (due, lacking) == ([], [])
            met = stimuli_of(script, turn, *values[:2])
        elif kind == "score":
            segment, relevance = due.pop(0)
            assert (values[0], values[2]) == (segment, max(values[1], relevance))
        elif kind == "missed":
            lacking.remove(values[0])
        oracle.follow(record)
        if kind == "call" and not values[9]:
            due = [(s, q.relevance) for q in met if isinstance(q, Query) for s in q.touches]
            asked = [q.touches[0] for q in met if isinstance(q, Query)]
            asked += [o.segment for o in met if isinstance(o, Operator)]
            here = set(oracle.residents())
            lacking = [s for s in asked if s not in here or not oracle.current(s) or oracle.cut(s)]
    assert (due, lacking) == ([], [])


def stimuli_of(script: Script, turn: int, attempt: int | None, branch: str) -> list[Any]:
    """Return what a turn holds, the branch of its attempt after the rest."""
    found = [s for s in script.stimuli if s.turn == turn]
    if attempt is not None and branch in ("ok", "failed"):
        found += getattr(script.attempts[attempt - 1], branch)
    return found


@pytest.mark.parametrize("policy", POLICIES)
@examples(25)
@given(script=scripts())
def test_an_attempt_is_repeated_if_nothing_of_the_last_is_left(policy: str, script: Script) -> None:
    """Of its words, its diff, or a line that stands for them, when the next one begins."""
    oracle = Oracle(script)
    before: int | None = None
    for record in played(script, policy).records:
        if record[0] == "attempt":
            left = {o for s in oracle.residents() for o in oracle.originals(s)}
            words = [
                s
                for s in left
                if oracle.arrivals[s].attempt == before
                and oracle.arrivals[s].kind in (Kind.ASSISTANT, Kind.THINKING, Kind.DIFF)
            ]
            assert bool(record[5]) == (before is not None and not words)
            before = record[3]
        oracle.follow(record)


def every(script: Script) -> list[Any]:
    """Return all stimuli, those of both branches among them."""
    branches = [s for a in script.attempts for s in (*a.ok, *a.failed)]
    return [*script.stimuli, *branches]


@pytest.mark.parametrize("policy", POLICIES)
@examples(25)
@given(script=scripts())
def test_the_cache_sees_the_requests_that_were_sent(policy: str, script: Script) -> None:
    read_from_the_cache(policy, script)


def read_from_the_cache(policy: str, script: Script) -> None:
    """Rule auto, step 1: read is the longest prefix shared with a request that is still live.

    A summary can be asked for, in one call or more, at the end of the window as it stands.
    """
    oracle, cache = Oracle(script), NaiveCache(300.0)
    for record in played(script, policy).records:
        kind, now, _, *values = record
        request = [(f"{s}@{oracle.held.get(s, 0)}", tokens) for s, tokens in oracle.window]
        size = sum(tokens for _, tokens in request)
        if kind == "call":
            tokens, read, written, *_ = values
            assert (tokens, read) == (size, cache.send(now, request))
            assert written == tokens - read
        elif kind in ("maintain", "wasted") and values[-2]:
            calls = values[-3]
            tokens, read = values[1:3] if kind == "maintain" else values[2:4]
            assert tokens >= calls * size
            assert read == sum(cache.send(now, request) for _ in range(calls))
        oracle.follow(record)


def test_pins_of_the_first_turn_above_the_budget_are_bad_input() -> None:
    pin = Arrival(1, "sys", Kind.SYSTEM, 2_000, 1.0, pinned=True)
    for policy in POLICIES:
        with pytest.raises(InputError):
            played(Script("pins", 0, {**BASE_SETTINGS, "turns": 1}, (pin,)), policy)


def test_the_hash_seed_changes_nothing() -> None:
    """One random script under every policy, in three fresh processes."""
    code = (
        "import hashlib\n"
        "from tests.test_random_runs import PRICE, POLICIES, played\n"
        "from tests.support.scripts import fixed\n"
        "text = repr([played(fixed(), p).records for p in POLICIES])\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    root = Path(__file__).parents[1]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }
    assert len(outputs) == 1
