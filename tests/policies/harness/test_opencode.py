import pytest

from tests.policies.harness.histories import note, say, step, system, task, words


@pytest.mark.parametrize(("reserve", "last", "rewrites"), [(0, 899, 0), (0, 900, 1), (100, 800, 1)])
def test_trap_it_acts_at_the_window_less_the_answer(play, reserve, last, rewrites):
    # The budget is W less the reserve: 1,000 or 900.
    told = play(
        "opencode:least=0,most=0",
        *(system(50), task(50), note(2, last)),
        budget=1_000 - reserve,
        output__reserve=reserve,
    )
    assert told["rewrites"] == rewrites


def test_at_most_the_buffer_is_set_aside(play):
    told = play(
        "opencode:buffer=40,least=0,most=0",
        *(task(50), note(2, 850)),
        budget=900,
        output__reserve=100,
    )
    # At 960 it would act, at 900 it does not.
    assert told["rewrites"] == 0


def test_the_last_two_turns_of_the_user_stay(play):
    told = play(
        "opencode:least=500",
        *(system(100), task(500), words(1, 100, "a"), say(1, 50, "b"), words(1, 100, "c")),
        *(say(1, 50, "d"), words(1, 100, "e")),
        budget=1_000,
    )
    assert told.rewritten() == [("task", "a", 30)]
    assert told.window == ["system", "s1", "b", "c", "d", "e"]


def test_a_turn_that_does_not_fit_is_cut(play):
    told = play(
        "opencode:least=0",
        *(system(100), task(500), words(1, 100, "a"), say(1, 50, "b"), words(1, 100, "c")),
        *(say(1, 50, "d"), words(1, 100, "e")),
        budget=1_000,
    )
    # A quarter of the room: d and e with 150, and c makes it 250.
    assert told.window == ["system", "s1", "c", "d", "e"]


def test_one_turn_of_the_user_is_cut_as_well(play):
    told = play("opencode:least=0", task(500), note(1, 300), note(2, 200, "n"), budget=1_000)
    assert told.window == ["s1", "n"]


def test_the_tail_has_its_bounds(play):
    told = play("opencode", task(500), say(1, 500, "b"), budget=1_000)
    assert told["rewrites"] == 0  # 2,000 are the least: everything is newest
    told = play("opencode", task(60_000), note(1, 33_000, "a"), note(1, 7_000, "b"), budget=100_000)
    assert told.window == ["s1", "b"]  # and 8,000 the most


@pytest.mark.parametrize(("characters", "shown"), [(4.0, 500), (8.0, 250)])
def test_trap_results_are_shown_to_a_limit_of_characters_not_tokens(play, characters, shown):
    told = play(
        "opencode:least=0,most=0,cap=off",
        *step(1, 100, 900),
        budget=1_000,
        characters__tool_result=characters,
    )
    # 2,000 characters, on top of the call.
    assert [row["input"] for row in told.rows("maintain")] == [100 + shown]
