"""Designs: which settings a sweep tries, given its axes.

A grid tries every combination. Sobol and Latin hypercube designs (``scipy.stats.qmc``) spread a
number of points over all axes at once, which goes further with more than two or three of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from sim.errors import InputError

if TYPE_CHECKING:
    from bench.sweep.axes import Axis

__all__ = ["DESIGNS", "MOST", "points"]

DESIGNS = ("grid", "sobol", "lhs")

MOST = 1_000_000
"""Settings that a sweep may have."""


def points(axes: Sequence[Axis], design: str, count: int | None) -> list[tuple[Any, ...]]:
    """Return the settings of *design*, each with a value for every one of *axes*, none twice.

    *count* is how many points a design that spreads them has; without it, the count that the
    ranges of *axes* agree on. Raises InputError where there is none, and for a count of a grid.
    """
    if design == "grid":
        if count is not None:
            raise InputError("--points goes with --design sobol and lhs; a grid has its own number")
        _check(prod(axis.size or 1 for axis in axes))
        return list(product(*(axis.steps() for axis in axes)))
    count = _agreed(axes) if count is None else count
    _check(count)
    return list(dict.fromkeys(_spread(axes, design, count)))


def _check(size: int) -> None:
    if size > MOST:
        raise InputError(f"{size:,} settings are more than a sweep can have, {MOST:,}")


def _agreed(axes: Sequence[Axis]) -> int:
    counts = {axis.count for axis in axes if not axis.values and axis.count is not None}
    if len(counts) == 1:
        return counts.pop()
    if counts:
        told = " and ".join(f"{count:,}" for count in sorted(counts))
        raise InputError(f"the ranges of --vary disagree on the number of points, {told}: --points")
    raise InputError("how many points? Give --points N, or COUNT in a range of --vary")


def _spread(axes: Sequence[Axis], design: str, count: int) -> list[tuple[Any, ...]]:
    from scipy.stats import qmc

    from sim.streams import generator

    rng = generator(0, "sweep", design, *(axis.key for axis in axes))
    if design == "sobol":
        # Drawn from the next power of two, whose points are balanced, and cut: a prefix of the
        # sequence is itself well spread, and scipy warns of nothing that the user could change.
        drawn = qmc.Sobol(len(axes), rng=rng).random_base2((count - 1).bit_length())[:count]
    else:
        drawn = qmc.LatinHypercube(len(axes), rng=rng).random(count)
    return [
        tuple(axis.at(float(share)) for axis, share in zip(axes, shares, strict=True))
        for shares in drawn
    ]
