"""lease, by hand: what is cleared and when, what stays, and where the prefix is kept."""

from dataclasses import replace

import pytest

from policies.adversaries import adversaries
from policies.registry import make
from sim.engine import run
from sim.errors import InputError
from sim.prices import CacheRules
from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.policies.playing import PRICE, Played, script_of

SMALL = "lease:least=50,age=2,batch=220,stub=10"


def step(turn, tokens, name="", thinking=0, call=5, **more):
    """A call and its result, and what was thought before it."""
    pair = f"p{turn}{name}"
    about = {"pair": pair, "tool": "read"}
    came = [Arrival(turn, f"c{turn}{name}", Kind.TOOL_CALL, call, 0.5, **about)]
    if thinking:
        came.insert(0, Arrival(turn, f"h{turn}{name}", Kind.THINKING, thinking, 0.5))
    came.append(
        Arrival(
            turn,
            f"r{turn}{name}",
            Kind.TOOL_RESULT,
            tokens,
            0.5,
            copy=True,
            facts=(Fact(f"k{turn}{name}", "v", "w"),),
            **about,
            **more,
        )
    )
    return came


def cleared(told):
    return [(row["turn"], row["sources"], row["after"]) for row in told.rows("rewrite")]


# -- what goes, and when -----------------------------------------------------------------------


def test_a_batch_goes_together_once_it_is_large_and_old_enough(play):
    """r1 is old at turn 3 and too little; r3 is old at turn 5, and 120 + 100 are a batch."""
    told = play(SMALL, *step(1, 120), *step(2, 49), *step(3, 100), turns=6, budget=10_000)
    assert cleared(told) == [(5, ("r1",), 10), (5, ("r3",), 10)]
    assert told.window == ["c1", "s1", "c2", "r2", "c3", "s2"]
    assert told["edit_turns"] == 1 and told["evictions"] == 0


@pytest.mark.parametrize(("batch", "expected"), [(220, 1), (221, 0)])
def test_exactly_a_batch_is_enough(play, batch, expected):
    told = play(
        f"lease:least=50,age=2,batch={batch},stub=10",
        *step(1, 120),
        *step(3, 100),
        turns=6,
        budget=10_000,
    )
    assert told["edit_turns"] == expected


@pytest.mark.parametrize(("age", "turn"), [(0, 1), (1, 2), (3, 4)])
def test_age_counts_the_calls_that_it_was_in(play, age, turn):
    spec = f"lease:least=50,age={age},batch=100,stub=10"
    told = play(spec, *step(1, 120), turns=6, budget=10_000)
    assert cleared(told) == [(turn, ("r1",), 10)]


def test_the_published_numbers_are_the_defaults(play):
    """500 tokens, 3 calls, 30,000 in a batch, stubs of 40."""
    long = [*step(1, 29_500), *step(2, 499), *step(3, 500)]
    told = play("lease", *long, turns=7, budget=100_000)
    assert cleared(told) == [(6, ("r1",), 40), (6, ("r3",), 40)]
    assert make("lease:least=500,age=3,batch=30000,stub=40").label == "lease"


def test_arguments_and_thinking_go_too_whatever_their_length(play):
    """At turn 3: thinking 30, a call of 40 and a result of 120; the short result stays."""
    told = play(
        "lease:least=50,age=2,batch=190,stub=10,what=all",
        *step(1, 120, thinking=30, call=40),
        *step(1, 49, "b", thinking=10, call=10),
        turns=4,
        budget=10_000,
    )
    assert cleared(told) == [(3, ("c1",), 10), (3, ("r1",), 10)]
    assert told.evicted(3) == [("h1", "lease")]
    assert told.window == ["s1", "s2", "h1b", "c1b", "r1b"]


def test_results_alone_leave_arguments_and_thinking(play):
    told = play(
        "lease:least=50,age=2,batch=100,stub=10",
        *step(1, 120, thinking=300, call=400),
        turns=4,
        budget=10_000,
    )
    assert cleared(told) == [(3, ("r1",), 10)]
    assert told["evictions"] == 0


# -- what stays --------------------------------------------------------------------------------


