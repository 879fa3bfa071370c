"""Distributions fitted to samples: the ones that the families' keys describe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from scenarios.fitting.setting import Part, Setting, figure

__all__ = ["Lags", "lags", "quantile", "seconds", "sigma_of", "sizes"]

_STANDARD = NormalDist()
_P90 = _STANDARD.inv_cdf(0.9)
_SHORTEST = 0.001
_MOST = 1_000_000_000
_POWERS = tuple(round(0.05 * 1.2**step, 3) for step in range(27))
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


def seconds(name: str, values: Sequence[float], what: str, bound: float | None = None) -> Part:
    """Return ``NAME.median``, ``.p90`` and ``.cap`` for durations; *values* is not empty.

    With a *bound*, the spread is what gives the recorded share above it, where that says anything.
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
    return _three(name, why, *(round(v, 3) for v in (median, p90, max(cap, median))))


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
        f"{likeliest:.2f}); Kolmogorov-Smirnov distance {distance:.2f}."
    )


@dataclass(frozen=True, slots=True)
class Lags:
    """Pareto lags, cut at a session's start: of those asked for in a turn, the share beyond k turns
    is (*nearest* ÷ k) to the *power*, and those that reach behind the first turn ask nothing.

    *rate* is how many a turn must be asked for, so that as many are left as were recorded;
    *distance* the Kolmogorov-Smirnov distance to the recorded lags.
    """

    nearest: int
    power: float
    rate: float
    distance: float


def lags(
    found: Sequence[int], turns: int, asked: float, nearest: range, most: float = math.inf
) -> Lags | None:
    """Return the Pareto lags, their least one in *nearest*, that are distributed most like *found*.

    A session of so many *turns* is to have *asked* of them. None if all of *found* are equal, or
    where *most* a turn are too few.
    """
    import numpy as np

    if len(set(found)) < 2:
        return None
    steps, counts = np.unique(np.array(found), return_counts=True)
    recorded = counts.cumsum() / len(found)
    best: Lags | None = None
    for least in nearest:
        behind = np.arange(least + 1, turns + 1)
        for power in _POWERS:
            reach = 1.0 - (least / behind) ** power
            room = float(reach.sum())
            if not room or asked / room > most:
                continue
            upto = 1.0 - (least / np.maximum(least, steps + 1)) ** power
            made = np.minimum(upto[:, None], reach[None, :]).sum(axis=1) / room
            distance = float(np.abs(made - recorded).max())
            if best is None or distance < best.distance - 1e-9:
                best = Lags(least, power, asked / room, distance)
    return best
