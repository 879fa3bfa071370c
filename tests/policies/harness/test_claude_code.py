import pytest

from sim.script import Arrival, Write
from sim.segments import Kind
from tests.policies.harness.histories import note, system, task

SMALL = "claude-code:reserve=0,buffer=100"


def read(turn, name, tokens, **more):
    return Arrival(turn, name, Kind.FILE, tokens, 1.0, path=f"{name}.py", copy=True, **more)


@pytest.mark.parametrize(("last", "rewrites"), [(166_899, 0), (166_900, 1)])
def test_trap_it_acts_at_about_83_percent_of_200000(play, last, rewrites):
    told = play("claude-code", system(50), task(50), note(2, last), budget=200_000)
    assert told["rewrites"] == rewrites


def test_everything_but_the_system_prompt_becomes_a_summary(play):
    told = play(SMALL, system(100), task(200), note(2, 600), budget=1_000)
    assert told.rewritten() == [("task", "note-2", 40)]
    assert told.window == ["system", "s1"]


def test_the_five_files_read_last_come_back_as_they_are_now(play):
    told = play(
        SMALL,
        *(read(t, name, 50) for t, name in enumerate("abcdef", 1)),
        Write(7, "f.py", tokens=60),
        note(8, 600),
        budget=1_000,
    )
    assert [(row["segment"], row["tokens"]) for row in told.rows("fetch")] == [
        *((name, 50) for name in "bcde"),
        ("f", 60),
    ]
    assert told.window == ["s1", *"bcdef"]


def test_of_a_long_file_the_path_alone_comes_back(play):
    told = play(f"{SMALL},file=60", read(1, "a", 61), read(1, "b", 60), note(2, 800), budget=1_000)
    assert told.window == ["s1", "b"]


def test_no_file_is_read_again_where_none_is_to_be(play):
    told = play(f"{SMALL},files=0", read(1, "a", 100), note(2, 800), budget=1_000)
    assert told.window == ["s1"]


@pytest.mark.parametrize(("thrash", "turns"), [(3, [1, 2, 3]), (0, [1, 2, 3, 4, 5])])
def test_it_stops_where_the_window_is_full_again_too_soon(play, thrash, turns):
    told = play(f"{SMALL},thrash={thrash}", *(note(t, 900) for t in range(1, 6)), budget=1_000)
    # Full again in turns 2, 3 and 4: with the third time running it stops.
    assert sorted({row["turn"] for row in told.rows("rewrite")}) == turns


def test_a_window_that_fills_slowly_does_not_stop_it(play):
    told = play(SMALL, *(note(t, 900) for t in range(1, 22, 4)), budget=1_000)
    assert len(told.rows("rewrite")) == 6