def test_what_stays(play):
    told = play(
        "lease:least=1,age=1,batch=1,stub=100",
        *step(1, 100),
        *step(1, 300, "pin", pinned=True),
        *step(1, 300, "plain", taggable=False),
        Arrival(1, "file", Kind.FILE, 300, 0.5, copy=True, path="a.py"),
        Arrival(1, "say", Kind.ASSISTANT, 300, 0.5),
        turns=4,
        budget=10_000,
    )
    assert told["rewrites"] == told["evictions"] == 0


def test_what_was_fetched_again_is_not_cleared_again(play):
    told = play(
        "lease:least=50,age=1,batch=100,stub=10",
        *step(1, 120),
        Query(3, "q", "k1", 0.9, ("r1",)),
        turns=9,
        budget=10_000,
        surrogate__keep=0.0,
    )
    assert cleared(told) == [(2, ("r1",), 10)]
    assert [row["segment"] for row in told.rows("fetch")] == ["r1"]
    assert told.window == ["c1", "s1", "r1"]
    assert [row["outcome"] for row in told.rows("answer")] == ["correct"]


def test_off_it_is_compaction():
    for script in adversaries():
        mine, other = (
            run(script, make(spec), PRICE).records for spec in ("lease:clear=off", "compaction")
        )
        assert mine[1:] == other[1:]


def test_what_does_not_fit_becomes_a_summary(play):
    told = play(
        "lease:batch=1000000,compaction.share=0.1",
        *step(1, 600),
        *step(2, 500),
        budget=1_000,
    )
    assert cleared(told) == [(2, ("c1", "r1", "c2", "r2"), 111)]


# -- the breakpoint ----------------------------------------------------------------------------


def session(turns):
    """Turns of four positions, 20 of which a look-back spans."""
    came = [Arrival(1, "system", Kind.SYSTEM, 2_000, 1.0, pinned=True)]
    for turn in range(1, turns + 1):
        came.append(Arrival(turn, f"u{turn}", Kind.USER, 30, 0.5))
        came.append(Arrival(turn, f"a{turn}", Kind.ASSISTANT, 20, 0.5))
        came += step(turn, 600, call=50)
    return came


def reads(spec, rules):
    script = script_of(*session(14), budget=100_000)
    told = Played(run(script, make(spec), replace(PRICE, rules=rules), strict=True))
    return {row["turn"]: row["read"] for row in told.rows("call")}, told


RULES = CacheRules("breakpoints", minimum=1_000, ttl=300.0)
OLD = "lease:age=8,batch=1200,stub=10"


def test_the_call_with_the_cut_reads_up_to_it():
    """Turn 10 clears r1 and r2, turn 12 r3 and r4, turn 14 r5 and r6.

    In front of r1 stand the system and 30 + 20 + 50. In front of r3 stand two turns with stubs,
    of 110 each, and 100; in front of r5 four of them.
    """
    read, told = reads(OLD, RULES)
    assert [turn for turn, _, _ in cleared(told)] == [10, 10, 12, 12, 14, 14]
    assert read[10] == 2_000 + 100
    assert read[12] == 2_000 + 2 * 110 + 100
    assert read[14] == 2_000 + 4 * 110 + 100
    assert read[9] == 2_000 + 8 * 700
    assert read[11] == 2_000 + 2 * 110 + 8 * 700


def test_without_it_only_the_system_is_found():
    read, _ = reads(f"{OLD},breakpoint=off", RULES)
    assert read[10] == read[12] == read[14] == 2_000


def test_where_the_prefix_counts_it_makes_no_difference():
    rules = CacheRules("auto", ttl=300.0)
    assert reads(OLD, rules)[0] == reads(f"{OLD},breakpoint=off", rules)[0]
    assert reads(OLD, rules)[0][10] == 2_100


# -- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("least=0", "'0' is not a whole number of tokens of at least 1"),
        ("age=-1", "'-1' is not a whole number of calls of at least 0"),
        ("batch=1.5", "'1.5' is not a whole number of tokens"),
        ("stub=²", "is not a whole number of tokens"),
        ("what=tools", "unknown value 'tools'"),
        ("bach=3", "did you mean 'batch'"),
    ],
)
def test_bad_options(option, says):
    with pytest.raises(InputError, match=says):
        make(f"lease:{option}")


def test_it_edits_and_says_so():
    assert make("lease").needs == {"edits"}
    assert make("lease").declares == {"spends"}
