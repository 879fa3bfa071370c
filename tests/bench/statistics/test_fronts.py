from __future__ import annotations

import numpy as np
import pytest

from bench.statistics.fronts import front, front_shares
from bench.statistics.resamples import resamples


def test_by_hand() -> None:
    """(2, 2) is beaten by (1, 2), (3, 3) by both; (1, 2) and (2, 1) each win somewhere."""
    points = np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    assert front(points).tolist() == [True, True, False, False]


def test_equal_points_stand_on_it_together() -> None:
    """0.1 + 0.2 is not 0.3 in floats, and no point beats another by that."""
    assert front(np.array([[0.1 + 0.2, 1.0], [0.3, 1.0]])).tolist() == [True, True]
    assert front(np.array([[0.0, 0.0]])).tolist() == [True]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_naive_one(seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 4, size=(12, 3)).astype(float)

    def beats(one: np.ndarray, other: np.ndarray) -> bool:
        pairs = list(zip(one.tolist(), other.tolist(), strict=True))
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    expected = [not any(beats(other, point) for other in points) for point in points]
    assert front(points).tolist() == expected


def test_several_sets_at_once() -> None:
    sets = np.random.default_rng(9).normal(size=(7, 5, 3))
    assert front(sets).tolist() == [front(each).tolist() for each in sets]


def test_shares_are_of_paired_resamples() -> None:
    """One coordinate: on the front is who has the least mean. b is 1 above a on one seed of four
    and 1 below on another: it leads where the first is drawn less often, shares where as often."""
    a = np.zeros(4)
    b = np.array([1.0, -1.0, 0.0, 0.0])
    worse = np.full(4, 5.0)
    shares = front_shares(np.stack([a, b, worse])[:, :, None])
    drawn = resamples(4)
    sums = drawn[:, 0] - drawn[:, 1]
    assert shares.tolist() == [np.mean(sums >= 0), np.mean(sums <= 0), 0.0]


def test_who_is_best_on_every_seed_is_always_on_it() -> None:
    values = np.random.default_rng(2).uniform(1.0, 2.0, size=(3, 20, 3))
    values[1] = values[0] - 1.0
    values[2] = values[1]
    assert front_shares(values).tolist() == [0.0, 1.0, 1.0]
