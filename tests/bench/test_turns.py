from __future__ import annotations

import pytest

from bench import turns
from bench.cells import run_one
from bench.fleets import fleet_of, scripts_of
from scenarios.catalogue import load
from sim.metrics import NAMES

RUN = ("run", 0.0, 0, "made-up", "mine", 0, 100, "list", (1.0, 1.0, 0.1, 5.0), (), "x")


def call(time: float, turn: int, tokens: int, usd: float) -> tuple[object, ...]:
    return ("call", time, turn, tokens, 0, 0, tokens, 7, usd, 0.5, 1.0, 2.0, False, ())


RECORDS = [
    RUN,
    ("turn", 0.0, 1, None, "", ()),
    ("admit", 0.0, 1, "a", 60, "whole", 5, (), 1.0, None),
    ("demand", 0.0, 1, 60, 0),
    call(0.0, 1, 60, 2.0),
    ("turn", 3.0, 2, 1, "ok", ()),
    ("demand", 3.0, 2, 90, 0),
    ("evict", 3.0, 2, "a", 60, "copy", "age", "pass"),
    call(3.0, 2, 30, 1.0),
    ("missed", 3.0, 2, "a", 60, "query"),
    ("answer", 4.0, 2, "q", "k", "a", "abstained", "gone", ""),
    call(5.0, 2, 40, 1.5),
    ("turn", 8.0, 3, None, "", ()),
    ("end", 8.0, 3, "failed", "pins", (), 8.0),
]


def test_each_turn_has_its_own_part() -> None:
    found = turns.turns_of(RECORDS, agent=4)
    assert list(found) == turns.columns()
    assert found["agent"] == [4, 4, 4]
    assert found["turn"] == [1, 2, 3]
    assert found["started_seconds"] == [0.0, 3.0, 8.0]
    assert found["turn_seconds"] == [3.0, 5.0, 0.0]
    assert found["attempt"] == [None, 1, None]
    assert found["branch"] == ["", "ok", ""]
    assert found["calls"] == [1, 2, 0]
    assert found["input_tokens"] == [60, 70, 0]
    assert found["peak_tokens"] == [60, 40, None]
    assert found["peak_demand_tokens"] == [60, 90, None]
    assert found["evictions"] == [0, 1, 0]
    assert found["evicted_copy_tokens"] == [0, 60, 0]
    assert found["never_admitted_tokens"] == [5, 0, 0]
    assert found["abstained"] == [0, 1, 0]
    assert found["missed_tokens"] == [0, 60, 0]
    assert found["prefill_cost_usd"] == [2.0, 2.5, 0]
    assert found["total_cost_usd"] == [2.5, 3.5, 0]


def test_columns_are_metrics_that_add_up() -> None:
    names = turns.columns()[len(turns.OWN) :]
    assert names == [name for name in NAMES if name in names]
    assert not {"confabulation_rate", "resident_tokens", "turns", "paid_back"} & set(names)


@pytest.mark.parametrize(
    ("scenario", "policy"),
    [
        ("doc-analysis", "disciplined"),
        ("coding-agent", "tiered"),
        ("support-agent", "naive-rewrite"),
        ("stale-file", "no-op"),
    ],
)
def test_a_run_is_the_sum_of_its_turns(scenario: str, policy: str) -> None:
    metrics, records = run_one(load(scenario).script(1), policy)
    found = turns.turns_of(records)
    assert found["turn"] == list(range(1, metrics["turns"] + 1))
    assert sum(found["turn_seconds"]) == pytest.approx(metrics["total_seconds"])
    for name in turns.columns()[len(turns.OWN) :]:
        values = [value for value in found[name] if value is not None]
        whole = max(values) if name.startswith("peak_") else sum(values)
        assert whole == pytest.approx(metrics[name], rel=1e-9), name


def test_every_agent_of_a_fleet_has_its_turns() -> None:
    from bench.runs import Unit, run_unit

    scenario = load("doc-analysis", {"agents": 2, "turns": 5, "price": "vllm"})
    unit = Unit(scenario, 0, (("vllm", "tiered", "tiered"),), strict=False, turns=True)
    (result,) = run_unit(unit)
    found = result.turns
    assert found is not None
    assert list(zip(found["agent"], found["turn"], strict=True)) == [
        (agent, turn) for agent in (0, 1) for turn in range(1, 6)
    ]
    fleet = fleet_of(scripts_of(scenario, 0), "tiered")
    for agent, metrics in enumerate(fleet.agents):
        mine = [
            t for t, of in zip(found["input_tokens"], found["agent"], strict=True) if of == agent
        ]
        assert sum(mine) == metrics["input_tokens"]
