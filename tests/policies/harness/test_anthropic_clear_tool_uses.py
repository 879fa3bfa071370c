"""anthropic-clear-tool-uses, by hand: a call is 10 tokens, a result 100, and a stub 10."""

import pytest

from policies.registry import make, options
from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, step, system

SMALL = "anthropic-clear-tool-uses:keep=1,stub=10"


def steps(count, **more):
    return [each for turn in range(1, count + 1) for each in step(turn, 10, 100, **more)]


def cleared(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


def test_the_defaults_are_those_of_the_package():
    defaults = {o.name: o.default for o in options("anthropic-clear-tool-uses")}
    del defaults["stub"]  # not published
    assert defaults == {
        "trigger": "100000",
        "uses": "0",
        "keep": "3",
        "at_least": "0",
        "exclude": "none",
        "inputs": "off",
    }


@pytest.mark.parametrize(("tokens", "gone"), [(95_960, []), (95_961, [("result-1", 12)])])
def test_above_100_000_tokens_all_but_the_newest_three_are_cleared(play, tokens, gone):
    """Four steps of 1,010 leave 95,960; the system prompt counts."""
    long = [each for turn in range(1, 5) for each in step(turn, 10, 1_000)]
    told = play("anthropic-clear-tool-uses", system(tokens), *long, budget=200_000)
    assert told.rewritten() == gone


@pytest.mark.parametrize(
    ("trigger", "gone"), [(330, []), (329, [(3, "result-1"), (3, "result-2")])]
)
def test_the_trigger_is_exceeded_not_met(play, trigger, gone):
    told = play(f"{SMALL},trigger={trigger}", *steps(3), budget=9_000)
    assert cleared(told) == gone
    assert told.sent(3) == 330 - 90 * len(gone)


def test_what_was_cleared_counts_in_full_towards_the_trigger(play):
    """Turn 4 has 150 + 110 = 260 tokens, below the trigger, and 440 with nothing cleared."""
    told = play(f"{SMALL},trigger=329", *steps(4), budget=9_000)
    assert cleared(told) == [(3, "result-1"), (3, "result-2"), (4, "result-3")]


def test_it_has_nothing_to_do_at_a_turn_without_a_new_result(play):
    told = play(f"{SMALL},trigger=0", *steps(2), note(3, 50), note(4, 50), budget=9_000)
    assert cleared(told) == [(2, "result-1")]


@pytest.mark.parametrize(
    ("at_least", "gone"),
    [
        (180, [(3, "result-1"), (3, "result-2")]),
        (181, [(4, "result-1"), (4, "result-2"), (4, "result-3")]),
        (271, []),
    ],
)
def test_trap_clear_at_least_is_a_gate_for_anthropic(play, at_least, gone):
    """Each result sheds 90: two can go at turn 3, 180, and one more each turn if none went.

    After the two the gate is shut again: at turn 4 the third alone can go. What opens the gate
    goes as a whole.
    """
    told = play(f"{SMALL},trigger=0,at_least={at_least}", *steps(4), budget=9_000)
    assert cleared(told) == gone


@pytest.mark.parametrize(("count", "gone"), [(3, []), (4, ["result-1", "result-2", "result-3"])])
def test_the_trigger_can_be_a_number_of_tool_uses(play, count, gone):
    told = play(f"{SMALL},uses=3", *steps(count), budget=9_000)
    assert [name for _, name in cleared(told)] == gone


def test_results_of_excluded_tools_stay_and_are_among_the_newest(play):
    """At turn 2 the newest is that of the memory, so the one in front of it goes."""
    told = play(
        f"{SMALL},trigger=0,exclude=memory",
        *step(1, 10, 100),
        *step(2, 10, 100, tool="memory"),
        *step(3, 10, 100),
        *step(4, 10, 100),
        budget=9_000,
    )
    assert cleared(told) == [(2, "result-1"), (4, "result-3")]


@pytest.mark.parametrize(("inputs", "calls"), [("off", []), ("on", [("call-1", 10)])])
def test_arguments_are_cleared_on_request_where_a_stub_is_shorter(play, inputs, calls):
    told = play(
        f"{SMALL},trigger=0,inputs={inputs}",
        *step(1, 11, 100),
        *step(2, 10, 100),
        *step(3, 10, 100),
        budget=9_000,
    )
    assert told.rewritten() == [("result-1", 10), *calls, ("result-2", 10)]


def test_arguments_count_for_the_gate(play):
    """90 of the result and 40 of the call."""
    for at_least, rewrites in ((130, 2), (131, 0)):
        told = play(
            f"{SMALL},trigger=0,inputs=on,at_least={at_least}",
            *step(1, 50, 100),
            *step(2, 10, 100),
            budget=9_000,
        )
        assert told["rewrites"] == rewrites


def test_a_result_no_longer_than_the_stub_stays_and_counts_among_the_newest(play):
    told = play(
        f"{SMALL},trigger=0", *step(1, 10, 11), *step(2, 10, 10), *step(3, 10, 100), budget=9_000
    )
    assert cleared(told) == [(2, "result-1")]


@pytest.mark.parametrize(
    ("about", "outcome", "fetches"),
    [
        ({"copy": True}, "correct", 1),
        ({}, "abstained", 0),
        ({"taggable": False}, "confabulated", 0),
    ],
)
def test_what_was_cleared_is_back_only_by_another_call(play, about, outcome, fetches):
    """A stub states nothing: with a copy the call is made again, without one there is no source.

    Where the stub cannot be tagged, the strict reader fills it in.
    """
    told = play(
        f"{SMALL},trigger=0",
        *step(1, 10, 100, facts=(Fact("k", "v", "w"),), **about),
        *step(2, 10, 100),
        Query(3, "q", "k", 0.9, ("result-1",)),
        budget=9_000,
        surrogate__keep=1.0,
    )
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]
    assert told["fetches"] == fetches


def test_what_is_fetched_again_is_new(play):
    """It stands behind result-2, which is old then, and goes itself behind result-4."""
    told = play(
        f"{SMALL},trigger=0",
        *step(1, 10, 100, facts=(Fact("k", "v", "w"),), copy=True),
        *step(2, 10, 100),
        Query(3, "q", "k", 0.9, ("result-1",)),
        *step(4, 10, 100),
        budget=9_000,
    )
    assert cleared(told) == [(2, "result-1"), (3, "result-2"), (4, "result-1")]


def test_it_declares_what_it_breaks_and_breaks_it(play):
    """result-1 is pinned, result-2 cannot be tagged, and turns with stubs let results in."""
    assert make("anthropic-clear-tool-uses").declares == {"ignores_pins", "spends", "untagged"}
    told = play(
        f"{SMALL},trigger=0",
        *step(1, 10, 100, pinned=True),
        *step(2, 10, 100, taggable=False),
        *step(3, 10, 100),
        budget=9_000,
    )
    assert set(told.breaches()) == {"pin removed", "compress-then-spend", "untagged rewrite"}
