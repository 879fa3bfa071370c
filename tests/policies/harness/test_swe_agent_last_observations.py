import pytest

from sim.script import Query
from sim.segments import Fact, Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import say, step, system, task, words

SMALL = "swe-agent-last-observations:n=2"


def steps(last, size=100, first=1, **more):
    return [a for turn in range(first, last + 1) for a in step(turn, 5, size, **more)]


def turns(told):
    """In which turn each result went."""
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


@pytest.mark.parametrize(("results", "gone"), [(5, []), (6, [(6, "result-1")])])
def test_the_newest_five_stay(play, results, gone):
    told = play("swe-agent-last-observations", *steps(results), budget=10_000)
    assert turns(told) == gone


def test_without_polling_one_more_goes_with_each_result(play):
    told = play(SMALL, *steps(4), turns=6, budget=10_000)
    assert turns(told) == [(3, "result-1"), (4, "result-2")]
    left = ["call-1", "s1", "call-2", "s2"]
    assert told.window == [*left, "call-3", "result-3", "call-4", "result-4"]


def test_trap_polling_lets_the_kept_count_float_from_n_to_n_and_p_and_the_prefix_holds(play):
    # With the template there are 6 at turn 5 and 9 at turn 8, multiples of 3; at 6 all but 2 go
    # that are behind the template, results 1 to 3. In between 3 and 4 stay, which is less than 5.
    told = play(f"{SMALL},polling=3", *steps(8), turns=8, budget=10_000)
    assert turns(told) == [(5, f"result-{n}") for n in (1, 2, 3)] + [
        (8, f"result-{n}") for n in (4, 5, 6)
    ]
    assert told["edit_turns"] == 2
    assert play(SMALL, *steps(8), turns=8, budget=10_000)["edit_turns"] == 6


def test_trap_the_template_counts_as_the_first_observation(play):
    # At turn 3 there are 4 with it, the first multiple of 4. But 2 are old: it, which stays, and
    # result 1. At turn 7 there are 8.
    told = play(f"{SMALL},polling=4", *steps(7), turns=7, budget=10_000)
    assert turns(told) == [(3, "result-1"), *((7, f"result-{n}") for n in (2, 3, 4, 5))]


def test_files_are_results_and_words_are_none(play):
    told = play(
        "swe-agent-last-observations:n=1",
        *(system(50), task(50), say(1, 100), words(1, 100)),
        *step(1, 100, 100, kind=Kind.FILE, path="a.py"),
        *step(2, 100, 100),
        budget=10_000,
    )
    assert told.rewritten() == [("result-1", 10)]


@pytest.mark.parametrize(("tokens", "gone"), [(10, []), (11, [("result-1", 10)])])
def test_a_note_is_not_put_where_it_is_no_shorter(play, tokens, gone):
    told = play(f"{SMALL},stub=10", *steps(1, tokens), *steps(3, first=2), budget=10_000)
    assert told.rewritten() == gone


def test_tools_can_keep_their_results_and_still_count(play):
    told = play(
        f"{SMALL},keep=plan",
        *(*step(1, 5, 100, tool="plan"), *steps(4, first=2)),
        budget=10_000,
    )
    assert turns(told) == [(4, "result-2")]


def test_tools_can_give_up_their_results_at_once_and_that_wins(play):
    spec = "swe-agent-last-observations:n=2,polling=9,keep=look+shot,remove=shot"
    told = play(spec, *step(1, 5, 100, tool="shot"), *steps(3, first=2), budget=10_000)
    assert turns(told) == [(1, "result-1")]


def test_what_went_can_be_got_by_running_it_again_where_there_is_a_copy(play):
    fact = Fact("k", "v", "w")
    told = play(
        "swe-agent-last-observations:n=1",
        *step(1, 5, 100, facts=(fact,), copy=True),
        *step(2, 5, 100),
        Query(3, "q", "k", 1.0, ("result-1",)),
        turns=4,
        budget=10_000,
    )
    assert told["fetches"] == told["correct"] == 1
    # It comes back as the newest, so that result-2 goes in the same turn.
    assert turns(told) == [(2, "result-1"), (3, "result-2")]


def test_the_note_keeps_no_fact(play):
    told = play(SMALL, *steps(3, facts=(Fact("k", "v", "w"),)), budget=10_000, surrogate__keep=1.0)
    assert [(row["kept"], row["asked"]) for row in told.rows("rewrite")] == [((), False)]


def test_it_knows_no_pins_and_leaves_no_tag_where_there_can_be_none(play):
    told = play(
        "swe-agent-last-observations:n=1",
        *step(1, 5, 100, pinned=True, taggable=False),
        *step(2, 5, 100),
        budget=10_000,
    )
    assert [row["tagged"] for row in told.rows("rewrite")] == [False]
    assert breaks("swe-agent-last-observations") == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_the_classic_ones():
    assert figures("swe-agent-last-observations") == {
        **{"cap": "on", "n": "5", "polling": "1", "keep": "none", "remove": "none"},
        "stub": "10",
    }
