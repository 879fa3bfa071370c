"""langchain-trim-messages, by hand: what fits stays, and nothing is set apart."""

import pytest

from policies.registry import make, options
from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.policies.harness.histories import note, say, step, system, task, words


def notes(count, first=1):
    return [note(turn, 100) for turn in range(first, first + count)]


def test_the_defaults_are_those_of_the_function():
    """It has none for what fits; 0 stands for the budget."""
    defaults = {o.name: o.default for o in options("langchain-trim-messages")}
    assert defaults == {"max_tokens": "0", "include_system": "off"}


@pytest.mark.parametrize(("tokens", "gone"), [(100, []), (101, [("note-1", "trimmed")])])
def test_what_fits_exactly_stays(play, tokens, gone):
    told = play("langchain-trim-messages:max_tokens=300", *notes(2), note(3, tokens), budget=9_000)
    assert told.evicted() == gone


@pytest.mark.parametrize(("budget", "gone"), [(300, 0), (299, 1)])
def test_where_nobody_says_what_fits_it_is_the_budget(play, budget, gone):
    told = play("langchain-trim-messages", *notes(3), budget=budget)
    assert told["evictions"] == gone
    assert told.truncated() == []


def test_the_oldest_go_until_the_rest_fits(play):
    """Of 300 the newest takes 250, and no note fits into 50."""
    told = play("langchain-trim-messages:max_tokens=300", *notes(3), note(4, 250), budget=9_000)
    assert told.evicted(4) == [(f"note-{n}", "trimmed") for n in (1, 2, 3)]
    assert told.window == ["note-4"]


def test_at_each_turn_as_many_go_as_do_not_fit(play):
    told = play("langchain-trim-messages:max_tokens=300", *notes(5), note(6, 50), budget=9_000)
    assert [(row["turn"], row["segment"]) for row in told.rows("evict")] == [
        (4, "note-1"),
        (5, "note-2"),
        (6, "note-3"),
    ]
    assert told.sent(6) == 250


def test_trap_no_system_message_is_kept_by_default(play):
    told = play(
        "langchain-trim-messages:max_tokens=300",
        *(system(100), task(100), say(2, 100), words(3, 100), words(4, 100)),
        budget=9_000,
    )
    assert told.evicted() == [("system", "trimmed"), ("task", "trimmed")]


def test_the_system_message_counts_where_it_is_kept(play):
    told = play(
        "langchain-trim-messages:max_tokens=300,include_system=on",
        *(system(100), task(100), say(2, 100), words(3, 100), words(4, 100)),
        budget=9_000,
    )
    assert told.evicted() == [("task", "trimmed"), ("say-2", "trimmed")]
    assert told.window == ["system", "words-3", "words-4"]


def test_the_tool_list_neither_counts_nor_goes(play):
    told = play(
        "langchain-trim-messages:max_tokens=300",
        *(Arrival(1, "tools", Kind.TOOLS, 5_000, 1.0), *notes(4)),
        budget=9_000,
    )
    assert told.evicted() == [("note-1", "trimmed")]
    assert told.sent(4) == 5_300


def test_trap_an_orphaned_result_goes_with_its_call(play):
    """10 + 200 + 100 is 10 over 300. Without the call the result would fit; it goes as well."""
    told = play(
        "langchain-trim-messages:max_tokens=300", *step(1, 10, 200), note(2, 100), budget=9_000
    )
    assert told.evicted() == [("call-1", "trimmed"), ("result-1", "trimmed")]
    assert told.sent(2) == 100


def test_nothing_is_left_where_the_newest_message_does_not_fit(play):
    told = play("langchain-trim-messages:max_tokens=300", *notes(1), note(2, 301), budget=9_000)
    assert told.window == []


def test_what_went_is_gone(play):
    fact = Fact("k", "v", "w")
    told = play(
        "langchain-trim-messages:max_tokens=300",
        *(note(1, 200, facts=(fact,)), note(2, 200), Query(3, "q", "k", 0.9, ("note-1",))),
        budget=9_000,
    )
    assert [row["outcome"] for row in told.rows("answer")] == ["abstained"]
    assert told["rewrites"] == 0


def test_it_declares_that_it_knows_no_pins(play):
    assert make("langchain-trim-messages").declares == {"ignores_pins"}
    told = play("langchain-trim-messages:max_tokens=100", system(50), note(2, 100), budget=9_000)
    assert told.breaches() == ["pin removed"]
