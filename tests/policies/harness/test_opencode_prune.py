import pytest

from sim.script import Arrival, Query
from sim.segments import Fact, Kind
from tests.policies.harness.declared import breaks, figures
from tests.policies.harness.histories import say, step, task

NAME = "opencode-prune"
SMALL = f"{NAME}:protect=100,minimum=150"


def steps(last, size=60, first=1, **more):
    return [a for turn in range(first, last + 1) for a in step(turn, 5, size, **more)]


def session(*old):
    """A run of turns 1 to 5, and three more of a turn each; the last message comes at turn 8."""
    return [
        task(50),
        *(old or steps(5)),
        *(a for t in (6, 7, 8) for a in (say(t, 10), *steps(t)[-2:])),
    ]


def pruned(told):
    return [(row["turn"], *row["sources"]) for row in told.rows("rewrite")]


@pytest.mark.parametrize(("minimum", "gone"), [(240, []), (239, [4, 3, 2, 1])])
def test_it_acts_above_its_minimum_at_the_message_behind_two_turns(play, minimum, gone):
    # Results 6 and 7 are of the last two turns, 5 is within 100, 4 exceeds it with 120.
    told = play(f"{NAME}:protect=100,minimum={minimum}", *session(), turns=8, budget=10_000)
    assert pruned(told) == [(8, f"result-{n}") for n in gone]


@pytest.mark.parametrize(("protect", "gone"), [(120, [3, 2, 1]), (119, [4, 3, 2, 1])])
def test_the_result_that_exceeds_the_protected_goes_too(play, protect, gone):
    told = play(f"{NAME}:protect={protect},minimum=0", *session(), turns=8, budget=10_000)
    assert pruned(told) == [(8, f"result-{n}") for n in gone]


def test_trap_it_prunes_above_20000_behind_the_newest_40000_not_at_it(play):
    # Of 10,000 each, the newest four of the first run are 40,000, and two more 20,000.
    said = [say(7, 10), say(8, 10), say(9, 10)]
    told = play(NAME, task(50), *steps(6, 10_000), *said, turns=9, budget=1_000_000)
    assert pruned(told) == []
    longer = [*step(1, 5, 10_001), *steps(6, 10_000, first=2)]
    told = play(NAME, task(50), *longer, *said, turns=9, budget=1_000_000)
    assert pruned(told) == [(9, "result-2"), (9, "result-1")]
    assert [after for *_, after in told.rewritten()] == [9, 9]


def test_trap_turns_of_the_user_are_protected_so_one_turn_is_never_pruned(play):
    everything = f"{NAME}:protect=0,minimum=0"
    one = [task(50), *steps(20, 10_000)]
    assert play(everything, *one, turns=21, budget=1_000_000)["rewrites"] == 0
    two = [*one, say(21, 10)]
    assert play(everything, *two, turns=21, budget=1_000_000)["rewrites"] == 0
    three = [*two, *steps(21, 10_000)[-2:], say(22, 10)]
    assert play(everything, *three, turns=22, budget=1_000_000)["rewrites"] == 0
    four = [*three, say(23, 10)]
    assert play(everything, *four, turns=23, budget=1_000_000)["rewrites"] == 20


def test_it_prunes_when_a_run_is_over_not_within_it(play):
    told = play(f"{NAME}:protect=0,minimum=0", *session(), *steps(12, first=9), budget=10_000)
    assert {turn for turn, _ in pruned(told)} == {8}


@pytest.mark.parametrize(("minimum", "gone"), [(119, [6, 5]), (120, [])])
def test_trap_it_stops_at_what_it_has_pruned_before(play, minimum, gone):
    # At turn 10 the last two turns begin at turn 8. Result 7 is protected, 6 exceeds 100, and so
    # does 5: 120. Result 1 was too short for a text in its place, and 9 more with it would be
    # enough; but it stands behind what was pruned at turn 8.
    told = play(
        f"{NAME}:protect=100,minimum={minimum}",
        *session(*step(1, 5, 9), *steps(5, first=2)),
        *(a for t in (9, 10) for a in (say(t, 10), *steps(t)[-2:])),
        turns=10,
        budget=10_000,
    )
    assert pruned(told) == [
        *((8, f"result-{n}") for n in (4, 3, 2)),
        *((10, f"result-{n}") for n in gone),
    ]


def test_trap_it_stops_at_a_summary(play):
    summary = Arrival(3, "summary", Kind.SUMMARY, 40, 1.0, time=2.0)
    told = play(f"{NAME}:protect=0,minimum=0", *session(*steps(5), summary), turns=8, budget=10_000)
    assert pruned(told) == [(8, "result-5"), (8, "result-4")]


def test_skills_stay_and_do_not_count(play):
    old = [*steps(4), *step(5, 5, 60, tool="skill")]
    told = play(f"{NAME}:protect=60,minimum=0", *session(*old), turns=8, budget=10_000)
    # Result 4 takes the 60, and 3 exceeds them.
    assert pruned(told) == [(8, f"result-{n}") for n in (3, 2, 1)]


@pytest.mark.parametrize(("size", "gone"), [(9, []), (10, [5, 4, 3, 2, 1])])
def test_a_text_is_not_put_where_it_is_no_shorter(play, size, gone):
    told = play(f"{NAME}:protect=0,minimum=0", *session(*steps(5, size)), turns=8, budget=10_000)
    assert pruned(told) == [(8, f"result-{n}") for n in gone]


@pytest.mark.parametrize(
    ("copy", "fetches", "outcome"), [(True, 1, "correct"), (False, 0, "abstained")]
)
def test_the_model_gets_back_only_what_it_can_read_or_run_again(play, copy, fetches, outcome):
    old = [*step(1, 5, 60, facts=(Fact("k", "v", "w"),), copy=copy), *steps(5, first=2)]
    told = play(
        SMALL, *session(*old), Query(9, "q", "k", 1.0, ("result-1",)), turns=9, budget=10_000
    )
    assert told["fetches"] == fetches
    assert [row["outcome"] for row in told.rows("answer")] == [outcome]


def test_it_knows_no_pins(play):
    old = [*step(1, 5, 60, pinned=True, taggable=False), *steps(5, first=2)]
    told = play(SMALL, *session(*old), turns=8, budget=10_000)
    assert [row["tagged"] for row in told.rows("rewrite")] == [True, True, True, False]
    assert breaks(NAME) == {"ignores_pins", "spends", "untagged"}


def test_its_figures_are_those_of_the_source():
    assert figures(NAME) == {
        **{"cap": "on", "turns": "2", "protect": "40000", "minimum": "20000"},
        **{"exempt": "skill", "stub": "9"},
    }
