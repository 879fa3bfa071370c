"""masking, context-editing and boundary-prune, by hand: what is cleared, when, and what stays."""

import pytest

from policies.registry import make
from sim.script import Arrival, Query
from sim.segments import Kind
from tests.policies.test_lease import cleared, step


def talk(turn, tokens=20):
    return Arrival(turn, f"u{turn}", Kind.USER, tokens, 0.5)


def steps(*sizes):
    return [a for turn, tokens in enumerate(sizes, 1) for a in step(turn, tokens)]


# -- masking -----------------------------------------------------------------------------------


def test_masking_keeps_the_newest_and_clears_one_more_each_turn(play):
    told = play("masking:keep=2,stub=10", *steps(100, 100, 100, 100), turns=5, budget=10_000)
    assert cleared(told) == [(3, ("r1",), 10), (4, ("r2",), 10)]
    assert told.window == ["c1", "s1", "c2", "s2", "c3", "r3", "c4", "r4"]
    assert told["policy_bugs"] == 0 and told["maintenance_cost_usd"] == 0.0


def test_masking_counts_every_result_and_clears_what_a_stub_is_shorter_than(play):
    """r2 is no longer than a stub: it stays, and is one of the two newest in turn 3."""
    told = play("masking:keep=2,stub=10", *steps(100, 10, 11, 100), turns=4, budget=10_000)
    assert cleared(told) == [(3, ("r1",), 10)]
    told = play("masking:keep=1,stub=10", *steps(100, 10, 11, 100), turns=4, budget=10_000)
    assert cleared(told) == [(2, ("r1",), 10), (4, ("r3",), 10)]


def test_masking_of_parallel_results_goes_by_their_place(play):
    both = [*step(1, 100), *step(1, 100, "b"), *step(1, 100, "c")]
    told = play("masking:keep=1,stub=10", *both, turns=1, budget=10_000)
    assert cleared(told) == [(1, ("r1",), 10), (1, ("r1b",), 10)]


def test_masking_leaves_pins_files_of_nobody_and_words(play):
    told = play(
        "masking:keep=0,stub=10",
        *step(1, 100, pinned=True),
        *step(1, 100, "b", taggable=False),
        Arrival(1, "file", Kind.FILE, 300, 0.5, copy=True, path="a.py"),
        Arrival(1, "say", Kind.ASSISTANT, 300, 0.5),
        turns=2,
        budget=10_000,
    )
    assert cleared(told) == []


def test_what_was_masked_and_is_fetched_again_is_new(play):
    """r1 comes back in turn 3 behind r3, which goes instead of it; r1 goes when r4 has come."""
    asks = Query(3, "q", "k1", 1.0, ("r1",))
    told = play("masking:keep=1,stub=10", *steps(100, 100, 100, 100), asks, turns=4, budget=10_000)
    assert told["fetches"] == 1
    assert cleared(told) == [
        (2, ("r1",), 10),
        (3, ("r2",), 10),
        (3, ("r3",), 10),
        (4, ("r1",), 10),
    ]


def test_the_published_numbers_are_the_defaults():
    assert make("masking:keep=10").label == "masking"
    assert make("context-editing:trigger=100000,keep=3,at_least=0").label == "context-editing"
    assert make("boundary-prune:least=500,stub=60").label == "boundary-prune"
    assert make("rolling-summary:batch=21,keep=10").label == "rolling-summary"
    assert make("hybrid:batch=43,keep=10").label == "hybrid"


def test_masking_moves_its_breakpoint_with_the_cut(play):
    """In turn 3 r2 is what goes next: the entry of tools, system and c2's end is put in front."""
    spec = "masking:keep=2,stub=10,breakpoint=on"
    told = play(spec, *steps(100, 100, 100, 100), turns=4, budget=10_000)
    marks = [(row["turn"], row["after"]) for row in told.rows("breakpoints")]
    assert marks == [(1, ("c1",)), (3, ("c1", "c2")), (4, ("c2", "c3"))]


# -- context-editing ---------------------------------------------------------------------------


def test_editing_waits_for_the_trigger_and_then_goes_on(play):
    """Calls are 5 tokens: 105 · 3 = 315 in turn 3. From then on it stays above the trigger, as the
    cleared results count in full, though what is sent is shorter."""
    spec = "context-editing:trigger=314,keep=1,stub=10"
    told = play(spec, *steps(100, 100, 100, 20), turns=5, budget=10_000)
    assert cleared(told) == [(3, ("r1",), 10), (3, ("r2",), 10), (4, ("r3",), 10)]
    spec = "context-editing:trigger=315,keep=1,stub=10"
    told = play(spec, *steps(100, 100, 100), turns=5, budget=10_000)
    assert cleared(told) == []


