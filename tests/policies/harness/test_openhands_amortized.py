"""openhands-amortized, by hand: when the middle is forgotten, and what is left."""

import pytest

from policies.registry import make, options
from sim.errors import InputError
from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, step, system, task

SMALL = "openhands-amortized:max_size=8"


def notes(count, first=1, tokens=100):
    return [note(turn, tokens) for turn in range(first, first + count)]


def breaks(told):
    return sorted({row["turn"] for row in told.rows("evict")})


def test_the_defaults_are_those_of_the_configuration():
    defaults = {o.name: o.default for o in options("openhands-amortized")}
    assert defaults == {"cap": "on", "max_size": "100", "keep_first": "1"}


@pytest.mark.parametrize(("events", "turns"), [(8, []), (9, [8])])
def test_trap_it_acts_above_the_limit_and_not_at_it(play, events, turns):
    told = play(SMALL, system(100), *notes(events - 1), budget=9_000)
    assert breaks(told) == turns


@pytest.mark.parametrize(
    ("spec", "left"),
    [
        # Half of 8: the first and a tail of 3.
        (SMALL, ["system", "note-7", "note-8", "note-9"]),
        (f"{SMALL},keep_first=0", ["note-6", "note-7", "note-8", "note-9"]),
        (f"{SMALL},keep_first=3", ["system", "task", "note-1", "note-9"]),
        # Half of 9 is 4, rounded down.
        ("openhands-amortized:max_size=9", ["system", "note-7", "note-8", "note-9"]),
    ],
)
def test_the_first_and_the_newest_are_left_and_come_to_half(play, spec, left):
    """All events come in one turn, so that they are forgotten once."""
    told = play(
        spec,
        *(system(100), task(100), *(note(1, 100, f"note-{n}") for n in range(1, 10))),
        budget=9_000,
    )
    assert told.window == left


def test_trap_the_prefix_breaks_once_in_some_50_events(play):
    """One note a turn: 101 events at turn 100, 50 of them left, 101 again at turns 151 and 202."""
    told = play("openhands-amortized", system(50), *notes(210, tokens=5), budget=9_000)
    assert breaks(told) == [100, 151, 202]
    assert told.evicted(151) == [(f"note-{n}", "forgotten") for n in range(52, 103)]


def test_trap_the_limit_is_events_and_not_tokens(play):
    for tokens in (5, 1_000):
        told = play(SMALL, system(100), *notes(9, tokens=tokens), budget=9_500, output__reserve=500)
        assert breaks(told) == [8]


def test_the_result_of_a_forgotten_call_goes_too_and_its_place_stays_free(play):
    """Of nine events the newest three begin with result-6, whose call is forgotten."""
    told = play(SMALL, system(100), *notes(4), *step(5, 10, 100), *notes(2, first=6), budget=9_000)
    assert told.evicted(7)[-2:] == [("call-5", "forgotten"), ("result-5", "forgotten")]
    assert told.window == ["system", "note-6", "note-7"]


def test_a_call_and_its_result_are_forgotten_together(play):
    told = play(SMALL, system(100), *step(1, 10, 100), *notes(6, first=2), budget=9_000)
    assert [name for name, _ in told.evicted(7)] == [
        *("call-1", "result-1", "note-2", "note-3", "note-4"),
    ]
    assert told.window == ["system", "note-5", "note-6", "note-7"]


def test_what_went_leaves_nothing_behind(play):
    fact = Fact("k", "v", "w")
    told = play(
        SMALL,
        *(system(50), note(1, 100, facts=(fact,)), *notes(7, first=2)),
        Query(9, "q", "k", 0.9, ("note-1",)),
        budget=9_000,
    )
    assert [row["outcome"] for row in told.rows("answer")] == ["abstained"]
    assert told["rewrites"] == told["fetches"] == 0


def test_a_newest_event_must_stay():
    with pytest.raises(InputError, match="keep_first is 4 and must be less than half of max_size"):
        make(f"{SMALL},keep_first=4")


def test_it_declares_that_it_knows_no_pins(play):
    assert make("openhands-amortized").declares == {"ignores_pins"}
    told = play(f"{SMALL},keep_first=0", system(50), *notes(8), budget=9_000)
    assert told.breaches() == ["pin removed"]
