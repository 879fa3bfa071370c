from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bench.diff.chance import FLIPS, chances


def units(*values: float) -> dict[str, float]:
    return {f"seed {at}": value for at, value in enumerate(values)}


def test_nothing_has_no_chances() -> None:
    assert chances([]) == []


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_eight_that_agree_are_as_clear_in_2_of_256_swaps(size: float) -> None:
    """Only all signs alike, or all turned, make a sum as large."""
    (chance,) = chances([units(*[size] * 8)])
    # 10,000 draws of 1/128: a standard deviation is 0.0009.
    assert chance == pytest.approx(2 / 256, abs=0.004)


def test_it_is_the_exact_test_of_the_clearest_of_all() -> None:
    """Against every one of the 2 ** 9 swaps, of differences that share their units."""
    rng = np.random.default_rng(5)
    made = rng.normal(0.5, 1.0, size=(9, 4))
    made[2, 1] = made[5, 1] = 0.0
    signs = np.array(list(product((-1.0, 1.0), repeat=9)))
    roots = np.sqrt((made**2).sum(axis=0))
    largest = (np.abs(signs @ made) / roots).max(axis=1)
    exact = [(largest >= each - 1e-12).mean() for each in np.abs(made.sum(axis=0)) / roots]
    found = chances([units(*made[:, column]) for column in range(4)])
    assert found == pytest.approx(exact, abs=4 * 0.5 / np.sqrt(FLIPS))


def test_more_differences_make_each_less_sure() -> None:
    rng = np.random.default_rng(1)
    clear = units(*rng.normal(1.0, 1.5, size=20))
    others = [units(*rng.normal(0.0, 1.0, size=20)) for _ in range(30)]
    (alone,), (among, *_) = chances([clear]), chances([clear, *others])
    assert alone < among


def test_the_same_difference_many_times_counts_once() -> None:
    clear = units(*np.random.default_rng(2).normal(0.6, 1.0, size=12))
    many = chances([clear] * 50)
    assert len(set(many)) == 1
    assert many[0] == pytest.approx(chances([clear])[0], abs=4 * 0.5 / np.sqrt(FLIPS))


def test_equal_differences_have_equal_chances() -> None:
    made = [units(*np.random.default_rng(3).normal(0.4, 1.0, size=12)) for _ in range(2)]
    turned = [dict(reversed(each.items())) for each in made]
    assert chances(made) == chances(turned)


def test_units_that_a_difference_lacks_do_not_count_in_it() -> None:
    whole, part = units(*[1.0] * 12), {f"seed {at}": 2.0 for at in range(3)}
    first, second = chances([whole, part])
    assert first < 0.01
    assert second > 0.2
