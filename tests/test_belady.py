"""The bound of the best possible, on segments of one size: Belady's optimum with bypass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policies.registry import make
from sim.engine import run
from sim.optimum.bound import bound
from sim.optimum.timeline import Realised
from tests.support.accesses import Furthest, FurthestOrItself, accesses, misses
from tests.test_bound import examples
from tests.test_random_runs import PRICE


def with_bypass(trace: list[int], room: int) -> int:
    """Return the misses of Belady's rule where what comes in may be what leaves; by scanning."""
    cache: list[int] = []
    missed = 0
    for number, thing in enumerate(trace):
        if thing in cache:
            continue
        missed += 1
        cache.append(thing)
        if len(cache) > room:
            rest = trace[number + 1 :]
            cache.remove(max(cache, key=lambda c: rest.index(c) if c in rest else len(trace)))
    return missed


def proved(trace: list[int], room: int) -> int:
    """Return the bound on the accesses that miss: on the touches, and first accesses all miss."""
    return len(set(trace)) + bound(accesses(trace, room), Realised(len(trace), {}))


def test_bypass_by_hand():
    # One place. 1 stays where 2 passes by: 1 and 2 miss once each. Forced in, 2 costs a third miss.
    assert with_bypass([1, 2, 1], 1) == proved([1, 2, 1], 1) == 2
    assert misses([1, 2, 1], 1, FurthestOrItself()) == 2
    assert misses([1, 2, 1], 1, Furthest()) == 3
    # Two places, 1 2 3 1 2 3: 1 and 2 stay, 3 misses twice.
    assert with_bypass([1, 2, 3, 1, 2, 3], 2) == proved([1, 2, 3, 1, 2, 3], 2) == 4


traces = st.integers(1, 8).flatmap(
    lambda objects: st.lists(st.integers(1, objects), min_size=1, max_size=40)
)


@examples(300)
@given(traces, st.integers(1, 6))
def test_the_bound_is_beladys_optimum_with_bypass(trace: list[int], room: int) -> None:
    best = with_bypass(trace, room)
    assert proved(trace, room) == best
    assert misses(trace, room, FurthestOrItself()) == best


@examples(60)
@given(traces, st.integers(1, 6))
def test_clairvoyant_plays_it(trace: list[int], room: int) -> None:
    went = run(accesses(trace, room), make("clairvoyant"), PRICE)
    assert len(set(trace)) + went.metrics["missed_tokens"] == with_bypass(trace, room)


@examples(100)
@given(traces, st.integers(1, 6))
def test_to_let_all_in_costs_at_least_as_much(trace: list[int], room: int) -> None:
    assert misses(trace, room, Furthest()) >= proved(trace, room)
