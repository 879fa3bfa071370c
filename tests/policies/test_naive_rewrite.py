import pytest

from policies.registry import make
from sim.script import Arrival, Query
from sim.segments import Fact, Kind


def note(turn, name, tokens, score, **more):
    return Arrival(turn, name, Kind.NOTE, tokens, score, **more)


def test_only_below_the_limit_lowest_first(play):
    told = play(
        "naive-rewrite",
        note(1, "at", 50, 0.25),
        note(1, "low", 50, 0.2),
        note(1, "lowest", 50, 0.1),
        note(1, "pinned", 50, 0.0, pinned=True),
        turns=1,
    )
    assert told.rewritten(1) == [("lowest", 12), ("low", 12)]
    assert told.window[0] == "at"
    assert {row["tagged"] for row in told.rows("rewrite")} == {False}


def test_decay_brings_it_below(play):
    told = play("naive-rewrite", note(1, "span", 50, 1.0), turns=11)
    assert 0.85**8 > 0.25 > 0.85**9
    assert [row["turn"] for row in told.rows("rewrite")] == [10]


def test_the_script_says_how_long_the_text_is(play):
    told = play("naive-rewrite", note(1, "span", 4, 0.1, surrogate_tokens=2), turns=1)
    assert told.rewritten() == [("span", 2)]


def test_over_budget_the_lowest_of_the_rest(play):
    told = play(
        "naive-rewrite",
        note(1, "a", 200, 0.9),
        note(1, "b", 200, 0.5),
        note(1, "c", 200, 0.7),
        Arrival(2, "say", Kind.USER, 100, 1.0),
        budget=600,
    )
    assert told.rewritten(2) == [("b", 12)]
    assert told.sent(2) == 512


def test_what_is_over_when_nothing_full_is_left_is_cut(play):
    told = play(
        "naive-rewrite",
        note(1, "span", 10, 0.1, surrogate_tokens=300),
        Arrival(1, "pinned", Kind.USER, 200, 1.0, pinned=True),
        budget=400,
        strict=False,
    )
    assert told.rewritten() == [("span", 300)]
    assert told.truncated() == ["s1"]
    assert sorted(told.breaches()) == ["growth without a copy", "untagged rewrite"]


def test_a_surrogate_is_not_rewritten_again(play):
    told = play(
        "naive-rewrite",
        note(1, "span", 50, 0.1),
        Arrival(2, "say", Kind.USER, 395, 1.0, pinned=True),
        budget=400,
        strict=False,
    )
    assert told.rewritten() == [("span", 12)]


def test_it_restores_from_nothing_and_the_text_is_full_again(play):
    told = play(
        "naive-rewrite",
        note(1, "span", 50, 0.1, facts=(Fact("timeout", "4500", "3000"),)),
        Query(2, "q", "timeout", 0.9, ("span",)),
        turns=12,
        restore_tokens=33,
    )
    (restore,) = told.rows("restore")
    assert (restore["before"], restore["after"], restore["turn"]) == (12, 33, 2)
    assert told["fabricated_tokens"] == 33
    (answer,) = told.rows("answer")
    assert (answer["outcome"], answer["value"]) == ("confabulated", "3000")
    first, second = told.rows("rewrite")
    assert (first["turn"], second["turn"]) == (1, 10)
    assert second["sources"] == (restore["segment"],)
    assert 0.9 * 0.85**7 > 0.25 > 0.9 * 0.85**8


def test_it_spends_what_it_frees(play):
    told = play(
        "naive-rewrite",
        note(1, "a", 200, 0.5),
        Arrival(2, "read", Kind.FILE, 300, 0.9, path="a.py"),
        budget=400,
    )
    assert told.rewritten(2) == [("a", 12)]
    assert sorted(told.breaches()) == ["compress-then-spend", "untagged rewrite"]


def test_relevance_off(play):
    span = note(1, "span", 50, 0.1)
    assert play("naive-rewrite:relevance=off", span).rewritten() == []


def test_budget_off(play):
    told = play(
        "naive-rewrite:budget=off",
        note(1, "a", 200, 0.5),
        note(2, "b", 300, 0.5),
        budget=400,
        strict=False,
    )
    assert told.rewritten() == []
    assert told.truncated() == ["a"]


def test_restore_off(play):
    told = play(
        "naive-rewrite:restore=off",
        note(1, "span", 50, 0.1, facts=(Fact("k", "v", "w"),)),
        Query(2, "q", "k", 0.9, ("span",)),
    )
    assert told["confabulated"] == 1
    assert told.rows("restore") == []


@pytest.mark.parametrize(("limit", "rewritten"), [("0.3", 1), ("0.29", 0)])
def test_an_option_wins_over_the_scenario(play, limit, rewritten):
    told = play(
        f"naive-rewrite:rewrite.below={limit},surrogate.tokens=5",
        note(1, "span", 50, 0.295),
        rewrite__below=0.0,
    )
    assert [after for *_, after in told.rewritten()] == [5] * rewritten


def test_declarations():
    assert make("naive-rewrite").declares == {"untagged", "grows", "spends"}
