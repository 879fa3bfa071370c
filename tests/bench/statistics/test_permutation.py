from __future__ import annotations

import math

import numpy as np
import pytest

from bench.statistics.permutation import EXACT, FLIPS, p_values

NAN = math.nan


def sample(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def p_of(*values: float) -> float | None:
    (found,) = p_values([sample(*values)])
    return found


def test_by_hand() -> None:
    """All of one sign is the farthest sum of eight, and so is its mirror image: 2 of 8."""
    assert p_of(1, 1, 1) == 2 / 8
    assert p_of(3, 3, 3, 3) == 2 / 16


def test_a_sum_that_only_rounding_keeps_apart_counts_as_the_same() -> None:
    """Of 0.1, 0.2 and −0.3 every fourth assignment sums to 0, and all are at least as far."""
    assert p_of(0.1, 0.2, -0.3) == 1.0
    assert p_of(0.1, 0.2, 0.3) == 2 / 8
    assert p_of(0.3, 0.1, 0.2, -0.6e-17) == pytest.approx(4 / 16)


def test_pairs_without_a_difference_turn_nothing() -> None:
    assert p_of(0, 0, 0, 0) == 1.0
    assert p_of(5, 0, 0, 7) == p_of(5, 7) == 2 / 4


def test_a_pair_that_is_missing_is_none() -> None:
    assert p_of(1, NAN, 1, 1) == 2 / 8
    assert p_of(1, NAN) is None
    assert p_of(NAN, NAN) is None
    assert p_values([]) == []


@pytest.mark.parametrize("n", [2, 5, EXACT])
@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_exact_ones_are_those_of_scipy(n: int, shift: float) -> None:
    from scipy.stats import permutation_test

    values = np.random.default_rng(n).normal(shift, 1.0, size=n)
    theirs = permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert p_values([values]) == [pytest.approx(theirs.pvalue, rel=1e-12)]


@pytest.mark.parametrize("shift", [0.0, 0.2, 0.5])
def test_sampled_ones_are_those_of_scipy_but_for_chance(shift: float) -> None:
    """Four standard errors of a share of 9,999, of ours and of theirs."""
    from scipy.stats import permutation_test

    values = np.random.default_rng(3).normal(shift, 1.0, size=30)
    theirs = permutation_test(
        (values,),
        np.mean,
        permutation_type="samples",
        n_resamples=9_999,
        vectorized=True,
        random_state=np.random.default_rng(4),
    ).pvalue
    (mine,) = p_values([values])
    error = math.sqrt(2 * theirs * (1 - theirs) / FLIPS)
    assert mine == pytest.approx(theirs, abs=4 * error + 1e-4)


def test_no_sampled_one_is_zero() -> None:
    assert p_of(*range(1, 31)) == 1 / (1 + FLIPS)


def test_samples_together_have_the_values_each_has_alone() -> None:
    draws = np.random.default_rng(5).normal(0.3, 1.0, size=(4, 25))
    draws[2, 3:] = 0.0
    draws[3, 7] = NAN
    together = p_values(list(draws))
    assert together == [p_values([each])[0] for each in draws]


def test_size_and_sign_do_not_matter() -> None:
    draws = np.random.default_rng(6).normal(0.3, 1.0, size=20)
    assert p_values([draws, -draws, draws * 1e200]) == [p_values([draws])[0]] * 3


def test_without_a_difference_p_is_uniform() -> None:
    """Of 1,000 tests of nothing, 5 % are expected at p ≤ 5 %, with a standard error of 0.7 %."""
    draws = np.random.default_rng(7).laplace(size=(1_000, 20))
    claimed = sum(p <= 0.05 for p in p_values(list(draws)) if p is not None)
    assert 22 <= claimed <= 78
