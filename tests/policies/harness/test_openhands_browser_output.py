"""openhands-browser-output, by hand: whose results are left out, and which stay."""

import pytest

from policies.registry import make, options
from sim.script import Query
from sim.segments import Fact
from tests.policies.harness.histories import note, step

NAME = "openhands-browser-output"


def visit(turn, tokens=500, tool="browse", **more):
    return step(turn, 10, tokens, tool=tool, **more)


def visits(count):
    return [each for turn in range(1, count + 1) for each in visit(turn)]


def omitted(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


def test_trap_the_condenser_says_1_and_the_default_pipeline_2(play):
    defaults = {o.name: o.default for o in options(NAME)}
    assert (defaults["cap"], defaults["attention_window"]) == ("on", "1")
    told = play(NAME, *visits(3), budget=9_000)
    assert omitted(told) == [(2, "result-1"), (3, "result-2")]
    told = play(f"{NAME}:attention_window=2", *visits(3), budget=9_000)
    assert omitted(told) == [(3, "result-1")]


def test_an_address_and_a_note_are_left_beside_the_call(play):
    told = play(NAME, *visits(2), budget=9_000)
    assert told.rewritten() == [("result-1", 20)]
    assert told.window == ["call-1", "s1", "call-2", "result-2"]


def test_other_results_stay_and_take_no_place_among_the_newest(play):
    told = play(
        NAME,
        *visit(1),
        *step(2, 10, 500, tool="bash"),
        *step(3, 10, 500, tool="read"),
        *(note(4, 50), *visit(5)),
        *step(6, 10, 500, tool="bash"),
        budget=9_000,
    )
    assert omitted(told) == [(5, "result-1")]


def test_of_a_turn_without_the_browser_nothing_is_left_out(play):
    told = play(NAME, *visits(2), *step(3, 10, 500, tool="bash"), turns=9, budget=9_000)
    assert omitted(told) == [(2, "result-1")]


@pytest.mark.parametrize(
    ("tool", "known"),
    [
        *((tool, True) for tool in ("browse_interactive", "browser", "WebFetch", "open-page")),
        *((tool, False) for tool in ("read", "homepages", "bash", None)),
    ],
)
def test_the_browser_is_known_by_a_word_of_its_tool(play, tool, known):
    told = play(NAME, *visit(1, tool=tool), *visit(2, tool=tool), budget=9_000)
    assert told["rewrites"] == known


def test_the_words_can_be_others(play):
    told = play(f"{NAME}:tools=lynx", *visits(2), *visit(3, tool="lynx"), *visit(4, tool="lynx"))
    assert omitted(told) == [(4, "result-3")]


def test_what_is_no_longer_than_the_note_stays(play):
    told = play(NAME, *visit(1, 20), *visit(2, 21), *visit(3), budget=9_000)
    assert omitted(told) == [(3, "result-2")]


@pytest.mark.parametrize(("about", "outcome"), [({"copy": True}, "correct"), ({}, "abstained")])
def test_a_page_can_be_visited_again(play, about, outcome):
    """It comes back behind result-2, which is left out then."""
    told = play(
        NAME,
        *visit(1, facts=(Fact("k", "v", "w"),), **about),
        *visit(2),
        Query(3, "q", "k", 0.9, ("result-1",)),
        budget=9_000,
        surrogate__keep=1.0,
    )
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]
    again = [(3, "result-2")] if outcome == "correct" else []
    assert omitted(told) == [(2, "result-1"), *again]


def test_it_declares_what_it_breaks_and_breaks_it(play):
    """result-1 is pinned, result-2 cannot be tagged, and turns with stubs let results in."""
    assert make(NAME).declares == {"ignores_pins", "spends", "untagged"}
    told = play(NAME, *visit(1, pinned=True), *visit(2, taggable=False), *visit(3), budget=9_000)
    assert set(told.breaches()) == {"pin removed", "compress-then-spend", "untagged rewrite"}
