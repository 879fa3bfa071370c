"""anthropic-clear-thinking, by hand: which turn's thinking stays, and when the rest goes."""

import pytest

from policies.registry import make, options
from sim.errors import InputError
from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.policies.harness.histories import say, step, system, task, words


def think(turn, tokens=50, name=None, **more):
    return Arrival(turn, name or f"think-{turn}", Kind.THINKING, tokens, 1.0, **more)


def test_the_default_is_the_last_turn():
    (keep,) = options("anthropic-clear-thinking")
    assert (keep.name, keep.default) == ("keep", "1")


@pytest.mark.parametrize("text", ["0", "-1", "some", "1.5"])
def test_it_takes_a_number_of_turns_or_all(text):
    with pytest.raises(InputError, match="is not a whole number of turns of at least 1, or all"):
        make(f"anthropic-clear-thinking:keep={text}")


def test_trap_a_loop_of_calls_is_one_turn(play):
    told = play(
        "anthropic-clear-thinking",
        task(50),
        *(each for turn in range(1, 7) for each in (think(turn), *step(turn, 10, 100))),
        budget=9_000,
    )
    assert told["evictions"] == 0


def test_older_thinking_goes_once_the_model_thinks_in_a_new_turn(play):
    """At turn 3 the last turn with any thinking is still the first; at turn 4 it is the second."""
    told = play(
        "anthropic-clear-thinking",
        *(task(50), think(1), *step(1, 10, 100), think(2), words(2, 30)),
        *(say(3, 20), words(3, 30)),
        *(think(4), *step(4, 10, 100), think(5)),
        budget=9_000,
    )
    assert told.evicted() == told.evicted(4) == [("think-2", "thinking"), ("think-1", "thinking")]
    assert told.window == [
        *("task", "call-1", "result-1", "words-2", "say-3", "words-3"),
        *("think-4", "call-4", "result-4", "think-5"),
    ]


def test_it_has_no_least_size_and_acts_with_each_message(play):
    told = play(
        "anthropic-clear-thinking",
        *(each for turn in range(1, 5) for each in (say(turn, 1), think(turn, 1))),
        budget=9_000,
    )
    assert [(row["turn"], row["segment"]) for row in told.rows("evict")] == [
        (2, "think-1"),
        (3, "think-2"),
        (4, "think-3"),
    ]


def test_several_turns_can_stay_and_one_without_thinking_is_none(play):
    """Thought about are turns 1, 2 and 4; what was said at 3 was answered without."""
    told = play(
        "anthropic-clear-thinking:keep=2",
        *(say(1, 20), think(1), say(2, 20), think(2), say(3, 20), words(3, 30)),
        *(say(4, 20), think(4)),
        budget=9_000,
    )
    assert told.evicted() == told.evicted(4) == [("think-1", "thinking")]


def test_thinking_in_front_of_every_message_is_a_turn_too(play):
    told = play("anthropic-clear-thinking", think(1), say(2, 20), think(3), budget=9_000)
    assert told.evicted() == told.evicted(3) == [("think-1", "thinking")]


@pytest.mark.parametrize(("keep", "read"), [("all", 170), ("1", 120)])
def test_with_all_the_cached_prefix_holds(play, keep, read):
    """At turn 3 all of turn 2 is read, 100 + 20 + 50, or what stands in front of think-1."""
    told = play(
        f"anthropic-clear-thinking:keep={keep}",
        *(system(100), say(1, 20), think(1), say(3, 20), think(3)),
        budget=9_000,
    )
    (call,) = told.rows("call", 3)
    assert call["read"] == read


def test_what_went_is_gone(play):
    told = play(
        "anthropic-clear-thinking",
        *(say(1, 20), think(1, facts=(Fact("k", "v", "w"),)), say(2, 20), think(2)),
        Query(3, "q", "k", 0.9, ("think-1",)),
        budget=9_000,
    )
    assert [row["outcome"] for row in told.rows("answer")] == ["abstained"]
    assert told["rewrites"] == told["fetches"] == 0


def test_it_declares_that_it_knows_no_pins(play):
    assert make("anthropic-clear-thinking").declares == {"ignores_pins"}
    told = play(
        "anthropic-clear-thinking",
        *(say(1, 20), think(1, pinned=True), say(2, 20), think(2)),
        budget=9_000,
    )
    assert told.breaches() == ["pin removed"]
