"""Designs: every combination of a grid, and points that are spread."""

from __future__ import annotations

import pytest

from bench.sweep.axes import axes
from bench.sweep.designs import points
from scenarios import reference
from sim.errors import InputError

KEYS = reference.every_key()


def made(design, count, *texts):
    return points(axes(texts, KEYS, {}), design, count)


def test_a_grid_is_every_combination_the_last_key_first():
    assert made("grid", None, "reader=strict,measured", "turns=1:3:3") == [
        *(("strict", 1), ("strict", 2), ("strict", 3)),
        *(("measured", 1), ("measured", 2), ("measured", 3)),
    ]


@pytest.mark.parametrize("design", ["sobol", "lhs"])
def test_points_are_the_same_each_time_and_in_their_ranges(design):
    texts = ("salience.decay=0.5:0.9", "turns=10:20", "reader=strict,measured")
    found = made(design, 64, *texts)
    assert found == made(design, 64, *texts) and len(found) == len(set(found)) == 64
    for decay, turns, reader in found:
        assert 0.5 <= decay <= 0.9 and turns in range(10, 21) and reader in ("strict", "measured")


def test_a_latin_hypercube_has_one_point_in_each_slice_of_each_key():
    found = made("lhs", 40, "salience.decay=0:0.8", "rehydrate.threshold=0:0.8")
    for axis in range(2):
        assert sorted(int(point[axis] / 0.8 * 40) for point in found) == list(range(40))


def test_sobol_points_are_balanced_in_every_quarter():
    """Of 2^k points of a (0, m, 2)-net, each elementary quarter of the square has a fourth."""
    found = made("sobol", 64, "salience.decay=0:0.8", "rehydrate.threshold=0:0.8")
    quarters = [(a >= 0.4, b >= 0.4) for a, b in found]
    assert {quarter: quarters.count(quarter) for quarter in quarters} == {
        (False, False): 16,
        (False, True): 16,
        (True, False): 16,
        (True, True): 16,
    }


def test_a_longer_sobol_design_begins_with_a_shorter_one():
    texts = ("salience.decay=0.5:0.9", "rehydrate.threshold=0:0.8")
    assert made("sobol", 20, *texts) == made("sobol", 50, *texts)[:20]


def test_the_number_of_points_is_the_count_the_ranges_agree_on():
    assert len(made("lhs", None, "salience.decay=0.5:0.9:12", "reader=strict,measured")) == 12
    with pytest.raises(InputError, match="disagree"):
        made("lhs", None, "salience.decay=0.5:0.9:12", "rehydrate.threshold=0:0.8:13")
    with pytest.raises(InputError, match="how many points"):
        made("sobol", None, "salience.decay=0.5:0.9")
    with pytest.raises(InputError, match="--points goes with"):
        made("grid", 5, "salience.decay=0.5:0.9:3")


def test_points_that_fall_together_are_one():
    assert len(made("lhs", 50, "turns=1:3")) == 3


def test_a_sweep_has_an_end():
    with pytest.raises(InputError, match="more than a sweep can have"):
        made("grid", None, "salience.decay=0:0.9:1001", "rehydrate.threshold=0:0.9:1000")
    with pytest.raises(InputError, match="more than a sweep can have"):
        made("grid", None, f"salience.decay=0:0.9:{10**15}")
