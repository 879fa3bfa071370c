"""Means with their BCa bootstrap intervals, and paired differences of means."""

from __future__ import annotations

from math import fsum, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bench.statistics.resamples import RESAMPLES, resamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Sample: TypeAlias = NDArray[Any]
else:
    Sample: TypeAlias = Any

__all__ = ["LEVEL", "Estimate", "Sample", "difference", "estimate", "mean", "median"]

LEVEL = 0.95
"""Share of cases in which an interval is meant to hold the true mean."""

_ROUNDING = 1e-12
"""What is smaller than this share of the values' size is a trace of rounding."""

_NORMAL = NormalDist()


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

    @property
    def half_width(self) -> float | None:
        """Half of what lies between the ends of the interval, None if there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2.0


def estimate(sample: Sample) -> Estimate:
    """Return the mean of *sample* without its NaNs, and the BCa interval of that mean.

    Source: B. Efron, Better Bootstrap Confidence Intervals, JASA 82 (1987), 171–185. Resamples
    whose mean is that of the sample count half for the bias correction; the acceleration is that
    of the jackknife, which for a mean is a closed form. Equal values have that value as their
    interval, exactly.
    """
    import numpy as np

    values = sample[~np.isnan(sample)]
    n = len(values)
    if n == 0:
        return Estimate(None, None, None, 0)
    least, most = float(values.min()), float(values.max())
    if least == most:
        return Estimate(least, least, least, n) if n > 1 else Estimate(least, None, None, 1)
    middle = mean(values)
    slack = _ROUNDING * max(abs(least), abs(most))
    low, high = (middle + end for end in _bca(values - middle))
    return Estimate(middle, 0.0 if abs(low) < slack else low, 0.0 if abs(high) < slack else high, n)


def difference(sample: Sample, other: Sample) -> Estimate:
    """Return the estimate of *sample* − *other*, paired seed by seed, where both have a value."""
    return estimate(sample - other)


def mean(values: Sample) -> float:
    """Return the mean of *values*, of which there is at least one and no NaN."""
    return fsum(values) / len(values)


def median(sample: Sample) -> float | None:
    """Return the median of *sample* without its NaNs, None if nothing is left."""
    import numpy as np

    values = sample[~np.isnan(sample)]
    return float(np.median(values)) if len(values) else None


def _bca(apart: Sample) -> tuple[float, float]:
    """Return the ends of the interval of the mean of values, less that mean.

    *apart* are the values less their mean, not all alike. Resampled means lie on both sides of
    zero, and the acceleration of a mean is at most 1/6 either way, so that every step is defined.
    """
    import numpy as np

    size = float(np.abs(apart).max())
    scaled = apart / size
    means = np.sort(resamples(len(apart)) @ scaled / len(apart))
    below, up_to = np.searchsorted(means, (-_ROUNDING, _ROUNDING))
    bias = _NORMAL.inv_cdf((float(below) + float(up_to)) / (2.0 * RESAMPLES))
    squares = float(scaled @ scaled)
    acceleration = float(scaled**2 @ scaled) / (6.0 * squares * sqrt(squares))

    def bound(share: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(share)
        corrected = _NORMAL.cdf(bias + shifted / (1.0 - acceleration * shifted))
        return size * _quantile(means, corrected)

    tail = (1.0 - LEVEL) / 2.0
    return bound(tail), bound(1.0 - tail)


def _quantile(ordered: Sample, share: float) -> float:
    """Return the quantile of *ordered* values, linear between two of them."""
    place = share * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 2)
    low, high = float(ordered[below]), float(ordered[below + 1])
    return low + (high - low) * (place - below)
