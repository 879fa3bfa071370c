"""What a uniform draw becomes: a lognormal size, a count, a lag, a place between two bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

__all__ = ["Lognormal", "count", "geometric", "pareto_lag", "spread"]

_SMALLEST = 2.0**-53
_STANDARD = NormalDist()
_FARTHEST = 1 << 62


class Lognormal:
    """A lognormal of median exp(*mu*) whose logarithm has the s.d. *sigma*, cut at *cap*."""

    __slots__ = ("_cap", "_log_cap", "_mu", "_sigma")

    def __init__(self, mu: float, sigma: float, cap: float) -> None:
        self._mu = mu
        self._sigma = sigma
        self._cap = cap
        self._log_cap = math.log(cap)

    @classmethod
    def of(cls, settings: Mapping[str, Any], name: str) -> Lognormal:
        """Read ``NAME.median``, ``NAME.p90`` (90 % lie below) and ``NAME.cap``."""
        median, p90 = settings[f"{name}.median"], settings[f"{name}.p90"]
        sigma = max(0.0, math.log(p90 / median) / _STANDARD.inv_cdf(0.9))
        return cls(math.log(median), sigma, settings[f"{name}.cap"])

    def at(self, draw: float) -> float:
        """Return the value below which the share *draw* of all values lies."""
        log = self._mu + self._sigma * _STANDARD.inv_cdf(max(draw, _SMALLEST))
        return self._cap if log >= self._log_cap else math.exp(log)

    def tokens(self, draw: float) -> int:
        """Return a size in whole tokens, at least 1."""
        return max(1, round(self.at(draw)))

    def seconds(self, draw: float) -> float:
        """Return a duration in seconds, to the millisecond."""
        return round(self.at(draw), 3)


def count(rate: float, draw: float) -> int:
    """Return the whole number next to *rate* whose mean over the draws is *rate*."""
    return math.floor(rate + draw)


def geometric(mean: float, draw: float) -> int:
    """Return a whole number from 1 that is geometric with this *mean*."""
    if mean <= 1.0:
        return 1
    return 1 + math.floor(math.log(max(1.0 - draw, _SMALLEST)) / math.log1p(-1.0 / mean))


def pareto_lag(minimum: int, alpha: float, draw: float) -> int:
    """Return a lag of at least *minimum*; the share beyond k is (minimum ÷ k) to the *alpha*."""
    exponent = -math.log(max(1.0 - draw, _SMALLEST)) / alpha
    return _FARTHEST if exponent > 40.0 else math.floor(minimum * math.exp(exponent))


def spread(low: float, high: float, draw: float) -> float:
    """Return the place of *draw* between *low* and *high*, to three digits."""
    return round(low + (high - low) * draw, 3)
