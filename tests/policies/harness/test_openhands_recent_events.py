"""openhands-recent-events, by hand: which events stay, and how often the middle goes."""

import pytest

from policies.registry import make, options
from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, step, system, task

SMALL = "openhands-recent-events:max_events=4"


def notes(count, first=1, tokens=100):
    return [note(turn, tokens) for turn in range(first, first + count)]


def gone(told):
    return [(row["turn"], row["segment"]) for row in told.rows("evict")]


def test_trap_the_configuration_says_100_and_the_class_10(play):
    """101 events, the system prompt among them: note 1 goes, or all but the newest 9 of them."""
    defaults = {o.name: o.default for o in options("openhands-recent-events")}
    assert defaults == {"cap": "on", "keep_first": "1", "max_events": "100"}
    many = [note(1, 5, f"n{n}") for n in range(1, 101)]
    for spec, first in (("", 2), (":max_events=10", 92)):
        told = play(f"openhands-recent-events{spec}", system(9), *many, budget=9_000)
        assert told.window == ["system", *(f"n{n}" for n in range(first, 101))]


@pytest.mark.parametrize(("events", "dropped"), [(4, []), (5, [(4, "note-1")])])
def test_trap_it_acts_above_the_limit_and_not_at_it(play, events, dropped):
    told = play(SMALL, system(50), *notes(events - 1), budget=9_000)
    assert gone(told) == dropped


def test_past_the_limit_one_goes_at_every_step(play):
    told = play(SMALL, system(50), *notes(6), budget=9_000)
    assert gone(told) == [(4, "note-1"), (5, "note-2"), (6, "note-3")]
    assert {row["reason"] for row in told.rows("evict")} == {"not recent"}
    assert told.window == ["system", "note-4", "note-5", "note-6"]


def test_at_a_step_without_events_nothing_goes(play):
    told = play(SMALL, system(50), *notes(4), turns=9, budget=9_000)
    assert gone(told) == [(4, "note-1")]


def test_trap_the_limit_is_events_and_not_tokens(play):
    """Five events of 11,982 tokens in all or of 250; 12,000 fit."""
    for tokens in (2_983, 50):
        told = play(SMALL, system(50), *notes(4, tokens=tokens), budget=12_000, output__reserve=500)
        assert gone(told) == [(4, "note-1")]


@pytest.mark.parametrize(
    ("first", "left"),
    [
        (0, ["note-1", "note-2", "note-3", "note-4"]),
        (2, ["system", "task", "note-3", "note-4"]),
        (3, ["system", "task", "note-1", "note-4"]),
    ],
)
def test_the_first_events_count_among_those_that_stay(play, first, left):
    told = play(f"{SMALL},keep_first={first}", system(50), task(50), *notes(4), budget=9_000)
    assert told.window == left


def test_a_call_takes_its_result_along(play):
    """Five of at most four: the call has to go, and the note behind its result stays."""
    told = play(SMALL, system(50), *step(1, 10, 100), *notes(2, first=2), budget=9_000)
    assert gone(told) == [(3, "call-1"), (3, "result-1")]
    assert told.window == ["system", "note-2", "note-3"]


def test_what_went_leaves_nothing_behind(play):
    fact = Fact("k", "v", "w")
    told = play(
        SMALL,
        *(system(50), note(1, 100, facts=(fact,)), *notes(3, first=2)),
        Query(5, "q", "k", 0.9, ("note-1",)),
        budget=9_000,
    )
    assert [row["outcome"] for row in told.rows("answer")] == ["abstained"]
    assert told["rewrites"] == told["fetches"] == 0


def test_it_declares_that_it_knows_no_pins(play):
    assert make("openhands-recent-events").declares == {"ignores_pins"}
    told = play(f"{SMALL},keep_first=0", system(50), *notes(4), budget=9_000)
    assert told.breaches() == ["pin removed"]
