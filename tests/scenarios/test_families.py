"""The families: what every script of theirs must hold, whatever the settings and the seed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.prices import get_price
from policies import registry
from scenarios import reference
from scenarios.families import FAMILIES
from sim.engine import run
from sim.errors import InputError
from sim.script import Arrival, Stimulus, Wait, script_to_json
from sim.segments import SPENDING_KINDS, Kind
from tests.support.families import (
    arrivals,
    check,
    everything,
    flat,
    long,
    queries,
    script,
    text,
    without,
)

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(FAMILIES)
EVERY = pytest.mark.parametrize("name", NAMES)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# -- every family ------------------------------------------------------------------------------


def test_there_are_the_three_families_of_the_reference_file() -> None:
    assert tuple(FAMILIES) == reference.families()
    assert all(FAMILIES[name].name == name and FAMILIES[name].summary for name in FAMILIES)


@EVERY
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_script_holds_together(name: str, seed: int) -> None:
    made = script(name, seed)
    check(made)
    assert made.scenario == name and made.seed == seed
    assert ("ranks" in made.capabilities) == any(a.rank for a in arrivals(made))
    assert {"facts", "roles"} <= made.capabilities


@EVERY
def test_a_script_carries_the_common_settings_alone(name: str) -> None:
    made = script(name)
    common = set(reference.keys())
    assert set(made.settings) <= common
    assert {key for key in flat(name) if key in common} == set(made.settings)


@FEW
@given(st.sampled_from(NAMES), st.integers(0, 2**32), st.integers(1, 90), st.integers(0, 90))
def test_more_turns_only_add_to_the_end(name: str, seed: int, turns: int, more: int) -> None:
    short = script(name, seed, turns=turns)
    longer = script(name, seed, turns=turns + more)
    assert text(short) == text(longer, turns)


@EVERY
def test_a_long_run_begins_with_the_default_one(name: str) -> None:
    endless = {"attempts__max": 0} if name == "coding-agent" else {}
    assert text(script(name, 7, turns=333, **endless)) == text(long(name), 333)


def test_the_same_bytes_in_a_fresh_process_with_another_hash_seed() -> None:
    code = (
        "import hashlib, json\n"
        "from scenarios import reference\n"
        "from scenarios.families import FAMILIES\n"
        "from sim.script import script_to_json\n"
        "for name in sorted(FAMILIES):\n"
        "    made = FAMILIES[name].script(reference.defaults(name), 5)\n"
        "    text = json.dumps(script_to_json(made), sort_keys=True)\n"
        "    print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    here = []
    for name in NAMES:
        made = json.dumps(script_to_json(script(name, 5)), sort_keys=True)
        here.append(hashlib.sha256(made.encode()).hexdigest())
    for hash_seed in ("1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        there = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert there.stdout.split() == here


@EVERY
def test_seeds_differ(name: str) -> None:
    assert len({text(script(name, seed, turns=30)) for seed in range(10)}) == 10


@EVERY
def test_shares_nest_and_change_nothing_else(name: str) -> None:
    """A larger share of copies, or of taggable ones, only adds segments to those of a smaller."""
    shares = (0.0, 0.2, 0.6, 1.0)
    for field, key in (("copy", "copies__tool_result"), ("taggable", "surrogate__taggable")):
        made = [script(name, 3, **{key: share}) for share in shares]
        assert len({without(m, field) for m in made}) == 1
        held = [{a.id for a in arrivals(m) if getattr(a, field)} for m in made]
        assert all(small < large for small, large in pairwise(held))
    results = arrivals(script(name, 3, copies__tool_result=0.6, turns=2000), Kind.TOOL_RESULT)
    if len(results) > 500:
        assert mean(a.copy for a in results) == pytest.approx(0.6, abs=0.07)


@EVERY
def test_by_default_files_have_copies_and_nothing_else_has(name: str) -> None:
    kinds = {(a.kind, a.copy) for a in arrivals(long(name)) if a.kind in SPENDING_KINDS}
    assert kinds == {(Kind.FILE, True), (Kind.TOOL_RESULT, False)}


@EVERY
def test_questions_leave_the_arrivals_alone(name: str) -> None:
    made = [script(name, 4, returns__rate=rate, fresh__rate=1.0) for rate in (0.0, 0.4, 3.0)]
    assert len({json.dumps([repr(a) for a in arrivals(m)]) for m in made}) == 1
    asked = [{(q.turn, q.key, q.relevance) for q in queries(m)} for m in made]
    assert asked[0] < asked[1] < asked[2]


@EVERY
def test_more_user_turns_contain_the_fewer(name: str) -> None:
    few, more = (
        {s.turn for s in script(name, 2, user__share=share).stimuli if isinstance(s, Wait)}
        for share in (0.2, 0.5)
    )
    assert few < more


@EVERY
def test_scores_are_weighted_by_kind(name: str) -> None:
    plain, halved = script(name, 1), script(name, 1, relevance__file=0.5)
    assert without(plain, "score") == without(halved, "score")
    for one, two in zip(arrivals(plain), arrivals(halved), strict=True):
        factor = 0.5 if one.kind is Kind.FILE else 1.0
        assert two.score == pytest.approx(one.score * factor, abs=1e-3)


@EVERY
def test_without_returns_nothing_is_asked_but_what_is_fresh(name: str) -> None:
    made = script(name, 9, returns__rate=0.0, turns=1000)
    came = {a.id: a for a in arrivals(made)}
    assert len(queries(made)) > 30
    for query in queries(made):
        assert len(query.touches) == 1
        assert query.turn - came[query.touches[0]].turn <= 1


@EVERY
def test_without_returns_salience_never_falls_below_what_rewrites(name: str) -> None:
    """What is touched still stands above rewrite.below, by the decay of the reference file."""
    made = script(name, 9, returns__rate=0.0, turns=1000)
    decay, below = made.settings["salience.decay"], made.settings["rewrite.below"]
    score = {a.id: (a.turn, a.score) for a in arrivals(made)}
    for query in queries(made):
        for touched in query.touches:
            turn, given_score = score[touched]
            assert given_score * decay ** (query.turn - turn) > below


@EVERY
def test_user_turns_are_quiescent_and_come_after_a_wait(name: str) -> None:
    by_turn: dict[int, list[Stimulus]] = defaultdict(list)
    for s in everything(long(name)):
        by_turn[s.turn].append(s)
    user_turns = 0
    for stimuli in by_turn.values():
        came = [s for s in stimuli if isinstance(s, Arrival)]
        user = any(a.kind is Kind.USER for a in came)
        user_turns += user
        assert user == any(isinstance(s, Wait) for s in stimuli)
        assert user != any(a.kind in SPENDING_KINDS for a in came)
    share = flat(name)["user.share"]
    turns = max(by_turn)
    expected = share * (1 - 1 / 15) if name == "coding-agent" else share
    assert user_turns / turns == pytest.approx(expected, abs=0.02)


@EVERY
def test_what_the_model_wrote_is_billed(name: str) -> None:
    made = script(name, 3, turns=60)
    written = (Kind.ASSISTANT, Kind.TOOL_CALL, Kind.DIFF, Kind.NOTE)
    wrote: Counter[int] = Counter()
    for s in [*made.stimuli, *(s for a in made.attempts for s in a.ok)]:
        if isinstance(s, Arrival) and s.kind in written:
            wrote[s.turn] += s.tokens
    assert made.output_tokens == dict(wrote)
    assert min(wrote.values()) >= 1 and set(wrote) == {s.turn for s in made.stimuli}


def played(name: str, policy: str, **changes: Any) -> list[dict[str, Any]]:
    price = get_price("claude-sonnet-5", {})
    made = [script(name, seed, turns=60, **changes) for seed in range(4)]
    return [run(m, registry.make(policy), price).metrics for m in made]


@EVERY
@pytest.mark.parametrize("policy", ["naive-rewrite", "tag-or-drop:tag=off"])
def test_without_returns_rewriting_is_harmless(name: str, policy: str) -> None:
    for metrics in played(name, policy, returns__rate=0.0):
        assert metrics["queries"] > 20
        assert metrics["confabulated"] == metrics["reversals"] == 0


@EVERY
def test_returns_reverse_and_rewriting_without_tags_invents(name: str) -> None:
    metrics = played(name, "naive-rewrite")
    assert sum(m["reversals"] for m in metrics) > 0
    assert sum(m["confabulated"] for m in metrics) > 0


@EVERY
@pytest.mark.parametrize("policy", ["naive-rewrite", "tag-or-drop:tag=off"])
def test_with_copies_everywhere_and_refetching_rewriting_is_harmless(
    name: str, policy: str
) -> None:
    everywhere = {f"copies__{kind}": 1.0 for kind in Kind}
    for metrics in played(name, policy, **everywhere, reader__refetch="always"):
        assert metrics["confabulated"] == 0


# -- any settings ------------------------------------------------------------------------------

_HIGH = {"tokens": 300_000, "turns": 60, "files": 12, "attempts": 5, "facts": 5, "segments": 6}


def values(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return changes of any of the family's own keys, within the ranges it documents."""
    choices = {}
    for key in reference.section(name).values():
        if key.name in ("turns", "budget") or key.sort == "text":
            continue
        high = min(key.high, _HIGH.get(key.unit, 1000))
        if key.sort == "whole":
            choices[key.name] = st.integers(int(key.low), int(high))
        else:
            low = max(key.low, 0.01) if key.low_open else key.low
            choices[key.name] = st.floats(low, max(low, high)).map(lambda v: round(v, 3) or v)
    return st.fixed_dictionaries({}, optional=choices)


