"""Means, bootstrap intervals and ranks of samples; no names of policies or metrics in here.

A sample is a float array with one value a seed, NaN where there is none. Every sample of one size
is resampled by the same matrix, so that intervals of different metrics, and of paired differences,
move together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sample = NDArray[Any]

__all__ = ["LEVEL", "RESAMPLES", "Estimate", "difference", "estimate", "median", "ranks"]

RESAMPLES = 2_000
"""Resamples behind every interval."""

LEVEL = 0.95
"""Share of resampled means that an interval holds."""

_ROUNDING = 1e-12
"""A bound of an interval closer to zero than this share of the values' size is zero."""


class Estimate(NamedTuple):
    """A mean with its interval; *low* and *high* are None below two values, all of it at none."""

    mean: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def holds_zero(self) -> bool:
        """Whether no difference from zero can be claimed."""
        return self.low is None or self.high is None or self.low <= 0.0 <= self.high


def estimate(sample: Sample) -> Estimate:
    """Return the mean of *sample* without its NaNs and the percentile interval of that mean.

    Equal values have that value as their interval, exactly.
    """
    import numpy as np

    values = sample[~np.isnan(sample)]
    n = len(values)
    if n == 0:
        return Estimate(None, None, None, 0)
    low, high = float(values.min()), float(values.max())
    if low == high:
        return Estimate(low, low, low, n) if n > 1 else Estimate(low, None, None, 1)
    tail = (1.0 - LEVEL) / 2.0
    bounds = np.quantile(_counts(n) @ values / n, (tail, 1.0 - tail))
    bounds[np.abs(bounds) < _ROUNDING * max(abs(low), abs(high))] = 0.0
    return Estimate(_mean(values), float(bounds[0]), float(bounds[1]), n)


def difference(sample: Sample, other: Sample) -> Estimate:
    """Return the estimate of *sample* − *other*, paired seed by seed, where both have a value."""
    return estimate(sample - other)


def median(sample: Sample) -> float | None:
    """Return the median of *sample* without its NaNs, None if nothing is left."""
    import numpy as np

    values = sample[~np.isnan(sample)]
    return float(np.median(values)) if len(values) else None


def ranks(samples: Sequence[Sample], better: str | None) -> list[int | None]:
    """Return the place of each sample, from 1; *better* is ``less``, ``more`` or None.

    The samples stand in the order of their means; each shares the leader's place while its paired
    interval to the leader holds zero, the first that does not is the next leader, and its place is
    one more than the number of samples in front of it. Where values are missing, the order is that
    of the means over the seeds two samples have in common: the leader loses to the fewest others.
    A sample of fewer than two values has no place, and nothing has one if *better* is None.
    """
    places: list[int | None] = [None] * len(samples)
    if better is None:
        return places
    losses = [sample if better == "less" else -sample for sample in samples]
    order = _order(losses)
    leader = None
    for position, index in enumerate(order):
        if leader is None or not _shares(losses[index], losses[leader]):
            leader, place = index, position + 1
        places[index] = place
    return places


def _order(losses: Sequence[Sample]) -> list[int]:
    import numpy as np

    values = [loss[~np.isnan(loss)] for loss in losses]
    able = [index for index, kept in enumerate(values) if len(kept) > 1]
    whole = all(len(values[index]) == len(losses[index]) for index in able)
    means = {index: _mean(values[index]) for index in able}

    def beaten(index: int) -> int:
        if whole:
            return 0
        apart = (losses[index] - losses[other] for other in able if other != index)
        return sum(np.nansum(gap) > 0.0 for gap in apart)

    return sorted(able, key=lambda index: (beaten(index), means[index], index))


def _shares(loss: Sample, leader: Sample) -> bool:
    low = difference(loss, leader).low
    return low is None or low <= 0.0


def _mean(values: Sample) -> float:
    return fsum(values) / len(values)


@lru_cache(maxsize=32)
def _counts(n: int) -> Sample:
    """Return the shared resamples of *n* values: how often each of them holds each value."""
    import numpy as np

    from sim.streams import generator

    drawn = generator(0, "bootstrap", "resamples", n).integers(0, n, size=(RESAMPLES, n))
    cells = drawn + n * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(cells.ravel(), minlength=RESAMPLES * n)
    return counts.reshape(RESAMPLES, n).astype(float)
