"""The families follow their stated parameters, and each has the shape that it is there for."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import mean, median
from typing import Any

import pytest

from scenarios.families import FAMILIES
from sim.reduction import least_tokens
from sim.script import Act, Arrival, Script, Wait, Write
from sim.segments import SPENDING_KINDS, Kind
from tests.support.families import (
    arrivals,
    check,
    long,
    queries,
    script,
    tail,
)

EVERY = pytest.mark.parametrize("name", sorted(FAMILIES))


def reduced(arrival):
    """Return the size to which *arrival* is reduced, None if it is within its tool's limit."""
    limit = arrival.max_result_tokens
    return None if limit is None or arrival.tokens <= limit else least_tokens(arrival)


# -- distributions -----------------------------------------------------------------------------


SIZES = [
    # family, kind, tool, median, p90, cap: the rows of the recorded sizes
    ("doc-analysis", Kind.FILE, "read", 640, 4169, 22143),
    ("doc-analysis", Kind.TOOL_RESULT, "search", 286, 5552, 19478),
    ("coding-agent", Kind.TOOL_RESULT, "bash", 92, 746, 7508),
    ("coding-agent", Kind.TOOL_RESULT, "grep", 114, 1183, 5008),
    ("coding-agent", Kind.TOOL_RESULT, "edit", 30, 250, 3620),
    ("support-agent", Kind.TOOL_RESULT, "lookup", 167, 241, 2029),
    ("support-agent", Kind.FILE, "page", 640, 4169, 22143),
    ("support-agent", Kind.TOOL_RESULT, "dump", 9000, 24000, 25000),
]


@pytest.mark.parametrize(("name", "kind", "tool", "middle", "p90", "cap"), SIZES)
def test_sizes_follow_the_recorded_ones(
    name: str, kind: Kind, tool: str, middle: int, p90: int, cap: int
) -> None:
    sizes = [float(a.tokens) for a in arrivals(long(name), kind, tool)]
    assert len(sizes) > 150
    slack = 0.1 if len(sizes) > 1000 else 0.25
    assert median(sizes) == pytest.approx(middle, rel=slack)
    assert tail(sizes, 90) == pytest.approx(p90, rel=1.5 * slack)
    assert max(sizes) <= cap


def test_latencies_and_waits_follow_the_recorded_ones() -> None:
    for name in ("doc-analysis", "support-agent"):
        latencies = [a.time for a in arrivals(long(name)) if a.kind in SPENDING_KINDS]
        assert median(latencies) == pytest.approx(0.3, rel=0.15)
        assert tail(latencies, 90) == pytest.approx(13.6, rel=0.2)
        assert max(latencies) <= 216.0
    waits = [s.seconds for s in long("support-agent").stimuli if isinstance(s, Wait)]
    assert 84 * 0.9 < median(waits) < 126
    assert 0.20 <= mean(wait > 300 for wait in waits) <= 0.302
    assert max(waits) <= 13.9 * 3600


@pytest.mark.parametrize(("name", "calls"), [("doc-analysis", 1.37), ("support-agent", 1.05)])
def test_calls_in_a_turn(name: str, calls: float) -> None:
    per_turn = Counter(a.turn for a in arrivals(long(name), Kind.TOOL_CALL))
    assert mean(per_turn.values()) == pytest.approx(calls, rel=0.03)
    assert max(per_turn.values()) <= 8


def test_the_mixes_follow_their_weights() -> None:
    reads = len(arrivals(long("doc-analysis"), Kind.FILE))
    hits = len(arrivals(long("doc-analysis"), Kind.TOOL_RESULT))
    assert hits / (reads + hits) == pytest.approx(0.35, abs=0.03)
    tools = Counter(a.tool for a in arrivals(long("coding-agent"), Kind.TOOL_CALL))
    weights = {"read": 4554, "bash": 5490, "grep": 2413, "edit": 3908}
    called = sum(tools[tool] for tool in weights)
    for tool, weight in weights.items():
        assert tools[tool] / called == pytest.approx(weight / 16365, abs=0.03)


@EVERY
def test_returns_have_the_stated_rate_and_tail(name: str) -> None:
    made = script(
        name,
        11,
        turns=8000,
        fresh__rate=0.0,
        returns__rate=0.5,
        user__share=0.0,
        **({"attempts__max": 0, "reads__again": 0.0} if name == "coding-agent" else {}),
    )
    came = {a.id: a.turn for a in arrivals(made)}
    asked = queries(made)
    late = [q for q in asked if q.turn > 4000]
    assert all(q.turn - came[q.touches[0]] >= 2 for q in asked)
    # A lag beyond the first turn asks nothing: at turn t that is (2 / t) to the power 0.5.
    assert len(late) / 4000 == pytest.approx(0.5 * (1 - (2 / 6000) ** 0.5), abs=0.03)
    for lag in (10, 40, 400):
        beyond = sum(q.turn - came[q.touches[0]] >= lag for q in late) / (0.5 * 4000)
        assert beyond == pytest.approx((2 / lag) ** 0.5 - (2 / 6000) ** 0.5, abs=0.04)


