"""Several agents on one server: timelines by hand, sums over agents, and what cannot happen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.actions import Evict
from sim.engine import run
from sim.errors import AuditError, InadmissibleAction, InputError
from sim.fleet import FleetRun, combined, events, run_fleet
from sim.metrics import METRICS
from sim.prices import CacheRules, Price
from sim.records import FIELDS
from sim.script import Change, KeepAlive, Query, Script, Wait
from sim.segments import Kind
from tests.sim.build import SPEED, UNCACHED, Idle, acting, come, elsewhere, script
from tests.support.chaos import Chaos
from tests.support.scripts import scripts

BLOCKS = Price("server", 1.0, 1.0, 0.1, 5.0, CacheRules("blocks", step=16), SPEED, slots=1)
"""Prefill 1,000 tokens a second, 10,000 read, 0.5 s for each request, 50 a second written."""
FREE = {"clock.turn_seconds": 0.0, "call.output_tokens": 10}
"""A turn lasts as long as what happens in it; an answer of 10 tokens takes 0.2 s."""


def agent(own: int, *more: Any, **fields: Any) -> Script:
    """Return a script of a system of 96 tokens and a first message of *own*."""
    system = come(1, "system", 96, kind=Kind.SYSTEM)
    return script(system, come(1, "own", own), *more, settings=FREE, **fields)


def fleet(*scripts: Script, price: Price = BLOCKS, **fields: Any) -> FleetRun:
    return run_fleet(scripts, [Idle() for _ in scripts], price, keep=True, **fields)


def told(found: FleetRun, agent: int, kind: str) -> list[dict[str, Any]]:
    names = ("type", "time", "turn", *FIELDS[kind])
    return [dict(zip(names, r, strict=True)) for r in found.records[agent] if r[0] == kind]


# By hand. 160 tokens cold: 0.16 + 0.5 s. 32 of 128 cold: 0.032 + 0.0096 + 0.5 s. Decode 0.2 s.


def test_one_slot_and_a_shared_system() -> None:
    found = fleet(agent(64), agent(32))
    (first,), (second,) = told(found, 0, "call"), told(found, 1, "call")
    assert (first["time"], first["read"], first["plain"]) == (0.0, 0, 160)
    assert (second["time"], second["read"], second["plain"]) == (pytest.approx(0.66), 96, 32)
    assert second["prefill_seconds"] == pytest.approx(0.5416)
    assert told(found, 0, "queue") == []
    assert [w["seconds"] for w in told(found, 1, "queue")] == [pytest.approx(0.66)]
    ends = [told(found, number, "end")[0]["seconds"] for number in (0, 1)]
    assert ends == pytest.approx([0.86, 0.66 + 0.5416 + 0.2])


def test_its_metrics() -> None:
    found = fleet(agent(64), agent(32))
    assert [m["queue_seconds"] for m in found.agents] == pytest.approx([0.0, 0.66])
    metrics = found.metrics
    assert (metrics["calls"], metrics["input_tokens"], metrics["cached_tokens"]) == (2, 288, 96)
    assert (metrics["peak_tokens"], metrics["mean_tokens"]) == (160, 144)
    assert metrics["cache_hit_rate"] == pytest.approx(96 / 288)
    assert metrics["queue_seconds"] == pytest.approx(0.66)
    assert metrics["prefill_seconds"] == pytest.approx(0.66 + 0.5416)
    assert metrics["total_seconds"] == pytest.approx(1.4016)
    assert metrics["total_cost_usd"] == pytest.approx((192 + 96 * 0.1 + 20 * 5) * 1e-6)
    assert (metrics["status"], metrics["reason"]) == ("completed", "")
    assert found.server.figures()["utilisation"] == pytest.approx((0.66 + 0.5416) / 1.4016)


def test_what_has_one_name_and_another_owner_is_not_the_same() -> None:
    """System is shared; the message, of one id and size with both, is not; nor what follows it."""
    late = come(2, "late", 32, kind=Kind.SYSTEM)
    found = fleet(agent(64, late), agent(64, late))
    assert [call["read"] for call in told(found, 1, "call")] == [96, 160]
    assert [call["read"] for call in told(found, 0, "call")] == [0, 160]


def test_tools_that_have_changed_alike_are_the_same() -> None:
    change = Change(2, "tools", "other")
    found = fleet(agent(64, change, turns=2), agent(64, change, turns=2))
    assert [call["read"] for call in told(found, 0, "call")] == [0, 0]
    assert [call["read"] for call in told(found, 1, "call")] == [96, 96]


def test_a_cache_too_small_for_both() -> None:
    """Room for 10 blocks, and each needs all: what one computes, the other has lost but the head.

    When agent 1 comes, the last 4 blocks of agent 0 are the first to go. Its request of 160, sent
    again at once, would have read 144, as a token is always computed: 48 were lost, 16 never read.
    """
    small = replace(BLOCKS, rules=replace(BLOCKS.rules, capacity=10))
    next_turn = come(2, "next", 1)
    found = fleet(agent(64, next_turn), agent(64, Wait(1, 5.0), Wait(2, 20.0), next_turn))
    assert [call["read"] for call in told(found, 0, "call")] == [0, 160]
    found = fleet(
        agent(64, Wait(2, 10.0), next_turn), agent(64, Wait(1, 5.0), next_turn), price=small
    )
    calls = told(found, 0, "call")
    assert [call["read"] for call in calls] == [0, 96]
    assert [(cause, tokens) for cause, tokens, _ in calls[1]["causes"]] == [
        ("read", 96), ("append", 1), ("expiry", 48), ("rule", 16),
    ]  # fmt: skip


def test_a_turn_of_fixed_length_queues_for_nothing() -> None:
    fixed = [replace(s, settings={**s.settings, "clock.turn_seconds": 20.0}) for s in (agent(64),)]
    found = fleet(*fixed, *fixed)
    assert found.metrics["queue_seconds"] == 0
    assert found.metrics["total_seconds"] == 20.0
    assert [told(found, n, "call")[0]["read"] for n in (0, 1)] == [0, 96]


def test_pings_stand_beside_the_queue() -> None:
    pinged = agent(64, Wait(2, 100.0), KeepAlive(2, 30.0), turns=2)
    found = fleet(pinged, pinged)
    assert found.metrics["pings"] == 6
    assert found.metrics["queue_seconds"] == pytest.approx(0.66)
    assert len(found.server.served) == 4


def test_an_extra_call_queues_too() -> None:
    """Agent 1 asks for what it has evicted when agent 0 has just begun its second call."""
    asked = agent(
        64, come(1, "gone", 320, copy=True, facts=("k",)), Query(2, "q", "k", 0.9, ("gone",))
    )
    policies = [acting({2: [Evict("gone", "x")]}), acting({2: [Evict("gone", "x")]})]
    found = run_fleet([asked, asked], policies, BLOCKS, keep=True)
    assert found.metrics["fetches"] == 2
    assert [call["extra"] for call in told(found, 1, "call")] == [False, False, True]
    waits = sum(w["seconds"] for n in (0, 1) for w in told(found, n, "queue"))
    assert found.metrics["queue_seconds"] == pytest.approx(waits)
    assert sum(s.waited for s in found.server.served) == pytest.approx(waits)


# Against agents that are alone.


def alone(it: Script, policy: Any, price: Price) -> dict[str, Any]:
    return run(it, policy, price).metrics


@settings(max_examples=40, deadline=None)
@given(st.lists(scripts(), min_size=1, max_size=3), st.integers(0, 3))
def test_where_nothing_is_shared_each_is_as_it_is_alone(its: list[Script], seed: int) -> None:
    """No cache, no slots: whatever the policy does, its figures are those of a run of its own."""
    its = [replace(it, settings={**it.settings, **FREE}) for it in its]
    found = run_fleet(its, [Chaos(seed) for _ in its], UNCACHED)
    for it, metrics in zip(its, found.agents, strict=True):
        assert metrics == pytest.approx(alone(it, Chaos(seed), UNCACHED))


@settings(max_examples=40, deadline=None)
@given(scripts(), st.integers(0, 3))
def test_an_agent_alone_on_a_server_is_as_without_one(it: Script, seed: int) -> None:
    it = replace(it, settings={**it.settings, **FREE})
    found = run_fleet([it], [Chaos(seed)], BLOCKS)
    assert found.agents[0] == pytest.approx(alone(it, Chaos(seed), BLOCKS))
    assert {**found.metrics, "reason": found.agents[0]["reason"]} == found.agents[0]


@settings(max_examples=25, deadline=None)
@given(st.lists(scripts(), min_size=2, max_size=3), st.integers(1, 20), st.integers(0, 3))
def test_every_run_of_a_fleet_agrees_with_its_second_reckoning(
    its: list[Script], capacity: int, seed: int
) -> None:
    """The recount runs with each; and every wait and every token of the server is in some run."""
    its = [replace(it, settings={**it.settings, **FREE}) for it in its]
    price = replace(BLOCKS, rules=replace(BLOCKS.rules, capacity=capacity))
    found = run_fleet(its, [Chaos(seed) for _ in its], price)
    served = found.server.served
    assert len(served) == found.metrics["calls"]
    assert sum(s.read for s in served) == found.metrics["cached_tokens"]
    assert found.metrics["queue_seconds"] == pytest.approx(sum(s.waited for s in served))


def test_the_draws_of_a_replicate_are_its_own() -> None:
    it = agent(64)
    assert it.draws == it.seed
    others = {replace(it, seed=seed, replicate=n).draws for seed in (0, 1) for n in (1, 2)}
    assert len(others | {0, 1}) == 6


# The figures of all.


def test_combined_by_hand() -> None:
    nothing: dict[str, Any] = {m.name: m.empty for m in METRICS}
    one = {
        **nothing, "status": "completed", "reason": "", "queries": 4, "confabulated": 1,
        "confabulation_rate": 0.25, "first_confabulation_turn": 9, "peak_tokens": 100,
        "peak_share": 0.5, "peak_demand_tokens": 300, "calls": 2, "input_tokens": 150,
        "cached_tokens": 30, "mean_tokens": 75, "cache_hit_rate": 0.2, "total_seconds": 7.0,
        "queue_seconds": 1.5, "total_cost_usd": 0.25, "paid_back": 1, "turns": 2,
    }  # fmt: skip
    other = {
        **nothing, "status": "failed", "reason": "attempts exhausted", "queries": 0,
        "peak_tokens": 120, "peak_share": 0.6, "peak_demand_tokens": 200, "calls": 1,
        "input_tokens": 120, "mean_tokens": 120, "cache_hit_rate": 0.0, "total_seconds": 9.0,
        "queue_seconds": 0.5, "total_cost_usd": 0.5, "paid_back": 2, "turns": 1,
    }  # fmt: skip
    both = combined([one, other])
    expected = {
        "queries": 4, "confabulation_rate": 0.25, "first_confabulation_turn": 9,
        "peak_tokens": 120, "peak_share": 0.6, "peak_demand_tokens": 300, "mean_tokens": 90,
        "cache_hit_rate": 30 / 270, "total_seconds": 9.0, "queue_seconds": 2.0,
        "total_cost_usd": 0.75, "paid_back": 3, "turns": 3,
    }  # fmt: skip
    assert {name: both[name] for name in expected} == pytest.approx(expected)
    assert both["status"] == "failed"
    assert both["reason"] == "1 of 2 agents failed; agent 1: attempts exhausted"
    assert set(both) == {*nothing, "status", "reason"}
    assert combined([one, {**one, "first_confabulation_turn": 3}])["first_confabulation_turn"] == 3
    assert combined([one, {**one, "paid_back": None}])["paid_back"] is None
    silent = combined([other, other])
    assert (silent["confabulation_rate"], silent["first_confabulation_turn"]) == (None, None)
    with pytest.raises(ValueError, match="at least one agent"):
        combined([])


def test_events_stand_by_time_with_their_agent() -> None:
    found = fleet(agent(64), agent(32))
    log = list(events(found.records))
    assert [(e["time"], e["agent"]) for e in log] == sorted((e["time"], e["agent"]) for e in log)
    assert list(log[0])[:4] == ["type", "agent", "time", "turn"]
    assert [e["agent"] for e in log if e["type"] in ("run", "end")] == [0, 1, 0, 1]
    for number in (0, 1):
        mine = [e["type"] for e in log if e["agent"] == number]
        assert mine == [r[0] for r in found.records[number]]


@pytest.mark.parametrize(("capacity", "left"), [(1, 1), (10, 3)])
def test_an_agent_that_has_ended_leaves_no_more_than_its_blocks(capacity: int, left: int) -> None:
    price = replace(BLOCKS, rules=replace(BLOCKS.rules, capacity=capacity))
    found = fleet(agent(64), agent(32), agent(16), price=price)
    assert len(found.server.cache.tree) <= left
    assert len(fleet(agent(64), agent(32), price=UNCACHED).server.cache.tree) == 0


def test_records_are_kept_only_if_asked_for() -> None:
    assert run_fleet([agent(64)], [Idle()], BLOCKS).records == []


# What goes wrong.


def test_one_that_fails_does_not_stop_the_others() -> None:
    pins = Idle(pins=lambda view, segment: True)
    full = script(come(1, "a", 60), come(1, "b", 60), budget=100, settings=FREE)
    found = run_fleet([full, agent(64)], [pins, Idle()], BLOCKS)
    assert [m["status"] for m in found.agents] == ["failed", "completed"]
    assert found.metrics["status"] == "failed"
    assert found.metrics["reason"].startswith("1 of 2 agents failed; agent 0: the pinned segments")
    assert found.metrics["calls"] == 1


def test_a_bug_under_strict_is_raised_as_it_is() -> None:
    wrong = acting({1: [Evict("nobody", "x")]})
    with pytest.raises(InadmissibleAction, match="nobody"):
        run_fleet([agent(64), agent(64)], [Idle(), wrong], BLOCKS, strict=True)
    found = run_fleet([agent(64), agent(64)], [Idle(), acting({1: [Evict("nobody", "x")]})], BLOCKS)
    assert found.metrics["policy_bugs"] == 1


def test_a_policy_that_breaks_stops_the_fleet_where_it_broke() -> None:
    def breaks(view: Any) -> Any:
        raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken") as raised:
        run_fleet([agent(64), agent(32)], [Idle(), Idle(before_call=breaks)], BLOCKS)
    assert raised.traceback[-1].name == "breaks"
    with pytest.raises(ZeroDivisionError):
        run_fleet([agent(64)], [Idle(after_turn=breaks)], BLOCKS)
    with pytest.raises(ZeroDivisionError):
        run_fleet([agent(64)], [Idle(start=breaks)], BLOCKS)


def test_a_recount_that_disagrees_names_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    def disagrees(world: Any, recount: Any) -> None:
        raise AuditError("no")

    monkeypatch.setattr("sim.engine._agree", disagrees)
    with pytest.raises(AuditError, match="agent 0: no"):
        fleet(agent(64), agent(32))


def test_pins_over_the_budget_name_the_agent() -> None:
    pinned = script(come(1, "a", 200, pinned=True), budget=100)
    with pytest.raises(InputError, match="agent 1: the pins of turn 1 need 200"):
        fleet(agent(64), pinned)


def test_what_cannot_be_a_fleet() -> None:
    with pytest.raises(ValueError, match="0 scripts"):
        run_fleet([], [], BLOCKS)
    with pytest.raises(ValueError, match="1 scripts cannot run under 2"):
        run_fleet([agent(64)], [Idle(), Idle()], BLOCKS)


def test_the_same_fleet_in_another_process() -> None:
    code = (
        "import hashlib, json; from tests.sim.test_fleet import *;"
        "found = fleet(agent(64), agent(32), agent(64), agent(16));"
        "text = json.dumps(list(events(found.records))) + json.dumps(found.metrics);"
        "print(hashlib.md5(text.encode()).hexdigest())"
    )
    assert elsewhere(code, 1) == elsewhere(code, 2)
