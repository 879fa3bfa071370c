import pytest

from sim.script import Arrival, Write
from sim.segments import Kind
from tests.policies.harness.histories import say, system, task, words


def talk(*sizes):
    """A question and an answer of so many tokens in each turn, and a last question."""
    for turn, size in enumerate(sizes, 1):
        yield say(turn, size)
        yield words(turn, size)
    yield say(len(sizes) + 1, 10, "last")


@pytest.mark.parametrize(("size", "rewrites"), [(512, 0), (513, 1)])
def test_trap_it_acts_above_the_limit_not_at_it_after_the_turn(play, size, rewrites):
    # W / 16 is below the least limit of 1,024.
    told = play("aider", *talk(size), turns=3, budget=9_000)
    assert [row["by"] for row in told.rows("rewrite")] == ["after_turn"] * rewrites


def test_the_limit_is_a_sixteenth_of_the_window_in_bounds(play):
    assert play("aider", *talk(1_000), turns=3, budget=32_000)["rewrites"] == 0
    assert play("aider", *talk(1_001), turns=3, budget=32_000)["rewrites"] == 1
    assert play("aider", *talk(4_097), turns=3, budget=900_000)["rewrites"] == 1


def test_the_newest_below_half_stay_and_the_model_has_the_last_word(play):
    told = play("aider", *talk(100, 100, 100, 100, 100, 100), turns=7, budget=9_000)
    # 1,200 are over 1,024. Below 512 are the newest 5; of the rest the last is a question, so it
    # stays, too.
    assert told.rewritten() == [("say-1", "words-1", "say-2", "words-2", "say-3", "words-3", 30)]
    assert told.rows("rewrite")[0]["turn"] == 7


def test_where_few_would_go_all_do(play):
    told = play("aider", *talk(200, 200, 150), turns=4, budget=9_000)
    # Below 512 are 150 + 150 + 200, and the 2 in front of them that end with an answer are no more
    # than 4.
    names = [f"{what}-{turn}" for turn in (1, 2, 3) for what in ("say", "words")]
    assert told.rewritten() == [(*names, 55)]


def test_the_turn_under_way_is_never_trimmed(play):
    told = play("aider", task(10), *(words(t, 2_000) for t in (1, 2, 3)), turns=4, budget=9_000)
    assert told["rewrites"] == 0


def test_files_are_no_part_of_the_history_and_always_fresh(play):
    told = play(
        "aider",
        system(10),
        Arrival(1, "file", Kind.FILE, 5_000, 1.0, path="a.py", copy=True),
        *talk(600),
        Write(3, "a.py", tokens=5_200),
        turns=4,
        budget=9_000,
    )
    assert told.rewritten() == [("say-1", "words-1", 60)]
    assert [(row["segment"], row["after"]) for row in told.rows("refresh")] == [("file", 5_200)]