@EVERY
def test_relevance_lies_on_both_sides_of_the_threshold(name: str) -> None:
    relevance = [q.relevance for q in queries(long(name))]
    assert 0.4 <= min(relevance) < 0.42 and 0.98 < max(relevance) <= 1.0
    assert mean(r > 0.6 for r in relevance) == pytest.approx(2 / 3, abs=0.03)


@EVERY
def test_returns_touch_mates_of_one_topic(name: str) -> None:
    counts = Counter(len(q.touches) for q in queries(long(name)))
    assert set(counts) == {1, 2, 3} and counts[3] > 0
    alone = queries(script(name, 0, returns__mates=0))
    assert {len(q.touches) for q in alone} == {1}


def test_pages_of_one_document_are_mates() -> None:
    made = long("doc-analysis")
    paths = {a.id: a.path for a in arrivals(made)}
    for query in queries(made):
        documents = {paths[i].split("/")[0] for i in query.touches if paths[i] is not None}  # type: ignore[union-attr]
        assert len(documents) <= 1
    pages = Counter(p.split("/")[0] for p in paths.values() if p is not None)
    assert mean(pages.values()) == pytest.approx(8, rel=0.12)


# -- budgets -----------------------------------------------------------------------------------


def held_by_relevance(made: Script, line: int, waits: bool) -> int:
    """Return the peak of a window whose segments become a line of their own below 0.25.

    With *waits* a turn that brings something without a copy rewrites nothing. What is asked about
    again comes back whole. A second, plain reckoning: it scans everything each turn.
    """
    turns = made.turns()
    decay = 0.85
    full: dict[str, tuple[float, int]] = {}
    sizes: dict[str, int] = {}
    tokens = peak = 0
    for turn in range(1, made.settings["turns"] + 1):
        came = turns[turn].arrivals
        for a in came:
            tokens += a.tokens
            sizes[a.id] = a.tokens
            if not a.pinned:
                full[a.id] = (a.score, turn)
        if not (waits and any(a.kind in SPENDING_KINDS and not a.copy for a in came)):
            for id in [i for i, (s, at) in full.items() if s * decay ** (turn - at) < 0.25]:
                del full[id]
                tokens += min(0, line - sizes[id])
        peak = max(peak, tokens)
        for query in turns[turn].queries:
            if query.touches[0] not in full:
                tokens += sizes[query.touches[0]]
            full[query.touches[0]] = (query.relevance, turn)
    return peak


def test_the_budget_of_doc_analysis_binds_only_what_keeps_everything() -> None:
    for seed in range(20):
        made = script("doc-analysis", seed)
        budget = made.settings["budget"]
        assert budget == 128_000
        assert sum(a.tokens for a in arrivals(made)) > 2 * budget
        assert sum(a.tokens for a in arrivals(made) if a.turn <= 20) < budget
        assert held_by_relevance(made, 12, waits=False) < budget
        assert held_by_relevance(made, 20, waits=True) < budget


@EVERY
def test_the_pins_fit_and_the_whole_does_not(name: str) -> None:
    budgets = {"doc-analysis": 128_000, "coding-agent": 200_000, "support-agent": 40_000}
    made = script(name)
    assert made.settings["budget"] == budgets[name]
    assert sum(a.tokens for a in arrivals(made) if a.pinned) < budgets[name] / 10
    assert sum(a.tokens for a in arrivals(made)) > budgets[name]


# -- coding-agent ------------------------------------------------------------------------------


def test_retrieval_fills_the_first_turn() -> None:
    for seed in range(20):
        first = [a for a in arrivals(script("coding-agent", seed)) if a.turn == 1]
        files = [a for a in first if a.rank is not None]
        assert [a.rank for a in files] == list(range(1, 9))
        fill = sum(a.tokens for a in first if a.rank or a.pinned)
        assert fill == pytest.approx(70_000, rel=0.15)


