from __future__ import annotations

import math
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.statistics import best, difference, ranks

NAN = math.nan


def sample(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_ranks_of_clear_differences() -> None:
    samples = [sample(3, 3, 3), sample(1, 1, 1), sample(2, 2, 2)]
    assert ranks(samples, "less") == [3, 1, 2]
    assert ranks(samples, "more") == [1, 3, 2]
    assert ranks(samples, None) == [None, None, None]


def test_equal_samples_share_a_place_and_the_next_counts_them() -> None:
    samples = [sample(0, 0, 0), sample(5, 5, 5), sample(0, 0, 0)]
    assert ranks(samples, "less") == [1, 3, 1]


def test_a_place_is_shared_while_the_interval_to_the_leader_holds_zero() -> None:
    """Means 0, 1, 2, 3. The second differs from the first by +9 or −7 by turns: not clearly. The
    third is 2 above the first on every seed: it leads anew, and the fourth shares with it."""
    leader = np.zeros(20)
    second = np.tile([9.0, -7.0], 10)
    third = np.full(20, 2.0)
    fourth = np.tile([12.0, -6.0], 10)
    assert ranks([leader, second, third, fourth], "less") == [1, 1, 3, 3]


def test_the_place_is_that_to_the_leader_not_to_the_neighbour() -> None:
    """Each is within noise of the one before it, but the third is clearly above the first."""
    noise = np.tile([0.6, -0.6], 15)
    first, second, third = np.zeros(30), 0.1 + noise, np.full(30, 0.2)
    assert difference(second, first).holds_zero
    assert difference(third, second).holds_zero
    assert not difference(third, first).holds_zero
    assert ranks([first, second, third], "less") == [1, 1, 3]


def test_what_cannot_be_told_from_the_best_need_not_stand_next_to_it() -> None:
    """Means 0, 2, 2.4. The second is 2 above the first on every seed; the third is above it by 12.4
    or below it by 7.6 by turns, so that nothing tells it from the first."""
    clear, loose = np.full(20, 2.0), np.tile([12.4, -7.6], 10)
    samples = [loose, np.zeros(20), clear]
    assert ranks(samples, "less") == [2, 1, 2]
    assert best(samples, "less") == [1, 0]
    assert best([-each for each in samples], "more") == [1, 0]


def test_the_best_of_nothing() -> None:
    assert best([sample(1.0), sample(NAN, NAN)], "less") == []
    assert best([], "more") == []


def test_fewer_than_two_values_have_no_place() -> None:
    samples = [sample(1, NAN, NAN), sample(2, 2, 2), sample(NAN, NAN, NAN), sample(3, 3, 3)]
    assert ranks(samples, "less") == [None, 1, None, 2]
    assert ranks([sample(1.0), sample(2.0)], "less") == [None, None]


def test_missing_values_are_no_advantage() -> None:
    """The second has values on the two cheap seeds only: its mean is lower, but on those seeds it
    is dearer than the first."""
    whole = sample(1, 2, 50, 60)
    partial = sample(3, 4, NAN, NAN)
    assert ranks([whole, partial], "less") == [1, 2]


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=1, max_size=5),
    st.sampled_from(["less", "more"]),
    st.randoms(use_true_random=False),
)
def test_ranks_are_places_of_a_competition_in_any_order(
    values: list[list[int]], better: str, shuffler: random.Random
) -> None:
    samples = [np.array(v, dtype=float) for v in values]
    found = ranks(samples, better)
    places = sorted(place for place in found if place is not None)
    assert len(places) == len(samples)
    assert all(place == 1 + sum(p < place for p in places) for place in places)
    means = [float(s.mean()) for s in samples]
    for i, one in enumerate(means):
        for j, other in enumerate(means):
            ahead = one < other if better == "less" else one > other
            if ahead:
                assert found[i] <= found[j]  # type: ignore[operator]
    if len(set(means)) == len(means):
        order = list(range(len(samples)))
        shuffler.shuffle(order)
        again = ranks([samples[i] for i in order], better)
        assert [found[i] for i in order] == again
