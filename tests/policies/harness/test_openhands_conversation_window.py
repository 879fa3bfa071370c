"""openhands-conversation-window, by hand: what a refused request loses."""

import pytest

from policies.registry import make, options
from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, say, step, system, task, words

NAME = "openhands-conversation-window"
HEAD = system(100), task(100)


def notes(count, first=1, tokens=100):
    return [note(turn, tokens) for turn in range(first, first + count)]


def gone(told):
    return [(row["turn"], row["segment"]) for row in told.rows("evict")]


def test_it_has_no_limit_of_its_own():
    assert [option.name for option in options(NAME)] == ["cap"]


@pytest.mark.parametrize(("budget", "forgotten"), [(600, []), (599, ["note-1", "note-2"])])
def test_trap_it_acts_on_overflow_alone(play, budget, forgotten):
    """600 tokens, however many events: the provider takes 600."""
    told = play(NAME, *HEAD, *notes(4), budget=budget)
    assert gone(told) == [(4, name) for name in forgotten]


def test_trap_many_events_that_fit_all_stay(play):
    told = play(NAME, *HEAD, *(note(1, 1, f"n{n}") for n in range(500)), budget=700)
    assert told["evictions"] == 0


def test_system_first_message_and_the_newest_half_stay(play):
    """Of seven others three stay; a later message of the user is one of the others."""
    told = play(
        NAME,
        *(*HEAD, say(1, 100), *notes(2, first=2), words(4, 100), *notes(3, first=5)),
        budget=899,
    )
    assert gone(told) == [(7, name) for name in ("say-1", "note-2", "note-3", "words-4")]
    assert told.window == ["system", "task", "note-5", "note-6", "note-7"]


def test_the_first_message_stays_wherever_it_stands(play):
    told = play(NAME, system(100), *notes(2), say(3, 100), *notes(3, first=4), budget=699)
    # Of five others two stay.
    assert gone(told) == [(6, name) for name in ("note-1", "note-2", "note-4")]
    assert told.window == ["system", "say-3", "note-5", "note-6"]


def test_it_acts_again_when_the_window_is_full_again(play):
    """1,000 of 900 at turn 8, 600 left; 1,000 again at turn 12."""
    told = play(NAME, *HEAD, *notes(12), budget=900)
    assert gone(told) == [
        *((8, f"note-{n}") for n in range(1, 5)),
        *((12, f"note-{n}") for n in range(5, 9)),
    ]


def test_it_acts_again_while_the_request_is_refused(play):
    """1,100 of 800: two of four go, 900 are left, and one of two goes."""
    told = play(NAME, *HEAD, *notes(3), note(4, 600), budget=800)
    assert gone(told) == [(4, "note-1"), (4, "note-2"), (4, "note-3")]
    assert told.window == ["system", "task", "note-4"]


def test_one_event_stays_even_if_the_request_is_refused_for_it(play):
    told = play(NAME, *HEAD, note(1, 50), note(2, 800), budget=900, strict=False)
    assert gone(told) == [(2, "note-1")]
    assert told.truncated() == ["system"]
    assert told.window == ["task", "note-2"]


def test_without_a_message_of_the_user_nothing_goes(play):
    told = play(NAME, system(100), *notes(3), budget=350, strict=False)
    assert told["evictions"] == 0
    assert told.truncated() == ["system"]


def test_trap_dangling_observations_at_the_front_are_dropped(play):
    """Of six others the newest three begin with result-3, whose call is forgotten."""
    told = play(NAME, *HEAD, *notes(2), *step(3, 100, 100), *notes(2, first=4), budget=799)
    assert gone(told) == [(5, name) for name in ("note-1", "note-2", "call-3", "result-3")]
    assert told.window == ["system", "task", "note-4", "note-5"]


def test_trap_of_parallel_calls_all_results_at_the_front_are_dropped(play):
    """Of eight others the newest four begin with two results; both calls are forgotten."""
    call_a, result_a = step(3, 100, 100, "a")
    call_b, result_b = step(3, 100, 100, "b")
    told = play(
        NAME,
        *(*HEAD, *notes(2), call_a, call_b, result_a, result_b, *notes(2, first=4)),
        budget=999,
    )
    assert told.window == ["system", "task", "note-4", "note-5"]


def test_a_call_that_stays_keeps_its_result(play):
    told = play(NAME, *HEAD, *notes(3), *step(4, 100, 100), note(5, 100), budget=799)
    assert told.window == ["system", "task", "call-4", "result-4", "note-5"]


def test_the_provider_counts_and_not_the_harness(play):
    """By the last usage turn 4 has 500 of 550; the provider finds 600."""
    told = play(NAME, *HEAD, *notes(4), budget=550, count__by="usage")
    assert gone(told) == [(4, "note-1"), (4, "note-2")]


def test_what_went_leaves_nothing_behind(play):
    fact = Fact("k", "v", "w")
    told = play(
        NAME,
        *(*HEAD, note(1, 100, facts=(fact,)), *notes(3, first=2)),
        Query(5, "q", "k", 0.9, ("note-1",)),
        budget=599,
    )
    assert [row["outcome"] for row in told.rows("answer")] == ["abstained"]
    assert told["rewrites"] == told["fetches"] == 0


def test_it_declares_that_it_knows_no_pins(play):
    assert make(NAME).declares == {"ignores_pins"}
    told = play(NAME, *HEAD, note(1, 100, pinned=True), *notes(3, first=2), budget=599)
    assert told.breaches() == ["pin removed"]
