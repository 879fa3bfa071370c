from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.statistics import RESAMPLES, Estimate, difference, estimate, median, ranks
from sim.streams import generator

NAN = math.nan


def sample(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def naive_interval(values: list[float]) -> tuple[float, float]:
    """The percentile interval, one resample and one value at a time."""
    n = len(values)
    drawn = generator(0, "bootstrap", "resamples", n).integers(0, n, size=(RESAMPLES, n))
    means = sorted(sum(values[int(i)] for i in row) / n for row in drawn)

    def quantile(share: float) -> float:
        place = share * (RESAMPLES - 1)
        below = math.floor(place)
        above = min(below + 1, RESAMPLES - 1)
        return means[below] + (means[above] - means[below]) * (place - below)

    return quantile(0.025), quantile(0.975)


def test_there_are_enough_resamples() -> None:
    assert RESAMPLES >= 2_000


def test_nothing_has_no_mean() -> None:
    assert estimate(sample()) == Estimate(None, None, None, 0)
    assert estimate(sample(NAN, NAN)) == Estimate(None, None, None, 0)


def test_one_value_has_no_interval() -> None:
    assert estimate(sample(NAN, 4.0)) == Estimate(4.0, None, None, 1)


def test_equal_values_are_their_own_interval_exactly() -> None:
    assert estimate(sample(0.1, 0.1, 0.1)) == Estimate(0.1, 0.1, 0.1, 3)


def test_nans_are_left_out() -> None:
    assert estimate(sample(1.0, NAN, 2.0, 6.0)) == estimate(sample(1.0, 2.0, 6.0))
    assert estimate(sample(1.0, NAN, 2.0, 6.0)).mean == 3.0


@pytest.mark.parametrize("n", [2, 3, 10, 30])
def test_the_interval_is_the_naive_one(n: int) -> None:
    draws = random.Random(n)
    values = [draws.lognormvariate(0.0, 1.0) for _ in range(n)]
    found = estimate(np.array(values))
    assert (found.low, found.high) == pytest.approx(naive_interval(values), rel=1e-12)
    assert found.mean == pytest.approx(sum(values) / n, rel=1e-12)


def test_the_interval_is_that_of_scipy_on_the_same_resamples() -> None:
    from scipy.stats import bootstrap

    values = np.random.default_rng(5).exponential(size=25)
    theirs = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=generator(0, "bootstrap", "resamples", 25),
    ).confidence_interval
    found = estimate(values)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_samples_of_one_size_share_their_resamples() -> None:
    """The interval of 3x + 2 is 3 times that of x, plus 2, for any x of the same seeds."""
    values = np.random.default_rng(1).normal(size=40)
    one, other = estimate(values), estimate(3.0 * values + 2.0)
    assert one.low is not None
    assert one.high is not None
    expected = (3.0 * one.low + 2.0, 3.0 * one.high + 2.0)
    assert (other.low, other.high) == pytest.approx(expected, rel=1e-12)


def test_a_difference_is_paired() -> None:
    """Unpaired, these intervals overlap by far; paired, the difference is 1 on every seed."""
    base = np.random.default_rng(2).normal(scale=100.0, size=30)
    base = np.round(base)
    assert difference(base + 1.0, base) == Estimate(1.0, 1.0, 1.0, 30)


def test_a_difference_is_taken_where_both_have_a_value() -> None:
    found = difference(sample(1, NAN, 3, 9), sample(0, 5, NAN, 2))
    assert (found.mean, found.n) == (4.0, 2)


def test_rounding_does_not_make_a_difference() -> None:
    """0.1 + 0.2 is not 0.3 in floats; resamples whose true mean is 0 must hold 0."""
    left = sample(0.1 + 0.2, 0.5, 0.3)
    right = sample(0.3, 0.3, 0.5)
    assert difference(left, right).holds_zero


def test_median() -> None:
    assert median(sample(3.0, NAN, 1.0, 10.0)) == 3.0
    assert median(sample(1.0, 2.0)) == 1.5
    assert median(sample(NAN)) is None


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


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12))
def test_an_interval_lies_within_the_values(values: list[float]) -> None:
    found = estimate(np.array(values))
    assert found.n == len(values)
    assert found.low is not None
    assert found.high is not None
    slack = 1e-9 * max(map(abs, values)) + 1e-300
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
