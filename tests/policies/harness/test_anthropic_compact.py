import pytest

from policies.registry import make
from sim.errors import InputError
from tests.policies.harness.histories import note, system, task

BASE = system(100), task(900)


@pytest.mark.parametrize(("more", "turns"), [(49_000, []), (49_001, [2])])
def test_trap_it_acts_above_the_trigger_not_at_it(play, more, turns):
    told = play("anthropic-compact:trigger=50000", *BASE, note(2, more), turns=3, budget=200_000)
    assert [row["turn"] for row in told.rows("rewrite")] == turns


def test_nothing_before_the_block_stays_the_task_included(play):
    told = play("anthropic-compact", *BASE, note(2, 150_000), budget=200_000)
    # A twentieth of 900 + 150,000.
    assert told.rewritten() == [("task", "note-2", 7_545)]
    assert told.window == ["system", "s1"]
    (block,) = told.rows("rewrite")
    assert (block["tagged"], block["asked"]) == (False, True)


def test_the_pass_is_billed_at_the_end_of_the_request(play):
    told = play("anthropic-compact", *BASE, note(2, 150_000), budget=200_000)
    (asked,) = told.rows("maintain")
    assert (asked["input"], asked["output"]) == (151_000, 7_545)
    assert asked["read"] == 1_000  # what the call of turn 1 had sent


def test_it_may_compact_a_history_that_may_not_be_edited(play):
    told = play("anthropic-compact", *BASE, note(2, 150_000), budget=200_000, history="append-only")
    assert told["rewrites"] == 1


def test_the_least_trigger():
    with pytest.raises(InputError, match="of at least 50000"):
        make("anthropic-compact:trigger=49999")
