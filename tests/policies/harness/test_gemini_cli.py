import pytest

from tests.policies.harness.histories import note, say, step, system, task, words


@pytest.mark.parametrize(("last", "rewrites"), [(99, 0), (100, 1)])
def test_trap_it_acts_at_half_the_window(play, last, rewrites):
    told = play("gemini-cli", task(300), words(1, 100), say(2, last), budget=1_000)
    assert told["rewrites"] == rewrites


def test_the_cut_is_at_the_first_message_of_the_user_behind_70_percent(play):
    talk = (words(1, 200, "a"), say(1, 100, "b"), words(1, 300, "c"), say(1, 100, "d"))
    told = play("gemini-cli", system(100), task(100), *talk, words(1, 100, "e"), budget=1_000)
    # Of 900, 630 are 70 %: in front of b stand 300, in front of d 700.
    assert told.rewritten() == [("task", "a", "b", "c", 35)]
    assert told.window == ["system", "s1", "d", "e"]


def test_trap_the_share_is_of_characters_not_tokens(play):
    talk = (words(1, 300, "a"), say(1, 100, "b"), note(1, 200, "c"), say(1, 100, "d"))
    before = play("gemini-cli", task(100), *talk, words(1, 10, "e"), budget=1_000)
    assert before.rewritten() == [("task", "a", "b", "c", 35)]
    after = play(
        "gemini-cli", task(100), *talk, words(1, 10, "e"), budget=1_000, characters__assistant=20.0
    )
    # 7,800 characters: the 6,400 in front of b are over the 5,460 that are 70 %.
    assert after.rewritten() == [("task", "a", 20)]


def test_with_one_message_of_the_user_there_is_no_place_to_cut(play):
    told = play("gemini-cli", task(100), *step(1, 10, 500), budget=1_000)
    assert told["rewrites"] == 0
    assert told.rows("wasted") == []


def test_with_the_last_word_of_the_model_everything_goes(play):
    told = play("gemini-cli", task(100), *step(1, 10, 500), words(1, 50, time=2.0), budget=1_000)
    assert told.window == ["s1"]


def test_two_requests_make_a_snapshot(play):
    told = play("gemini-cli", task(300), words(1, 100), say(2, 150), budget=1_000)
    assert [row["input"] for row in told.rows("maintain")] == [800]  # 300 + 100, twice


def test_results_beyond_the_newest_are_cut_first(play):
    told = play(
        "gemini-cli:results=300,lines=5,cap=off",
        *(task(100), *step(1, 10, 400), *step(2, 10, 250)),
        budget=1_000,
    )
    # 5 lines of 40 characters are 50 tokens, and the tag has 8.
    assert told.rewritten() == [("result-1", 58)]
    assert [(row["saved"], row["last"]) for row in told.rows("summary")] == [(True, False)]


def test_once_a_snapshot_failed_none_is_asked_for_again(play):
    told = play(
        "gemini-cli",
        *(task(300), words(1, 100), say(2, 150), note(3, 50), note(4, 50)),
        budget=1_000,
        summariser__fail=1.0,
    )
    assert [row["turn"] for row in told.rows("wasted")] == [2]