def test_attempts_come_one_after_the_other_and_the_last_ends_it() -> None:
    gaps = []
    for seed in range(60):
        made = script("coding-agent", seed, turns=400)
        turns = [1, *(a.turn for a in made.attempts)]
        gaps += [b - a for a, b in pairwise(turns)]
        assert [a.number for a in made.attempts] == [1, 2, 3, 4]
        assert [a.guarded for a in made.attempts] == [False, False, True, True]
        assert made.stimuli[-1].turn == made.attempts[-1].turn
    assert min(gaps) >= 1
    assert mean(gaps) == pytest.approx(15, rel=0.15)
    assert len(long("coding-agent").attempts) == pytest.approx(4000 / 15, rel=0.15)


def test_an_attempt_needs_what_was_seen_long_before() -> None:
    made = long("coding-agent")
    seen: dict[str, int] = {}
    paths: dict[str, int] = {}
    for a in arrivals(made):
        for fact in a.facts:
            seen.setdefault(fact.key, a.turn)
        if a.path is not None:
            paths.setdefault(a.path, a.turn)
    written: dict[str, int] = {}
    ago = []
    writes = [s for s in made.stimuli if isinstance(s, Write) and s.attempt is not None]
    for write in writes:
        written[f"{write.path} {write.attempt}"] = write.turn
    for attempt in made.attempts[2:]:
        assert len(attempt.facts) == len(attempt.paths) == 1
        assert attempt.turn - seen[attempt.facts[0]] >= min(10, attempt.turn - 1)
        just_written = f"{attempt.paths[0]} {attempt.number - 1}" in written
        if not just_written:
            assert attempt.turn - paths[attempt.paths[0]] >= min(10, attempt.turn - 1)
        ago.append(just_written)
        assert not any(w.turn == attempt.turn and w.path in attempt.paths for w in writes)
    assert mean(ago) == pytest.approx(0.264, abs=0.08)


def test_a_guarded_attempt_has_both_branches_with_the_same_tools() -> None:
    made = long("coding-agent")
    for attempt in made.attempts[2:]:
        ok = [s for s in attempt.ok if isinstance(s, Arrival)]
        failed = [s for s in attempt.failed if isinstance(s, Arrival)]
        tools = ["typecheck", "lint", "tests"]
        assert [a.tool for a in ok if a.kind is Kind.TOOL_CALL] == tools
        assert [a.tool for a in failed if a.kind is Kind.TOOL_CALL][:3] == tools
        assert {a.tokens for a in ok if a.kind is Kind.TOOL_RESULT} == {40}
        assert [a.path for a in failed if a.path is not None] == list(attempt.paths)
        passing = {a.tool: a.time for a in ok if a.kind is Kind.TOOL_RESULT}
        assert passing == {a.tool: a.time for a in failed if a.kind is Kind.TOOL_RESULT}


def test_each_attempt_speaks_writes_and_acts_on_the_task() -> None:
    made = long("coding-agent")
    turns = made.turns()
    for attempt in made.attempts:
        turn = turns[attempt.turn]
        words = [a for a in turn.arrivals if a.attempt == attempt.number]
        assert [a.kind for a in words] == [Kind.ASSISTANT, Kind.DIFF]
        assert [act.requires for act in turn.acts] == [("task",)]
        assert all(write.attempt == attempt.number for write in turn.writes)
    assert {a.attempt for a in arrivals(made)} == {None, *(a.number for a in made.attempts)}


def test_the_tools_finish_in_any_order() -> None:
    orders = set()
    for attempt in long("coding-agent").attempts[2:]:
        results = [s for s in attempt.failed if isinstance(s, Arrival) and s.path is None]
        results = [a for a in results if a.kind is Kind.TOOL_RESULT]
        orders.add(tuple(a.tool for a in sorted(results, key=lambda a: a.time)))
    assert len(orders) == 6


def test_diagnostics_are_built_as_the_type_check_of_the_seed_was() -> None:
    """431 errors of 142 tokens in 118 files are 61,204 tokens (rounded up to whole errors)."""
    found = []
    for attempt in long("coding-agent").attempts[2:]:
        found += [s for s in attempt.failed if isinstance(s, Arrival) and s.tool == "typecheck"]
    results = [a for a in found if a.kind is Kind.TOOL_RESULT]
    sizes = [float(a.tokens) for a in results]
    assert median(sizes) == pytest.approx(22_000, rel=0.2)
    assert tail(sizes, 90) == pytest.approx(61_204, rel=0.3)
    for a in results:
        assert a.structure is not None and a.max_result_tokens == 24_000
        assert a.structure.entries == pytest.approx(a.tokens / 142, abs=0.51)
        assert a.structure.groups / a.structure.entries == pytest.approx(118 / 431, abs=1.01 / 3)
        assert a.structure.groups <= a.structure.entries
        size = reduced(a)
        assert size is None or size <= 24_000
        assert 1 <= len(a.names) <= 3


