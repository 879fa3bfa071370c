from __future__ import annotations

import pytest

from bench.statistics.zero import zero_limit


@pytest.mark.parametrize("n", [1, 2, 30, 100, 10_000])
def test_it_is_the_limit_of_clopper_and_pearson(n: int) -> None:
    """The upper limit of 0 successes of n is the 95 % quantile of Beta(1, n)."""
    from scipy.stats import beta

    assert zero_limit(n) == pytest.approx(beta.ppf(0.95, 1, n), rel=1e-9)


def test_by_hand() -> None:
    """With 3/n, the rule of three, it is off by little: 9.5 % for 30 runs, 0.95 for one."""
    assert zero_limit(30) == pytest.approx(0.0950, abs=5e-5)
    assert zero_limit(1) == pytest.approx(0.95)
    assert zero_limit(0) is None
