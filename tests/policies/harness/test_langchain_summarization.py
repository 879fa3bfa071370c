import pytest

from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, say, step, system, task, words


def test_without_a_trigger_it_does_nothing(play):
    told = play("langchain-summarization", *(note(t, 10) for t in range(1, 60)), budget=5_000)
    assert told["rewrites"] == 0


@pytest.mark.parametrize(
    ("trigger", "turns"),
    [("tokens=300", [3]), ("tokens=301", []), ("fraction=0.3", [3]), ("messages=3", [3])],
)
def test_trap_a_trigger_is_met_at_it(play, trigger, turns):
    told = play(
        f"langchain-summarization:{trigger},keep=1",
        *(note(t, 100) for t in (1, 2, 3)),
        budget=1_000,
    )
    assert [row["turn"] for row in told.rows("rewrite")] == turns


def test_the_task_goes_the_system_prompt_stays(play):
    told = play(
        "langchain-summarization:messages=4,keep=2",
        *(system(50), task(100)),
        *(note(t, 100) for t in (2, 3, 4)),
        budget=1_000,
    )
    assert told.rewritten() == [("task", "note-2", 10)]
    assert told.window == ["system", "s1", "note-3", "note-4"]


def test_what_the_model_said_in_a_turn_is_one_message(play):
    told = play(
        "langchain-summarization:messages=3,keep=1",
        task(100),
        words(1, 20),
        *step(1, 10, 50),
        budget=1_000,
    )
    # The result alone would stay, and takes the message with its call along.
    assert told.rewritten() == [("task", 5)]


def test_the_summariser_sees_the_newest_of_what_goes(play):
    told = play(
        "langchain-summarization:messages=4,keep=1,input=150",
        *(say(t, 100) for t in (1, 2, 3, 4)),
        budget=1_000,
    )
    assert [row["input"] for row in told.rows("maintain")] == [100]


def test_no_word_of_the_user_in_sight_leaves_a_fixed_text(play):
    told = play(
        "langchain-summarization:messages=4,keep=1,input=150",
        task(100, facts=(Fact("k", "v", "w"),)),
        *(note(t, 100) for t in (2, 3, 4)),
        Query(4, "q", "k", 0.9, ("task",)),
        budget=1_000,
        surrogate__keep=1.0,
    )
    assert told.rows("maintain") == []
    assert [(row["asked"], row["kept"]) for row in told.rows("rewrite")] == [(False, ())]


def test_it_asks_three_times(play):
    told = play(
        "langchain-summarization:tokens=300,keep=1",
        *(say(t, 100) for t in (1, 2, 3)),
        budget=1_000,
        summariser__fail=1.0,
    )
    assert [row["why"] for row in told.rows("wasted", 3)] == ["failed"] * 3
    assert told["rewrites"] == 0
