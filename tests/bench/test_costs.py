"""Cost views: by hand for a small run, and summing to the whole for any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.costs import by_cause, by_turn, passes_of
from bench.tables.costs import MEANINGS, cost_tables
from policies.registry import make, names
from sim.actions import Breakpoints, Evict, Rewrite
from sim.attribution import CAUSES
from sim.engine import run
from sim.script import KeepAlive, Script, Wait
from sim.segments import Kind
from tests.sim.build import MARKED, acting, come, play, script
from tests.support.scripts import scripts
from tests.test_attribution import PRICES, shaken
from tests.test_random_runs import examples


def small() -> Any:
    """System 40, a 300, b 200, then a goes; 400 s later, kept alive, c 100; answers of 10 tokens.

    Turn 1: 540 written. Turn 2: 40 read, b 200 again. Turn 3: two pings of 240, then 240 read and
    100 written; 2.50 written, 0.20 read, 10 output.
    """
    it = script(
        come(1, "sys", 40, kind=Kind.SYSTEM),
        come(1, "a", 300),
        come(1, "b", 200),
        Wait(3, 400.0),
        KeepAlive(3, 150.0),
        come(3, "c", 100),
        turns=3,
        settings={"clock.turn_seconds": 20.0, "call.output_tokens": 10},
    )
    return play(it, acting({2: [Evict("a", "x")]}), MARKED)


def test_by_cause() -> None:
    found = {line["cause"]: line for line in by_cause(small().records)}
    assert list(found) == ["read", "append", "keep-alive", "eviction", "output"]
    assert [found[cause]["tokens"] for cause in found] == [280, 640, 0, 200, 30]
    assert found["keep-alive"]["maintenance_tokens"] == 480
    dollars = {c: line["usd"] + line["maintenance_usd"] for c, line in found.items()}
    assert dollars == pytest.approx(
        {
            "read": 280 * 0.2e-6,
            "append": 640 * 2.5e-6,
            "keep-alive": 2 * (240 * 0.2e-6 + 10e-6),
            "eviction": 200 * 2.5e-6,
            "output": 30 * 10e-6,
        }
    )


def test_by_turn() -> None:
    first, second, third = by_turn(small().records)
    assert (first["turn"], first["causes"]) == (
        1,
        pytest.approx({"append": 1350e-6, "output": 1e-4}),
    )
    assert second["usd"] == pytest.approx(40 * 0.2e-6 + 200 * 2.5e-6 + 1e-4)
    assert list(third["causes"]) == ["read", "append", "keep-alive", "output"]


def test_passes() -> None:
    """S 200 at R 11.5 and b 300: more than 7.67 calls, and there are two."""
    (each,) = passes_of(small().records)
    assert (each["removed"], each["behind"], each["calls"], each["paid_back"]) == (
        300,
        200,
        2,
        False,
    )
    assert each["ratio"] == pytest.approx(11.5)
    assert each["calls_needed"] == pytest.approx(200 * 11.5 / 300)


def test_what_grew_needs_no_calls() -> None:
    it = script(come(1, "a", 10), turns=2)
    grown = acting({1: [Rewrite(("a",), 30, True, "x")]}, declares=["grows"])
    (each,) = passes_of(play(it, grown, MARKED).records)
    assert (each["removed"], each["calls_needed"], each["paid_back"]) == (-20, None, False)


@given(scripts(), st.integers(0, 99), st.sampled_from(PRICES))
@examples(60)
def test_the_views_sum_to_the_whole(it: Script, seed: int, price: Any) -> None:
    found = run(shaken(it, seed), make(names()[seed % len(names())]), price)
    causes, turns = by_cause(found.records), by_turn(found.records)
    whole = pytest.approx(found.metrics["total_cost_usd"], rel=1e-9, abs=1e-15)
    assert sum(line["usd"] + line["maintenance_usd"] for line in causes) == whole
    assert sum(turn["usd"] for turn in turns) == whole
    for line in causes:
        name = f"{line['cause'].replace('-', '_')}_cost_usd"
        if line["cause"] not in ("output", "keep-alive"):
            assert line["usd"] == pytest.approx(found.metrics[name], rel=1e-9, abs=1e-15)
    paid = [each["paid_back"] for each in passes_of(found.records)]
    assert found.metrics["passes"] == len(paid)
    assert found.metrics["paid_back"] == (None if None in paid else sum(paid))


def test_the_tables() -> None:
    records = small().records
    tables = cost_tables(by_cause(records), by_turn(records), passes_of(records))
    assert [table.title for table in tables] == [
        "what the money went to",
        "the dearest turns",
        "passes: 0 of 1 paid back",
    ]
    assert tables[0].notes == ("In all $0.00257.", "Of it $0.000116 for rewriting calls and pings.")
    assert [line.cells[0] for line in tables[1].rows] == ["1", "2", "3"]
    assert tables[2].rows[0].cells == ("2", "300", "200", "200", "0.67", "2", "7.7", "–", "no")
    assert tables[2].notes[0] == "R = (w − r) / r = 11.5."


def test_the_table_of_passes_where_nothing_is_paid_for() -> None:
    free = replace(MARKED, input=0.0, write=0.0, read=0.0, output=0.0)
    records = play(script(come(1, "a", 10), turns=2), acting({2: [Evict("a", "x")]}), free).records
    (table,) = cost_tables(by_cause(records), by_turn(records), passes_of(records))[-1:]
    assert table.title == "passes: 1, and nothing costs anything"
    assert table.rows[0].cells == ("2", "10", "0", "0", "0.00", "1", "–", "–", "–")
    assert table.notes[0].startswith("A pass pays back if")


def test_the_table_of_passes_at_two_prices_of_writing() -> None:
    """First no breakpoint asks for the longer life at 4.00, then both: R is 11.5, then 19."""
    price = replace(MARKED, rules=replace(MARKED.rules, long_ttl=3_600.0), long_write=4.0)
    it = script(come(1, "a", 10), come(1, "b", 20), come(1, "c", 30), turns=3)
    policy = acting({2: [Evict("a", "x")], 3: [Breakpoints(("c",), 2), Evict("b", "x")]})
    records = play(it, policy, price).records
    assert [each["ratio"] for each in passes_of(records)] == pytest.approx([11.5, 19.0])
    (table,) = cost_tables(by_cause(records), by_turn(records), passes_of(records))[-1:]
    assert table.notes[0] == "R = (w − r) / r = 11.5 or 19."


def test_every_cause_has_its_words() -> None:
    assert set(MEANINGS) == {*CAUSES, "output"}


def test_nothing_was_paid_for() -> None:
    assert cost_tables([], [], []) == []
