import pytest

from tests.policies.harness.histories import note, say, step, system, task, words


@pytest.mark.parametrize(("last", "rewrites"), [(3_516, 0), (3_517, 1)])
def test_trap_it_acts_above_the_window_less_the_reserve_not_at_it(play, last, rewrites):
    told = play("pi:keep=10", system(50), task(50), note(2, last), note(2, 10, "n"), budget=20_010)
    assert told["rewrites"] == rewrites


def test_the_segment_with_which_they_are_reached_stays(play):
    told = play(
        "pi:reserve=100,keep=150",
        *(task(400), say(1, 400, "a"), say(1, 100, "b"), say(1, 50, "c")),
        budget=1_000,
    )
    # 50 + 100 are 150: b is the first that stays.
    assert told.rewritten() == [("task", "a", 40)]
    assert told.window == ["s1", "b", "c"]


def test_it_never_cuts_at_a_result(play):
    told = play(
        "pi:reserve=100,keep=150",
        *(task(700), *step(1, 10, 150), words(1, 60, time=2.0)),
        budget=1_000,
    )
    assert told.window[-1:] == ["words-1"]
    assert "result-1" not in told.window


def test_a_result_at_the_end_keeps_its_call(play):
    told = play("pi:reserve=100,keep=150", task(700), *step(1, 10, 250), budget=1_000)
    assert told.window == ["s1", "call-1", "result-1"]


def test_a_turn_that_is_cut_gets_a_summary_of_its_own(play):
    told = play(
        "pi:reserve=200,keep=100",
        *(task(400), words(1, 200, "a"), say(1, 100, "b"), words(1, 100, "c")),
        words(1, 100, "d"),
        budget=1_000,
    )
    assert told.rewritten() == [("task", "a", 30), ("b", "c", 10)]
    assert told.window == ["s1", "s2", "d"]


def test_a_summary_is_clipped_at_a_share_of_the_reserve(play):
    told = play("pi:reserve=50,keep=10,share=0.5", task(960), say(1, 10, "a"), budget=1_000)
    # 0.8 x 50.
    assert told.rewritten() == [("task", 40)]


@pytest.mark.parametrize(("characters", "shown"), [(4.0, 100), (8.0, 50)])
def test_trap_results_are_shown_to_a_limit_of_characters_not_tokens(play, characters, shown):
    told = play(
        "pi:reserve=300,keep=10,results=400",
        *(task(50), *step(1, 10, 700), words(1, 10, time=2.0), say(2, 10), say(3, 720)),
        budget=1_000,
        characters__tool_result=characters,
    )
    # The task, the call, 400 characters of the result, and what the model said.
    assert told.rows("maintain")[0]["input"] == 50 + 10 + shown
    # The summary before is part of the next.
    assert told.rewritten()[1][0] == "s1"