def test_named_and_written_paths_have_been_seen() -> None:
    made = long("coding-agent")
    seen: set[str] = set()
    by_turn = made.turns()
    for turn in sorted(by_turn):
        seen |= {a.path for a in by_turn[turn].arrivals if a.path is not None}
        for a in by_turn[turn].arrivals:
            assert set(a.names) <= seen
        for write in by_turn[turn].writes:
            assert isinstance(write, Write) and write.path in seen


def test_reads_repeat_and_carry_the_version_that_stands() -> None:
    made = long("coding-agent")
    stated: dict[str, tuple[Any, ...]] = {}
    size: dict[str, int] = {}
    again: list[bool] = []
    by_turn = made.turns()
    for turn in sorted(by_turn):
        for a in by_turn[turn].arrivals:
            if a.path is None:
                continue
            if a.rank is None:
                again.append(a.path in stated)
            assert stated.setdefault(a.path, a.facts) == a.facts
            assert size.setdefault(a.path, a.tokens) == a.tokens
        for write in by_turn[turn].writes:
            assert isinstance(write, Write) and write.facts is not None and write.tokens is None
            assert [f.key for f in write.facts] == [f.key for f in stated[write.path]]
            stated[write.path] = write.facts
    assert mean(again) == pytest.approx(0.558, abs=0.03)


def test_without_needs_every_attempt_fails_by_script() -> None:
    made = script("coding-agent", 1, needs__facts=0, needs__paths=0)
    check(made)
    assert not any(attempt.guarded for attempt in made.attempts)
    assert len(arrivals(made, Kind.TOOL_RESULT, "typecheck")) == len(made.attempts) == 4


# -- support-agent -----------------------------------------------------------------------------


def test_constraints_stand_and_acts_require_earlier_ones() -> None:
    made = long("support-agent")
    standing = {a.id: a.turn for a in arrivals(made) if a.standing}
    assert len(standing) == 7
    assert all(len(a.facts) == 1 and not a.pinned for a in arrivals(made) if a.standing)
    acts = [s for s in made.stimuli if isinstance(s, Act)]
    for act in acts:
        assert len(act.requires) == 1
        assert all(standing[required] < act.turn for required in act.requires)
    assert {r for act in acts for r in act.requires} == set(standing)
    assert len(acts) / 4000 == pytest.approx(0.1, abs=0.015)
    several = script("support-agent", 0, acts__requires=3, turns=500)
    assert max(len(s.requires) for s in several.stimuli if isinstance(s, Act)) == 3


def test_messages_are_as_long_as_recorded() -> None:
    made = long("support-agent")
    said = [float(a.tokens) for a in arrivals(made, Kind.ASSISTANT)]
    assert median(said) == pytest.approx(63, rel=0.05)
    assert tail(said, 90) == pytest.approx(141, rel=0.1)
    heard = [float(a.tokens) for a in arrivals(made, Kind.USER) if not a.standing]
    assert median(heard) == pytest.approx(23, rel=0.05)
    assert tail(heard, 90) == pytest.approx(41, rel=0.1)


def test_summaries_cover_about_half_of_what_came_since_the_last() -> None:
    made = long("support-agent")
    since: set[str] = set()
    covered = total = 0
    summaries = 0
    for a in arrivals(made):
        if a.kind is Kind.SUMMARY:
            summaries += 1
            keys = {fact.key for fact in a.facts}
            assert keys <= since and a.tokens == 300 and a.score == 0.6
            covered += len(keys)
            total += len(since)
            since = set()
        elif a.kind in SPENDING_KINDS:
            since |= {fact.key for fact in a.facts}
    assert covered / total == pytest.approx(0.53, abs=0.03)
    assert 4000 / summaries == pytest.approx(15, rel=0.15)
    assert not arrivals(script("support-agent", 0, summary__every=0.0), Kind.SUMMARY)


def test_dumps_are_often_over_the_limit_and_a_reduction_loses_their_share() -> None:
    dumps = [
        dump
        for seed in range(8)
        for dump in arrivals(script("support-agent", seed, turns=2000), Kind.TOOL_RESULT, "dump")
    ]
    over = [a for a in dumps if a.tokens > 10_000]
    assert mean(a.tokens > 10_000 for a in dumps) == pytest.approx(0.445, abs=0.06)
    assert all(f.reducible for a in dumps if a.tokens <= 10_000 for f in a.facts)
    kept = mean(f.reducible for a in over for f in a.facts)
    assert kept == pytest.approx(mean(10_000 / a.tokens for a in over), abs=0.05)