@pytest.mark.parametrize(("at_least", "turns"), [(200, [3, 5]), (201, [4]), (401, [])])
def test_editing_waits_for_enough(play, at_least, turns):
    spec = f"context-editing:trigger=0,keep=1,stub=10,at_least={at_least}"
    told = play(spec, *steps(100, 100, 100, 100, 100), turns=5, budget=10_000)
    assert sorted({row["turn"] for row in told.rows("rewrite")}) == turns


# -- boundary-prune ----------------------------------------------------------------------------


def test_pruning_clears_the_turns_before_a_new_message(play):
    """Of turn 3 nothing goes: it came with the message. r2 is shorter than what is pruned."""
    told = play(
        "boundary-prune:least=50,stub=10",
        *steps(100, 49, 100, 100),
        talk(3),
        turns=5,
        budget=10_000,
    )
    assert cleared(told) == [(3, ("r1",), 10)]


def test_pruning_goes_on_at_the_next_message(play):
    told = play(
        "boundary-prune:least=50,stub=10",
        *steps(100, 50, 100, 100, 100),
        talk(1),
        talk(3),
        talk(5),
        turns=6,
        budget=10_000,
    )
    assert cleared(told) == [
        (3, ("r1",), 10),
        (3, ("r2",), 10),
        (5, ("r3",), 10),
        (5, ("r4",), 10),
    ]


def test_what_does_not_fit_is_summarised(play):
    """Nothing goes at a boundary; 5 + 600 + 5 + 600 are over, and 5 % of them are 60."""
    for policy in ("boundary-prune", "masking", "context-editing", "rolling-summary", "hybrid"):
        told = play(policy, *steps(600, 600), turns=2, budget=1_000)
        assert told.rewritten(2) == [("c1", "r1", "c2", "r2", 60)]
        cut = play(f"{policy}:compact=off", *steps(600, 600), turns=2, budget=1_000, strict=False)
        assert cut.truncated() == ["c1", "r1"]


@pytest.mark.parametrize("switch", ["mask", "clear", "prune", "summarise"])
def test_the_rules_can_be_switched_off(play, switch):
    policy = {
        "mask": "masking:keep=0",
        "clear": "context-editing:trigger=0,keep=0",
        "prune": "boundary-prune:least=1,stub=1",
        "summarise": "rolling-summary:batch=1,keep=0",
    }[switch]
    long = [*steps(100, 100, 100), talk(3)]
    assert play(policy, *long, turns=3, budget=10_000)["rewrites"] > 0
    assert play(f"{policy},{switch}=off", *long, turns=3, budget=10_000)["rewrites"] == 0


# -- rolling-summary and hybrid ----------------------------------------------------------------


def test_the_oldest_turns_become_a_summary_and_the_newest_stay(play):
    """In turn 4 there are 2 + 2: turns 1 and 2, 210 tokens, become 10. In turn 6 turns 3 and 4
    have come on top, and 10 + 210 become 11."""
    told = play("rolling-summary:batch=2,keep=2", *steps(*[100] * 6), turns=6, budget=10_000)
    assert [(row["turn"], row["before"], row["after"]) for row in told.rows("rewrite")] == [
        (4, 210, 10),
        (6, 220, 11),
    ]
    assert told.rewritten(6) == [("s1", "c3", "r3", "c4", "r4", 11)]
    assert told.window == ["s2", "c5", "r5", "c6", "r6"]


def test_a_summary_is_a_call_of_its_own_with_the_turns_as_input(play):
    """210 tokens at 2 $ a million, and 10 at 10."""
    told = play("rolling-summary:batch=2,keep=2", *steps(*[100] * 4), turns=4, budget=10_000)
    assert told["maintenance_cost_usd"] == pytest.approx((210 * 2.0 + 10 * 10.0) / 1e6)


def test_a_summary_takes_no_pins_and_nothing_that_cannot_be_tagged(play):
    told = play(
        "rolling-summary:batch=1,keep=1",
        Arrival(1, "task", Kind.TASK, 50, 1.0, pinned=True),
        Arrival(1, "plain", Kind.ASSISTANT, 60, 0.5, taggable=False),
        *steps(100, 100),
        turns=2,
        budget=10_000,
    )
    assert told.rewritten() == [("c1", "r1", 5)]


def test_hybrid_summarises_what_it_has_masked(play):
    """Turns 1 to 4: keep 2 masks r1 in turn 3, r2 in turn 4, where 5 + 12 + 5 + 12 become 1."""
    told = play("hybrid:batch=2,keep=2", *steps(*[100] * 4), turns=4, budget=10_000)
    assert cleared(told) == [
        (3, ("r1",), 12),
        (4, ("r2",), 12),
        (4, ("c1", "s1", "c2", "s2"), 1),
    ]
    assert told.window == ["s3", "c3", "r3", "c4", "r4"]
