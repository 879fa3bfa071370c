"""Random scripts: whoever leaves first is who the policy's rule names, by a slow reading of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given

from policies.registry import make
from sim.engine import run
from sim.records import Record
from sim.script import Script
from sim.segments import Kind
from tests.support.dense import dense
from tests.support.oracle import Oracle
from tests.support.scripts import scripts
from tests.test_random_runs import PRICE, examples

Unit = list[str]
Chooser = Callable[[Oracle], Unit]


def departures(script: Script, policy: str) -> Iterator[tuple[Oracle, Record]]:
    """Yield each eviction and rewrite of a pass, one for all that leaves with it, before it."""
    oracle = Oracle(script)
    gone: set[str] = set()
    for record in run(script, make(policy), PRICE).records:
        if record[0] == "evict" and record[3] not in gone:
            gone.update(oracle.unit(record[3]))
            if record[7] == "pass":
                yield oracle, record
        elif record[0] == "rewrite" and record[10] == "pass":
            yield oracle, record
        elif record[0] in ("admit", "fetch"):
            gone.discard(record[3])
        oracle.follow(record)


def units(oracle: Oracle, *, pinned: bool) -> Iterator[Unit]:
    """Yield what may leave, one list for all that leaves together."""
    seen: set[str] = set()
    for segment in oracle.residents():
        unit = oracle.unit(segment)
        if segment in seen:
            continue
        seen.update(unit)
        if pinned or not any(oracle.pinned(s) for s in unit):
            yield unit


def leading(oracle: Oracle, unit: Unit) -> Unit:
    """A call counts as its result does."""
    results = [s for s in unit if oracle.kind(s) is not Kind.TOOL_CALL]
    return results if len(unit) > 1 and results else unit


def lowest(oracle: Oracle, *, pinned: bool, full: bool = False) -> Unit:
    """The least salient, ties older first; keys within 1e-9 are ties."""
    rows = [
        (min((oracle.salience(s), oracle.order[s]) for s in leading(oracle, unit)), unit)
        for unit in units(oracle, pinned=pinned)
        if not full or any(oracle.full(s) for s in unit)
    ]
    least = min(salience for (salience, _), _ in rows)
    ties = [(age, unit) for (salience, age), unit in rows if salience <= least * (1 + 1e-9)]
    return min(ties)[1]


def over(oracle: Oracle) -> int:
    budget: int = oracle.script.settings["budget"]
    return sum(tokens for _, tokens in oracle.window) - budget


def check(script: Script, policy: str, chooser: Chooser) -> None:
    for oracle, record in departures(script, policy):
        assert over(oracle) > 0, record
        assert record[3] in chooser(oracle), record


@examples(50)
@given(script=scripts())
def test_sliding_window_drops_the_front(script: Script) -> None:
    check(script, "sliding-window", lambda o: o.unit(o.residents()[0]))


@examples(80)
@given(script=scripts())
def test_naive_trim_drops_the_worst_ranked_file(script: Script) -> None:
    def worst(oracle: Oracle) -> Unit:
        ranks = {
            s: oracle.arrivals[s].rank or 0
            for s in oracle.residents()
            if oracle.kind(s) is Kind.FILE
            and oracle.arrivals[s].rank is not None
            and not oracle.pinned(s)
        }
        return [s for s, rank in ranks.items() if rank == max(ranks.values())]

    check(script, "naive-trim", worst)


@examples(50)
@given(script=scripts())
def test_naive_rehydrate_drops_the_least_salient_of_all(script: Script) -> None:
    check(script, "naive-rehydrate", lambda o: lowest(o, pinned=True))


@examples(50)
@given(script=scripts())
def test_slack_swap_refuse_drops_the_least_salient_unpinned(script: Script) -> None:
    check(script, "slack-swap-refuse", lambda o: lowest(o, pinned=False))


@pytest.mark.parametrize("policy", ["naive-rewrite", "tag-or-drop"])
@examples(50)
@given(script=scripts())
def test_the_relevance_pass_takes_the_lowest_and_the_budget_the_lowest_of_the_rest(
    policy: str, script: Script
) -> None:
    rewrite_in_order(policy, script)


def rewrite_in_order(policy: str, script: Script) -> None:
    below = script.settings["rewrite.below"]
    for oracle, record in departures(script, policy):
        taken = record[3] if record[0] == "evict" else record[4][0]
        reason = record[6] if record[0] == "evict" else record[9]
        salience = min(oracle.salience(s) for s in leading(oracle, oracle.unit(taken)))
        assert not any(oracle.pinned(s) for s in oracle.unit(taken)), record
        if reason == "relevance":
            assert salience < below, record
        elif reason == "budget":
            assert over(oracle) > 0, record
            rewrite = record[0] == "rewrite"
            assert taken in lowest(oracle, pinned=False, full=rewrite), record


@examples(80)
@given(script=scripts())
def test_tag_or_drop_never_rewrites_what_was_freed_for_spending(script: Script) -> None:
    """No rewrite after a read, result or fetch without a copy in the same turn."""
    oracle = Oracle(script)
    spent = 0
    for record in run(script, make("tag-or-drop"), PRICE).records:
        if record[0] in ("admit", "fetch"):
            kind, copy = oracle.kind(record[3]), oracle.arrivals[record[3]].copy
            if kind in (Kind.FILE, Kind.TOOL_RESULT, Kind.IMAGE) and not copy:
                spent = record[2]
        if record[0] == "rewrite":
            assert spent != record[2]
            shrinks = record[6] < record[5]
            assert shrinks or all(oracle.arrivals[s].copy for s in record[4])
            assert record[7], "tagged"
        oracle.follow(record)


@examples(80)
@given(script=scripts())
def test_tiered_gives_up_lines_then_bulk_then_the_rest_from_the_end(script: Script) -> None:
    give_up_by_tiers(script)


def give_up_by_tiers(script: Script) -> None:
    last = script.settings["turns"]
    for oracle, record in departures(script, "tiered"):
        assert over(oracle) > 0
        if record[0] == "rewrite" or record[6] not in ("bulk", "other"):
            continue
        spare = [u[0] for u in units(oracle, pinned=False) if oracle.loose_file(u[0])]
        kept = [s for s in spare if oracle.came[s] != record[2]]
        if record[6] == "other":
            assert not spare, record
        elif record[2] != last and record[3] in (kept or spare):
            assert record[3] == (kept or spare)[-1], record


@examples(50)
@given(script=scripts())
def test_the_backstop_cuts_no_more_than_it_must(script: Script) -> None:
    """From the front; before each cut but that of a partner the window is over budget."""
    oracle = Oracle(script)
    partners: set[str] = set()
    for record in run(script, make("no-op"), PRICE).records:
        if record[0] == "truncate":
            if record[3] not in partners:
                assert over(oracle) > 0
                assert record[3] == oracle.residents()[0]
                partners = set(oracle.unit(record[3]))
        elif record[0] == "call":
            assert over(oracle) <= 0
        oracle.follow(record)


@pytest.mark.parametrize("seed", range(30))
def test_long_runs_keep_their_order_as_well(seed: int) -> None:
    script = dense(1_000 + seed)
    check(script, "sliding-window", lambda o: o.unit(o.residents()[0]))
    check(script, "naive-rehydrate", lambda o: lowest(o, pinned=True))
    check(script, "slack-swap-refuse", lambda o: lowest(o, pinned=False))
    for policy in ("naive-rewrite", "tag-or-drop"):
        rewrite_in_order(policy, script)
    give_up_by_tiers(script)
