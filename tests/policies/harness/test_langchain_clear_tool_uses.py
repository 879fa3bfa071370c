"""langchain-clear-tool-uses, by hand: a call is 10 tokens, a result 100, and a stub 10."""

import pytest

from policies.registry import make, options
from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.policies.harness.histories import note, step, system

SMALL = "langchain-clear-tool-uses:keep=1,stub=10"


def steps(count):
    return [each for turn in range(1, count + 1) for each in step(turn, 10, 100)]


def cleared(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


def test_the_defaults_are_those_of_the_class():
    defaults = {o.name: o.default for o in options("langchain-clear-tool-uses")}
    assert defaults == {
        "trigger": "100000",
        "keep": "3",
        "at_least": "0",
        "exclude": "none",
        "stub": "3",  # [cleared]: 9 characters, at 4 a token
    }


@pytest.mark.parametrize(("tokens", "gone"), [(95_960, []), (95_961, [("result-1", 3)])])
def test_trap_the_trigger_is_strictly_above_100_000(play, tokens, gone):
    """Four steps of 1,010 leave 95,960 for a note; the newest three results stay."""
    long = [each for turn in range(1, 5) for each in step(turn, 10, 1_000)]
    told = play("langchain-clear-tool-uses", note(1, tokens), *long, budget=200_000)
    assert told.rewritten() == gone


@pytest.mark.parametrize(("trigger", "clears"), [(220, False), (219, True)])
def test_tools_and_system_prompt_do_not_count(play, trigger, clears):
    head = Arrival(1, "tools", Kind.TOOLS, 300, 1.0), system(500)
    told = play(f"{SMALL},trigger={trigger}", *head, *steps(2), budget=9_000)
    assert cleared(told) == ([(2, "result-1")] if clears else [])


def test_at_each_call_it_starts_from_the_history_as_it_was(play):
    """330 at turn 3; turn 4 has 150 + 110 = 260, and 440 with nothing cleared."""
    told = play(f"{SMALL},trigger=329", *steps(4), budget=9_000)
    assert cleared(told) == [(3, "result-1"), (3, "result-2"), (4, "result-3")]


@pytest.mark.parametrize(
    ("at_least", "gone"),
    [
        (1, [(4, "result-1")]),
        (90, [(4, "result-1")]),
        (91, [(4, "result-1"), (4, "result-2")]),
        (180, [(4, "result-1"), (4, "result-2")]),
        (181, [(4, "result-1"), (4, "result-2"), (4, "result-3")]),
        (0, [(4, "result-1"), (4, "result-2"), (4, "result-3"), (5, "result-4"), (6, "result-5")]),
    ],
)
def test_trap_clear_at_least_is_a_stop_for_langchain(play, at_least, gone):
    """440 at turn 4. Each result sheds 90; what was reached then is reached at turns 5 and 6."""
    told = play(f"{SMALL},trigger=439,at_least={at_least}", *steps(6), budget=9_000)
    assert cleared(told) == gone


def test_trap_a_stop_that_cannot_be_reached_is_no_gate(play):
    """At turn 2 only result-1 is old, 90 of 150; at turn 3 the second reaches them, and it ends."""
    told = play(f"{SMALL},trigger=0,at_least=150", *steps(5), budget=9_000)
    assert cleared(told) == [(2, "result-1"), (3, "result-2")]


def test_results_of_excluded_tools_stay_and_are_among_the_newest(play):
    told = play(
        f"{SMALL},trigger=0,exclude=memory",
        *step(1, 10, 100),
        *step(2, 10, 100, tool="memory"),
        *step(3, 10, 100),
        *step(4, 10, 100),
        budget=9_000,
    )
    assert cleared(told) == [(2, "result-1"), (4, "result-3")]


def test_calls_words_and_files_that_no_call_brought_stay(play):
    told = play(
        "langchain-clear-tool-uses:trigger=0,keep=0",
        note(1, 100),
        Arrival(1, "file", Kind.FILE, 100, 1.0, path="a.py", copy=True),
        *step(1, 100, 100),
        *step(2, 100, 100, kind=Kind.FILE, path="b.py", copy=True),
        budget=9_000,
    )
    assert told.rewritten() == [("result-1", 3), ("result-2", 3)]
    assert told.window == ["note-1", "file", "call-1", "s1", "call-2", "s2"]


@pytest.mark.parametrize(("about", "outcome"), [({"copy": True}, "correct"), ({}, "abstained")])
def test_what_was_cleared_is_back_only_by_another_call(play, about, outcome):
    told = play(
        f"{SMALL},trigger=0",
        *step(1, 10, 100, facts=(Fact("k", "v", "w"),), **about),
        *step(2, 10, 100),
        Query(3, "q", "k", 0.9, ("result-1",)),
        budget=9_000,
        surrogate__keep=1.0,
    )
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]
    assert told["fetches"] == (outcome == "correct")


def test_it_declares_what_it_breaks_and_breaks_it(play):
    """result-1 is pinned, result-2 cannot be tagged, and turns with stubs let results in."""
    assert make("langchain-clear-tool-uses").declares == {"ignores_pins", "spends", "untagged"}
    told = play(
        f"{SMALL},trigger=0",
        *step(1, 10, 100, pinned=True),
        *step(2, 10, 100, taggable=False),
        *step(3, 10, 100),
        budget=9_000,
    )
    assert set(told.breaches()) == {"pin removed", "compress-then-spend", "untagged rewrite"}
