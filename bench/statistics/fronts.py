"""Pareto fronts of means, and how surely a candidate is on one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.statistics.resamples import resamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["front", "front_shares"]

_ROUNDING = 1e-12
"""Values closer than this share of the largest of their kind are the same."""


def front(points: NDArray[Any]) -> NDArray[Any]:
    """Return which *points* no other dominates; less is better in every coordinate.

    A point dominates another if it is nowhere worse and somewhere better: equal points stand on
    the front together. *points* has the shape (…, candidates, coordinates), the answer
    (…, candidates).
    """
    import numpy as np

    slack = _ROUNDING * np.abs(points).max(axis=tuple(range(points.ndim - 1)), initial=0.0)
    gap = points[..., :, None, :] - points[..., None, :, :]
    dominated = (gap >= -slack).all(axis=-1) & (gap > slack).any(axis=-1)
    return ~dominated.any(axis=-1)


def front_shares(values: NDArray[Any]) -> NDArray[Any]:
    """Return in which share of paired resamples each candidate's mean is on the front.

    *values* has the shape (candidates, seeds, coordinates), without NaN: a resample draws the same
    seeds for all. Equal candidates are on it together, so that shares may sum to more than 1.
    """
    import numpy as np

    n = values.shape[1]
    means = np.einsum("bs,csk->bck", resamples(n), values, optimize=True) / n
    return front(means).mean(axis=0)
