import pytest

from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, step, system, task


@pytest.mark.parametrize(("more", "rewrites"), [(249, 0), (250, 1)])
def test_trap_it_acts_at_the_trigger(play, more, rewrites):
    told = play("deepagents", system(100), task(500), note(2, more), budget=1_000)
    assert told["rewrites"] == rewrites


def test_the_newest_tenth_stays(play):
    told = play(
        "deepagents",
        *(system(100), task(650)),
        *(note(2, 50, "old"), note(2, 60, "newer"), note(2, 40, "newest")),
        budget=1_000,
    )
    # 60 + 40 are a tenth of W; of 650 + 50 a twentieth stands for the rest.
    assert told.rewritten() == [("task", "old", 35)]
    assert told.window == ["system", "s1", "newer", "newest"]


@pytest.mark.parametrize(("characters", "left"), [(4.0, 500), (8.0, 250)])
def test_trap_old_arguments_are_cut_first_at_characters_not_tokens(play, characters, left):
    told = play(
        "deepagents",
        *(task(100), *step(2, 700, 20), note(3, 90)),
        budget=1_000,
        characters__tool_call=characters,
    )
    # 2,000 characters; and that is enough.
    assert told.rewritten() == [("call-2", left)]
    assert told.rows("maintain") == []


def test_the_history_file_leads_back(play):
    told = play(
        "deepagents",
        task(700, facts=(Fact("k", "v", "w"),)),
        note(2, 150),
        Query(3, "q", "k", 0.9, ("task",)),
        budget=1_000,
    )
    assert [row["saved"] for row in told.rows("summary")] == [True]
    assert [row["segment"] for row in told.rows("fetch")] == ["task"]
