"""openhands-observation-masking, by hand: which results are masked, and when."""

import pytest

from policies.registry import make, options
from sim.script import Query
from sim.segments import Fact, Kind
from tests.policies.harness.histories import note, say, step, system, words

SMALL = "openhands-observation-masking:attention_window=3"


def masked(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


@pytest.mark.parametrize(("window", "behind"), [(None, 99), (5, 4)])
def test_trap_the_configuration_says_100_and_the_class_5(play, window, behind):
    """A result with 99 events behind it is among the newest 100, and with one more it is not."""
    defaults = {o.name: o.default for o in options("openhands-observation-masking")}
    assert defaults == {
        "cap": "on",
        "attention_window": "100",
        "stub": "2",  # <MASKED>: 8 characters, at 4 a token
    }
    spec = "openhands-observation-masking"
    spec = spec if window is None else f"{spec}:attention_window={window}"
    for more, gone in ((0, []), (1, [("result-1", 2)])):
        many = [note(2, 5, f"n{n}") for n in range(behind + more)]
        assert play(spec, *step(1, 5, 50), *many, budget=9_000).rewritten() == gone


def test_trap_the_window_counts_events_of_every_kind(play):
    """At turn 2 words and a message stand behind result-1; at turn 3 a third event does."""
    told = play(SMALL, *step(1, 10, 100), words(2, 20), say(2, 20), note(3, 20), budget=9_000)
    assert masked(told) == [(3, "result-1")]


def test_with_each_step_the_next_one_is_masked(play):
    """A step is two events: result-1 is the third of the newest when step 2 has come."""
    told = play(
        SMALL, *(each for turn in range(1, 6) for each in step(turn, 10, 100)), budget=9_000
    )
    assert masked(told) == [(3, "result-1"), (4, "result-2"), (5, "result-3")]
    assert told.window[:6] == ["call-1", "s1", "call-2", "s2", "call-3", "s3"]


def test_at_a_step_without_events_nothing_is_masked(play):
    steps = [each for turn in range(1, 4) for each in step(turn, 10, 100)]
    assert masked(play(SMALL, *steps, turns=9, budget=9_000)) == [(3, "result-1")]


def test_trap_the_limit_is_events_and_not_tokens(play):
    for tokens in (3, 3_000):
        told = play(
            SMALL,
            *(*step(1, 10, tokens), *(note(2, tokens, f"n{n}") for n in range(3))),
            budget=12_900,
            output__reserve=500,
        )
        assert masked(told) == [(2, "result-1")]


def test_only_results_are_masked_and_only_where_that_is_shorter(play):
    told = play(
        "openhands-observation-masking:attention_window=0",
        *(system(50), say(1, 50), words(1, 50), note(1, 50), *step(1, 50, 2)),
        *step(2, 50, 3),
        *step(3, 50, 50, kind=Kind.FILE, path="a.py", copy=True),
        budget=9_000,
    )
    assert masked(told) == [(2, "result-2"), (3, "result-3")]


@pytest.mark.parametrize(("about", "outcome"), [({"copy": True}, "correct"), ({}, "abstained")])
def test_what_is_masked_is_back_only_by_another_call(play, about, outcome):
    told = play(
        f"{SMALL}",
        *step(1, 10, 100, facts=(Fact("k", "v", "w"),), **about),
        *(note(2, 20, f"n{n}") for n in range(3)),
        Query(3, "q", "k", 0.9, ("result-1",)),
        budget=9_000,
        surrogate__keep=1.0,
    )
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]
    assert told["fetches"] == (outcome == "correct")


def test_it_declares_what_it_breaks_and_breaks_it(play):
    """result-1 is pinned, result-2 cannot be tagged, and turns with stubs let results in."""
    assert make("openhands-observation-masking").declares == {"ignores_pins", "spends", "untagged"}
    told = play(
        SMALL,
        *step(1, 10, 100, pinned=True),
        *step(2, 10, 100, taggable=False),
        *(each for turn in (3, 4) for each in step(turn, 10, 100)),
        budget=9_000,
    )
    assert set(told.breaches()) == {"pin removed", "compress-then-spend", "untagged rewrite"}
