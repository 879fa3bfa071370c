from dataclasses import replace

from policies.registry import make
from sim.engine import run
from sim.script import Arrival, Compaction
from sim.segments import Kind
from tests.policies.playing import PRICE, Played, script_of


def played(*stimuli, **settings):
    script = script_of(*stimuli, **settings)
    script = replace(script, capabilities=script.capabilities | {"recording"})
    return Played(run(script, make("recorded"), PRICE, strict=True))


TASK = Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True)
OLD = (
    Arrival(1, "call", Kind.TOOL_CALL, 10, 1.0, pair="p"),
    Arrival(1, "result", Kind.TOOL_RESULT, 200, 1.0, pair="p", time=1.0),
    Arrival(2, "note", Kind.NOTE, 90, 1.0),
)


def test_it_compacts_in_the_recorded_turn_to_the_recorded_size():
    new = Arrival(3, "say", Kind.USER, 40, 1.0)
    told = played(TASK, *OLD, new, Compaction(3, 30, "auto", ("say",)), turns=4, budget=10_000)
    (row,) = told.rows("rewrite")
    assert row["turn"] == 3
    assert row["sources"] == ("call", "result", "note")
    assert (row["before"], row["after"], row["tagged"]) == (300, 30, True)
    assert [told.sent(turn) for turn in (1, 2, 3)] == [260, 350, 120]
    assert told["policy_bugs"] == told["breaches"] == 0


def test_a_size_that_is_not_recorded_is_a_share():
    told = played(TASK, *OLD, Compaction(3), turns=3, budget=10_000, compaction__share=0.1)
    assert [row["after"] for row in told.rows("rewrite")] == [30]


def test_a_summary_that_would_not_shrink_is_not_made():
    told = played(TASK, *OLD, Compaction(3, 300), turns=3, budget=10_000)
    assert told.rows("rewrite") == []


def test_without_a_compaction_nothing_goes():
    told = played(TASK, *OLD, turns=3, budget=10_000)
    assert told.window == ["task", "call", "result", "note"]
