import pytest

from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, say, system, task, words


def talk(*sizes):
    """The user and the model in turn."""
    return [(words if at % 2 else say)(1, size, f"m{at}") for at, size in enumerate(sizes)]


def test_trap_the_warning_changes_nothing_and_exactly_full_is_not_over(play):
    told = play("letta-0.6", system(100), *talk(450, 450), budget=1_000)
    assert told["rewrites"] == 0


def test_on_overflow_three_quarters_of_the_buffer_go(play):
    told = play("letta-0.6", system(100), *talk(300, 300, 150, 50, 100, 100), budget=1_000)
    # Of 1,100 in all, 825 are three quarters; m0 to m2 are 750, and the newest 3 stay.
    assert told.rewritten() == [("m0", "m1", "m2", 37)]
    assert told.window == ["system", "s1", "m3", "m4", "m5"]


def test_it_ends_at_the_first_word_of_the_model_with_enough(play):
    told = play("letta-0.6", system(100), *talk(400, 450, 50, 50, 50, 50), budget=1_000)
    # Three quarters of 1,150 are 862.5, and m0 and m1 have 850; m2 is the user's, and the last that
    # can go.
    assert told.rewritten() == [("m0", "m1", "m2", 45)]
    told = play("letta-0.6", system(100), *talk(450, 450, 50, 50, 50, 50), budget=1_000)
    assert told.rewritten() == [("m0", "m1", 45)]


def test_recall_leads_back(play):
    told = play(
        "letta-0.6",
        system(100),
        note(1, 500, facts=(Fact("k", "v", "w"),)),
        *(say(2, 100), words(2, 200), say(3, 150)),
        Query(4, "q", "k", 0.9, ("note-1",)),
        budget=1_000,
    )
    assert all(row["saved"] for row in told.rows("summary"))
    assert [row["segment"] for row in told.rows("fetch")] == ["note-1"]
    assert [row["outcome"] for row in told.rows("answer")] == ["correct"]


@pytest.mark.parametrize("option", ["", ":tag=off"])
def test_the_task_goes_like_the_rest(play, option):
    told = play(f"letta-0.6{option}", system(100), task(600), *talk(100, 100, 150), budget=1_000)
    assert told.rewritten()[0][0] == "task"
    assert [row["tagged"] for row in told.rows("rewrite")] == [option == ""]
