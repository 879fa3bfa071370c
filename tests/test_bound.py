"""The bound and the clairvoyant plan: by hand, against every way of holding, and on random runs."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.registry import make, names
from sim.actions import Admit, Evict
from sim.engine import lacking, run
from sim.optimum.bound import bound
from sim.optimum.plan import plan
from sim.optimum.program import program
from sim.optimum.timeline import Realised, realised, timeline
from sim.script import Arrival, Operator, Query, Script, WorldRefresh, Write
from sim.segments import Fact, Kind
from tests.support.dense import dense
from tests.support.scripts import BASE_SETTINGS, scripts
from tests.test_random_runs import PRICE, examples

FORMS = (
    "tiered:arrival=page",
    "tiered:arrival=spill",
    "disciplined:arrival=page",
    "disciplined:arrival=spill",
    "tag-or-drop:tag=off",
)
DELTAS = ("tiered:delta=on", "disciplined:arrival=page,delta=on")
"""What they hold as a difference may be smaller than what the plan holds."""


def script(turns: int, budget: int, *stimuli: Any) -> Script:
    return Script("made", 0, {**BASE_SETTINGS, "turns": turns, "budget": budget}, stimuli)


def file(turn: int, name: str, tokens: int, copy: bool = True, **more: Any) -> Arrival:
    return Arrival(turn, name, Kind.NOTE, tokens, 1.0, copy=copy, **more)


def asks(*wanted: tuple[int, str]) -> list[Operator]:
    return [Operator(turn, f"o{n}", name) for n, (turn, name) in enumerate(wanted)]


def least(made: Script) -> tuple[int, int]:
    """Return the bound, and what the clairvoyant run missed."""
    went = run(made, make("clairvoyant"), PRICE)
    assert not went.metrics["policy_bugs"]
    return bound(made, realised(went.records)), went.metrics["missed_tokens"]


THREE = (file(1, "a", 10), file(1, "b", 10), file(2, "c", 10))


def test_of_three_that_are_wanted_two_find_room():
    made = script(5, 20, *THREE, *asks((3, "a"), (4, "b"), (5, "c")))
    assert least(made) == (10, 10)


def test_where_all_fit_nothing_is_missed():
    made = script(5, 30, *THREE, *asks((3, "a"), (4, "b"), (5, "c")))
    assert least(made) == (0, 0)


def test_what_a_pin_takes_is_no_room():
    pin = file(1, "p", 10, pinned=True)
    made = script(5, 30, pin, *THREE, *asks((3, "a"), (4, "b"), (5, "c")))
    assert least(made) == (10, 10)


def test_a_part_of_a_use_is_worth_its_part_to_the_bound_and_nothing_to_a_policy():
    # a is asked for twice in one turn: 20. Of b 10 of 15 tokens find room: 20 + 15 − 30 = 5.
    made = script(3, 20, file(1, "a", 10), file(1, "b", 15), *asks((3, "a"), (3, "a"), (3, "b")))
    assert least(made) == (5, 15)


def test_without_a_copy_what_was_missed_stays_missed():
    wanted = asks((2, "a"), (2, "b"), (4, "a"))
    with_copy = script(4, 10, file(1, "a", 9), file(1, "b", 10), *wanted)
    # Either may be there in turn 2; a, from its copy, is back for turn 4.
    assert least(with_copy)[1] == 9
    without = script(4, 10, file(1, "a", 9, copy=False), file(1, "b", 10), *wanted)
    # Holding a throughout is 9 + 9, b alone 10; a and a tenth of b would be 19.
    assert least(without) == (9, 10)


def test_what_the_world_makes_larger_takes_more_room_from_then_on():
    made = script(
        4, 20, file(1, "a", 5), file(1, "b", 12), WorldRefresh(3, "a", 18),
        *asks((2, "a"), (2, "b"), (4, "a"), (4, "b")),
    )  # fmt: skip
    # Both in turn 2; in turn 4 a of 18 or b of 12.
    assert least(made)[1] == 12
    assert least(made)[0] <= 12


def test_a_stale_copy_is_small_until_it_is_brought_up_to_date():
    made = script(
        4, 30, Arrival(1, "a", Kind.FILE, 10, 1.0, path="p"), file(1, "b", 20, copy=False),
        Write(2, "p", 30), *asks((3, "b"), (4, "a")),
    )  # fmt: skip
    # a waits at 10 beside b, and becomes 30 in turn 4, when b has been asked for.
    assert least(made) == (0, 0)


def test_a_call_keeps_its_place_while_its_result_stays():
    pair = (
        Arrival(1, "call", Kind.TOOL_CALL, 6, 1.0, pair="p"),
        Arrival(1, "back", Kind.TOOL_RESULT, 10, 1.0, pair="p"),
    )
    made = script(
        4, 20, *pair, file(2, "b", 8, copy=False), *asks((2, "call"), (4, "back"), (4, "b"))
    )
    # call and back in turn 2 take 16, and b 8 with them is too much: it is over at turn 2. From
    # turn 3 on the call stays with its result, 16, and b has no room; the call is the least.
    assert least(made)[1] == 6


def test_a_stub_lets_a_call_leave_before_its_result():
    pair = (
        Arrival(1, "call", Kind.TOOL_CALL, 6, 1.0, pair="p"),
        Arrival(1, "back", Kind.TOOL_RESULT, 10, 1.0, pair="p"),
    )
    made = script(
        4, 20, *pair, file(3, "b", 8, copy=False), *asks((2, "call"), (4, "back"), (4, "b"))
    )
    # 16 in turn 2; from turn 3 on back, b and a stub of one token in place of the call, 19.
    assert least(made) == (0, 0)
    # Without room for the stub, the call keeps its place, and is the least to miss.
    tight = script(
        4, 18, *pair, file(3, "b", 8, copy=False), *asks((2, "call"), (4, "back"), (4, "b"))
    )
    below, missed = least(tight)
    assert missed == 6
    # A policy that evicts them together and one that stubs the call are both held to the bound.
    assert below == 0


def test_what_entered_in_part_is_not_there_in_full():
    made = script(2, 100, file(1, "a", 50), *asks((2, "a")))
    policy = make("no-op")
    policy.on_arrival = lambda view, segment: [Admit(1)]
    went = run(made, policy, PRICE)
    assert went.metrics["missed_tokens"] == 50
    assert bound(made, realised(went.records)) == 0


def test_what_was_spilled_in_part_comes_back_in_part():
    made = script(5, 100, file(1, "a", 50, copy=False), *asks((2, "a"), (5, "a")))
    policy = make("no-op")
    policy.on_arrival = lambda view, segment: [Admit(10, "spill")]
    policy.before_call = lambda view: [Evict("a", "x")] if view.turn == 1 else []
    went = run(made, policy, PRICE)
    # Its copy is of ten tokens, too: it was fetched for turn 3, and is not there in full in turn 5.
    assert went.metrics["fetches"] == 1
    assert went.metrics["missed_tokens"] == 100
    assert bound(made, realised(went.records)) == 0


def test_a_run_whose_pins_end_it_is_bound_by_the_calls_it_made():
    late = file(3, "late", 100, pinned=True)
    made = script(6, 20, *THREE, late, *asks((2, "a"), (2, "b"), (2, "c"), (5, "a")))
    taken = realised(run(made, make("tiered"), PRICE).records)
    assert taken.turns == 2
    assert bound(made, taken) == 10


def test_a_run_that_removed_a_pin_has_the_whole_budget():
    pin = file(1, "p", 10, pinned=True)
    made = script(5, 30, pin, *THREE, *asks((3, "a"), (4, "b"), (5, "c")))
    assert bound(made, Realised(5, {}, pins_kept=False)) == 0


def test_a_key_that_is_asked_for_brings_back_what_states_it():
    facts = (Fact("k", "v"),)
    made = script(
        6, 10, file(1, "a", 10), file(1, "b", 10, facts=facts),
        Query(4, "q", "k", 0.0, ("a",)), *asks((2, "a"), (6, "b")),
    )  # fmt: skip
    # b need not wait from turn 1 on: the query of turn 4 can bring it back.
    assert least(made) == (0, 0)


# -- against every way of holding ----------------------------------------------------------

_sizes = st.integers(1, 6)


@st.composite
def small(draw: Any) -> Script:
    turns = draw(st.integers(2, 5))
    stimuli: list[Any] = []
    for n in range(draw(st.integers(1, 5))):
        come = draw(st.integers(1, turns))
        stimuli.append(file(come, f"s{n}", draw(_sizes), draw(st.booleans())))
        for _ in range(draw(st.integers(0, 3))):
            stimuli += asks((draw(st.integers(come, turns)), f"s{n}"))
    named = [
        Operator(s.turn, f"o{n}", s.segment) if isinstance(s, Operator) else s
        for n, s in enumerate(stimuli)
    ]
    return script(turns, draw(st.integers(1, 14)), *named)


def every_way(made: Script) -> int:
    """Return the least that is missed, over every set that can be held at every call."""
    arrivals = {s.id: s for s in made.stimuli if isinstance(s, Arrival)}
    best: dict[frozenset[str], int] = {frozenset(): 0}
    for turn in range(1, made.settings["turns"] + 1):
        asked = [s.segment for s in made.stimuli if isinstance(s, Operator) and s.turn == turn]
        before = [s.segment for s in made.stimuli if isinstance(s, Operator) and s.turn == turn - 1]
        back = {name for name in before if arrivals[name].copy}
        new = {name for name, a in arrivals.items() if a.turn == turn}
        found: dict[frozenset[str], int] = {}
        for held, missed in best.items():
            there = sorted(held | back | new)
            subsets = chain.from_iterable(combinations(there, n) for n in range(len(there) + 1))
            for subset in map(frozenset, subsets):
                if sum(arrivals[name].tokens for name in subset) > made.settings["budget"]:
                    continue
                cost = missed + sum(arrivals[name].tokens for name in asked if name not in subset)
                found[subset] = min(cost, found.get(subset, cost))
        best = found
    return min(best.values())


@examples(250)
@given(small())
def test_the_plan_is_the_best_of_all_ways_and_is_played(made: Script) -> None:
    below, missed = least(made)
    assert missed == every_way(made) == plan(made, Realised(made.settings["turns"], {})).missed
    assert below <= missed


@examples(100)
@given(small(), st.integers(1, 4))
def test_of_equal_sizes_the_bound_is_exact(made: Script, room: int) -> None:
    even = [
        Arrival(s.turn, s.id, s.kind, 3, 1.0, copy=True) if isinstance(s, Arrival) else s
        for s in made.stimuli
    ]
    made = script(made.settings["turns"], 3 * room, *even)
    below, missed = least(made)
    assert below == missed == every_way(made)


# -- on runs of everything -----------------------------------------------------------------


def hold(made: Script) -> None:
    """No run falls below the bound; none whose script is the same below the clairvoyant's."""
    policy = make("clairvoyant")
    ideal = run(made, policy, PRICE)
    taken = realised(ideal.records)
    assert not ideal.metrics["policy_bugs"]
    assert bound(made, taken) <= ideal.metrics["missed_tokens"]
    for name in (*names(), *FORMS, *DELTAS):
        other = make(name)
        if lacking(made, other):
            continue
        went = run(made, other, PRICE)
        mine = realised(went.records)
        missed = went.metrics["missed_tokens"]
        assert bound(made, mine) <= missed, name
        if name not in DELTAS and mine == taken and taken.pins_kept and policy.settled:
            assert ideal.metrics["missed_tokens"] <= missed, name


@examples(60)
@given(scripts())
def test_no_policy_does_better(made: Script) -> None:
    hold(made)


@pytest.mark.parametrize("seed", range(1_000, 1_060))
def test_no_policy_does_better_in_long_runs(seed: int) -> None:
    hold(dense(seed))


def test_the_program_of_nothing_asked_for_is_empty():
    made = program(timeline(script(3, 20, *THREE), Realised(3, {})))
    assert (made.worth, made.columns, made.rows) == (0, [], [])
