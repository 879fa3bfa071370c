"""Distributions fitted to samples: the ones that the families' keys describe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

from scenarios.fitting.setting import Part, Setting, figure

__all__ = ["lag_power", "quantile", "seconds", "sigma_of", "sizes"]

_STANDARD = NormalDist()
_P90 = _STANDARD.inv_cdf(0.9)
_SHORTEST = 0.001
_MOST = 1_000_000_000
_FLAT = 0.25
"""Where the share over a bound is so near to a half that the bound says nothing of the spread, in
standard deviations."""


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which *share* of *values* lies, with a straight line in between."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def sizes(name: str, values: Sequence[int], what: str) -> Part:
    """Return ``NAME.median``, ``.p90`` and ``.cap`` for sizes in tokens; *values* is not empty."""
    median = _whole(quantile(values, 0.5))
    p90 = max(median, _whole(quantile(values, 0.9)))
    why = f"{what}: {_said(values)}. {_agreement(values, median, p90)}"
    cap = max(p90, _whole(max(values)))
    return _three(name, why, median, p90, cap)


def seconds(
    name: str, values: Sequence[float], what: str, bound: float | None = None
) -> tuple[Part, bool]:
    """Return ``NAME.median``, ``.p90`` and ``.cap`` for durations; *values* is not empty.

    With a *bound*, the spread is what gives the recorded share above it, where that says anything;
    the second value is whether it did.
    """
    values = [max(_SHORTEST, value) for value in values]
    median = quantile(values, 0.5)
    p90 = max(median, quantile(values, 0.9))
    bounded = None if bound is None else _through(values, median, bound)
    if bounded is not None:
        p90 = bounded
    cap = min(float(_MOST), max(values))
    said = _said(values)
    if bound is not None:
        over = sum(value > bound for value in values)
        said += f", {over} of {len(values)} above {figure(bound)} s"
    why = f"{what}: {said}. {_agreement(values, median, p90)}"
    if bounded is not None:
        why += " The p90 is the one that gives the share above the bound, not the recorded one."
    return _three(name, why, *(round(v, 3) for v in (median, p90, max(cap, median)))), bool(bounded)


def sigma_of(values: Sequence[float]) -> float:
    """Return the s.d. of the logarithm of a lognormal with the median and p90 of *values*."""
    median = quantile(values, 0.5)
    return max(0.0, math.log(quantile(values, 0.9) / median) / _P90)


def _whole(value: float) -> int:
    return min(_MOST, max(1, round(value)))


def _three(name: str, why: str, *values: float) -> Part:
    keys = ("median", "p90", "cap")
    found = (Setting(f"{name}.{key}", value) for key, value in zip(keys, values, strict=True))
    return Part(why, tuple(found))


def _through(values: Sequence[float], median: float, bound: float) -> float | None:
    """Return the p90 of the lognormal of this *median* with the share of *values* over *bound*."""
    share = sum(value > bound for value in values) / len(values)
    if not 0.0 < share < 1.0 or median == bound:
        return None
    deviations = _STANDARD.inv_cdf(1.0 - share)
    if abs(deviations) < _FLAT:
        return None
    sigma = math.log(bound / median) / deviations
    return median * math.exp(_P90 * sigma) if sigma > 0.0 else None


def _said(values: Sequence[float]) -> str:
    median, p90 = quantile(values, 0.5), quantile(values, 0.9)
    return (
        f"n = {len(values):,}, median {figure(median)}, p90 {figure(p90)}, "
        f"largest {figure(max(values))}"
    )


def _agreement(values: Sequence[float], median: float, p90: float) -> str:
    """Say how far the lognormal through *median* and *p90* is from *values*, and what else fits."""
    if len(values) < 5 or p90 <= median or min(values) <= 0:
        return "A lognormal through median and p90."
    from scipy import stats

    sigma = math.log(p90 / median) / _P90
    distance = stats.kstest(values, stats.lognorm(sigma, scale=median).cdf).statistic
    likeliest, _, _ = stats.lognorm.fit(values, floc=0)
    return (
        f"A lognormal through median and p90, sigma {sigma:.2f} (maximum likelihood: "
        f"{likeliest:.2f}); largest distance of the distributions {distance:.2f}."
    )


def lag_power(lags: Mapping[tuple[int, int], int], nearest: int) -> float | None:
    """Return the likeliest power of Pareto lags, None if too few differ.

    *lags* counts pairs of a lag of at least *nearest* and the turn it was found in, which no lag
    reaches: the share beyond k turns is (*nearest* ÷ k) to the power, cut at the session's start.
    """
    usable = {pair: count for pair, count in lags.items() if nearest <= pair[0] < pair[1]}
    if len({lag for lag, _ in usable}) < 2:
        return None
    from scipy.optimize import minimize_scalar

    def unlikelihood(power: float) -> float:
        total = 0.0
        for (lag, turn), count in usable.items():
            share = (nearest / lag) ** power - (nearest / (lag + 1)) ** power
            total -= count * math.log(share / (1.0 - (nearest / turn) ** power))
        return total

    found = minimize_scalar(unlikelihood, bounds=(0.05, 10.0), method="bounded")
    return float(f"{found.x:.3g}")
