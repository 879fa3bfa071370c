"""The resamples behind every interval: one matrix for all samples of one size.

Intervals of different metrics, and of paired differences, so move together, and an interval costs
one product of a matrix and a vector.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RESAMPLES", "resamples"]

RESAMPLES = 2_000
"""Resamples behind every interval."""


@lru_cache(maxsize=32)
def resamples(n: int) -> NDArray[Any]:
    """Return the shared resamples of *n* values: how often each of them holds each value.

    The shape is (:data:`RESAMPLES`, *n*); every row sums to *n*.
    """
    import numpy as np

    from sim.streams import generator

    drawn = generator(0, "bootstrap", "resamples", n).integers(0, n, size=(RESAMPLES, n))
    cells = drawn + n * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(cells.ravel(), minlength=RESAMPLES * n)
    return counts.reshape(RESAMPLES, n).astype(float)
