from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.statistics import RESAMPLES, Estimate, difference, estimate, median
from sim.streams import generator

NAN = math.nan


def sample(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def resamples_of(n: int) -> np.ndarray:
    """Which value each resample draws, in the order of the stream."""
    return generator(0, "bootstrap", "resamples", n).integers(0, n, size=(RESAMPLES, n))


def naive_interval(values: list[float]) -> tuple[float, float]:
    """The interval by Efron's formulas, one resample, one value and one left out at a time."""
    n = len(values)
    drawn = resamples_of(n)
    means = sorted(math.fsum(values[int(i)] for i in row) / n for row in drawn)
    middle = math.fsum(values) / n
    slack = 1e-12 * max(map(abs, values))
    lower = sum(mean < middle - slack for mean in means)
    level = sum(abs(mean - middle) <= slack for mean in means)
    bias = NormalDist().inv_cdf((lower + level / 2) / RESAMPLES)
    left = [(math.fsum(values) - value) / (n - 1) for value in values]
    center = math.fsum(left) / n
    cubes = math.fsum((center - each) ** 3 for each in left)
    squares = math.fsum((center - each) ** 2 for each in left)
    pull = cubes / (6 * squares**1.5)

    def quantile(share: float) -> float:
        place = share * (RESAMPLES - 1)
        below = math.floor(place)
        above = min(below + 1, RESAMPLES - 1)
        return means[below] + (means[above] - means[below]) * (place - below)

    def bound(share: float) -> float:
        z = bias + NormalDist().inv_cdf(share)
        return quantile(NormalDist().cdf(bias + z / (1 - pull * z)))

    return bound(0.025), bound(0.975)


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


DRAWS: dict[str, Callable[[random.Random], float]] = {
    "skew to the right": lambda draws: draws.lognormvariate(0.0, 1.0),
    "skew to the left": lambda draws: -draws.expovariate(1.0),
    "two values": lambda draws: float(draws.random() < 0.3),
    "huge": lambda draws: draws.gauss(1e200, 1e199),
    "small": lambda draws: draws.gauss(0.0, 1e-200),
    "far from zero": lambda draws: 2.0**40 + draws.gauss(0.0, 1.0),
}


@pytest.mark.parametrize("n", [2, 3, 10, 30])
@pytest.mark.parametrize("draw", DRAWS)
def test_the_interval_is_the_naive_one(n: int, draw: str) -> None:
    draws = random.Random(n)
    values = [DRAWS[draw](draws) for _ in range(n)]
    if len(set(values)) == 1:
        values[0] = 1.0 - values[0]
    exact = [value / max(map(abs, values)) for value in values]
    found = estimate(np.array(exact))
    assert (found.low, found.high) == pytest.approx(naive_interval(exact), rel=1e-9, abs=1e-11)
    scaled = estimate(np.array(values))
    size = max(map(abs, values))
    assert scaled.low == pytest.approx(size * found.low, rel=1e-9, abs=1e-11 * size)
    assert scaled.high == pytest.approx(size * found.high, rel=1e-9, abs=1e-11 * size)
    assert scaled.mean == pytest.approx(math.fsum(values) / n, rel=1e-12)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(5).exponential(size=25),
        np.random.default_rng(6).lognormal(size=100),
        np.array([0.0] * 29 + [1.0]),
        np.array([0.0] * 24 + [0.25] * 5 + [-0.5]),
        np.array([1.0, 3.0]),
    ],
    ids=["exponential", "lognormal", "all but one equal", "a rate", "two"],
)
def test_the_interval_is_that_of_scipy_on_the_same_resamples(values: np.ndarray) -> None:
    from scipy.stats import bootstrap

    theirs = bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        method="BCa",
        random_state=generator(0, "bootstrap", "resamples", len(values)),
    ).confidence_interval
    found = estimate(values)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_all_but_one_equal_by_hand() -> None:
    """Resampled means are k/30, k the times that the one was drawn: 0 for (29/30)^30 = 36 %, so
    that the interval starts at 0, and it reaches further up than down."""
    found = estimate(np.array([0.0] * 29 + [1.0]))
    assert found.low == 0.0
    assert found.high is not None
    assert found.high > 3 / 30
    assert found.high * 30 == pytest.approx(round(found.high * 30), abs=1e-9)


def test_the_interval_of_skewed_values_leans_to_the_tail() -> None:
    """A percentile interval of these leans less: the acceleration moves both ends up."""
    values = np.random.default_rng(8).lognormal(size=60)
    found = estimate(values)
    rough = np.quantile(values[resamples_of(60)].mean(axis=1), (0.025, 0.975))
    assert found.low is not None
    assert found.high is not None
    assert found.low > rough[0]
    assert found.high > rough[1]


def test_the_interval_of_what_is_lost_is_that_of_what_is_won_turned_round() -> None:
    values = np.random.default_rng(9).exponential(size=31)
    one, other = estimate(values), estimate(-values)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), rel=1e-9)  # type: ignore[operator]


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


def test_half_of_an_interval() -> None:
    assert Estimate(3.0, 1.0, 6.0, 9).half_width == 2.5
    assert Estimate(3.0, None, None, 1).half_width is None


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12))
def test_an_interval_lies_within_the_values(values: list[float]) -> None:
    found = estimate(np.array(values))
    assert found.n == len(values)
    assert found.low is not None
    assert found.high is not None
    slack = 1e-9 * max(map(abs, values)) + 1e-300
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
