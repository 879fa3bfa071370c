"""hermes-unchanged-reads, by hand: which read is answered with a stub, and what goes."""

import pytest

from sim.script import Arrival, Write
from sim.segments import Fact, Kind

SMALL = "hermes-unchanged-reads:stub=5"


def read(turn, name, tokens=100, path="a.py", **more):
    facts = (Fact("k", "v", "w"),)
    return Arrival(turn, name, Kind.FILE, tokens, 0.5, path=path, copy=True, facts=facts, **more)


def note(turn, name, tokens):
    return Arrival(turn, name, Kind.NOTE, tokens, 0.5)


def test_a_second_read_of_one_version_is_a_stub(play):
    told = play(SMALL, read(1, "r1"), read(2, "r2"), budget=1_000)
    assert told.rewritten() == [("r2", 5)]
    assert told.window == ["r1", "s1"]


def test_another_file_is_not(play):
    told = play(SMALL, read(1, "r1"), read(2, "r2", path="b.py"), budget=1_000)
    assert told.rewritten() == []


def test_a_new_version_is_not(play):
    told = play(SMALL, read(1, "r1"), Write(2, "a.py"), read(3, "r3"), read(4, "r4"), budget=1_000)
    assert told.rewritten() == [("r4", 5)]


@pytest.mark.parametrize(("checks", "stubs"), [("off", [("r3", 5)]), ("on", [])])
def test_it_does_not_ask_whether_the_first_is_still_there(play, checks, stubs):
    """200 leave r1 no room at turn 2: it has gone when the file is read again."""
    told = play(
        f"{SMALL},checks={checks}", read(1, "r1"), note(2, "n", 200), read(3, "r3"), budget=250
    )
    assert told.evicted(2) == [("r1", "oldest")]
    assert told.rewritten() == stubs


def test_with_checks_a_read_after_the_repair_counts_as_the_first(play):
    """r3 came whole; while it is there, r4 is a stub."""
    told = play(
        f"{SMALL},checks=on",
        read(1, "r1"),
        note(2, "n", 200),
        read(3, "r3"),
        read(4, "r4"),
        budget=250,
    )
    assert told.rewritten() == [("r4", 5)]


def test_two_reads_of_one_turn_are_told_apart(play):
    told = play(SMALL, read(1, "r1"), read(1, "r2"), budget=1_000)
    assert told.rewritten() == [("r2", 5)]


def test_a_read_no_longer_than_the_stub_stays(play):
    told = play(SMALL, read(1, "r1"), read(2, "r2", tokens=5), budget=1_000)
    assert told.rewritten() == []


@pytest.mark.parametrize(("tokens", "gone"), [(100, []), (101, [("n1", "oldest")])])
def test_the_oldest_goes_once_it_does_not_fit(play, tokens, gone):
    told = play(SMALL, note(1, "n1", 50), note(2, "n2", 50), note(3, "n3", tokens), budget=200)
    assert told.evicted() == gone


def test_the_task_stays_where_it_is_pinned(play):
    task = Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True)
    told = play(SMALL, task, note(1, "n1", 100), note(2, "n2", 100), budget=200)
    assert told.evicted() == [("n1", "oldest")]