@pytest.mark.parametrize("name", NAMES)
def test_any_settings_give_a_script_that_holds_together(name: str) -> None:
    @FEW
    @given(values(name), st.integers(0, 2**63), st.integers(1, 50))
    def holds(changes: Mapping[str, Any], seed: int, turns: int) -> None:
        changes = dict(changes)
        if not any(changes.get(k, v) for k, v in flat(name).items() if k.startswith("mix.")):
            changes.update({k: 1 for k in flat(name) if k.startswith("mix.")})
        changes["change.turn"] = min(changes.get("change.turn", 0), turns)
        full = {**flat(name), **reference.check({**changes, "turns": turns}, layer=name)}
        made = FAMILIES[name].script(full, seed)
        check(made)
        shorter = FAMILIES[name].script({**full, "turns": max(1, turns // 2)}, seed)
        assert text(shorter) == text(made, max(1, turns // 2))

    holds()


@pytest.mark.parametrize("name", ["coding-agent", "support-agent"])
def test_tools_without_any_weight_are_bad_input(name: str) -> None:
    zero = {key.replace(".", "__"): 0 for key in flat(name) if key.startswith("mix.")}
    with pytest.raises(InputError, match=r"mix\.\w+, mix\.\w+, .* must not all be 0"):
        script(name, 0, **zero)


@EVERY
def test_a_missing_key_is_named(name: str) -> None:
    incomplete = flat(name)
    del incomplete["returns.rate"]
    with pytest.raises(KeyError, match=r"returns\.rate"):
        FAMILIES[name].script(incomplete, 0)
