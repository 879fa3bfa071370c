"""What chance does: how large the largest of many differences would be if it were all there is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FLIPS", "chances"]

FLIPS = 9_999
"""Random swaps behind every chance, besides the pairs as they are."""

_AT_ONCE = 2_000_000
"""Numbers of a table of swaps that is held at once."""

_ROUNDING = 1e-9
"""A statistic that is short of another by this share of it is as large."""


def chances(differences: Sequence[Mapping[str, float]]) -> list[float]:
    """Return for each of *differences*, by unit, how often chance makes any of them as clear.

    The two runs of a unit may change places, in all differences at once: if they differ by chance
    alone, what comes of it is as likely as what was found. A difference is as clear as the size of
    its sum over the root of its sum of squares, which no swap changes. Its chance is the share of
    swaps in which the clearest of all differences is at least that clear, the pairs as they are
    among them: it counts for all differences together, whatever they have to do with each other
    (Westfall and Young 1993, single step; Phipson and Smyth 2010 for the one that is added).
    Equal differences meet equal swaps, and others other ones: with the same for all, what they
    happen to be would be a part of every chance.
    """
    import numpy as np

    from sim.streams import generator

    if not differences:
        return []
    places = {unit: at for at, unit in enumerate(sorted({u for each in differences for u in each}))}
    table = np.zeros((len(places), len(differences)))
    for column, each in enumerate(differences):
        for unit, value in each.items():
            table[places[unit], column] = value
    swaps = generator(0, "diff", "swaps", hashlib.sha256(table.tobytes()).hexdigest())
    table /= np.abs(table).max(axis=0)
    table /= np.sqrt((table**2).sum(axis=0))
    clear = np.abs(table.sum(axis=0)) * (1.0 - _ROUNDING)
    largest = np.sort(_largest(table, swaps))
    as_clear = 1 + FLIPS - np.searchsorted(largest, clear)
    return [float(chance) for chance in as_clear / (FLIPS + 1)]


def _largest(table: NDArray[Any], swaps: np.random.Generator) -> NDArray[Any]:
    """Return how clear the clearest difference of *table* is under each of the *swaps*."""
    import numpy as np

    largest = np.empty(FLIPS)
    step = max(1, _AT_ONCE // max(table.shape))
    for start in range(0, FLIPS, step):
        some = largest[start : start + step]
        swapped = swaps.integers(0, 2, size=(len(some), len(table)), dtype=np.int8)
        some[:] = np.abs((2.0 * swapped - 1.0) @ table).max(axis=1)
    return largest
