"""Paired permutation tests: how likely differences at least as large are if signs mean nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bench.statistics.intervals import Sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EXACT", "FEWEST", "FLIPS", "p_values"]

EXACT = 13
"""Differences other than zero up to which every assignment of signs is counted."""

FEWEST = 6
"""Pairs below which no difference is significant at 5 %: of five, 2 of 2**5 assignments are as far
from zero as any can be."""

FLIPS = 9_999
"""Random assignments of signs behind a p-value where there are more differences."""

_ROUNDING = 1e-12
"""Sums closer than this share of what they sum are the same sum."""


def p_values(differences: Sequence[Sample]) -> list[float | None]:
    """Return the two-sided p-value of each sample of paired *differences*: that their mean is zero.

    If policies are alike, a seed's difference could as well have the other sign. The p-value is
    the share of all assignments of signs under which the sum is at least as far from zero as it
    is. Up to :data:`EXACT` differences that are not zero it is exact; else :data:`FLIPS` random
    assignments, the same for all samples of one size, stand for all, and the one observed counts
    among them, so that no p-value is zero (B. Phipson and G. K. Smyth, Permutation P-values Should
    Never Be Zero, Stat. Appl. Genet. Mol. Biol. 9 (2010), 39). NaN stands for a pair that is
    missing; below two pairs the answer is None. The samples have the same size.
    """
    import numpy as np

    found: list[float | None] = [None] * len(differences)
    sampled: dict[int, Sample] = {}
    for index, sample in enumerate(differences):
        if np.count_nonzero(~np.isnan(sample)) < 2:
            continue
        filled = np.where(np.isnan(sample), 0.0, sample)
        moved = filled[filled != 0.0]
        if len(moved) == 0:
            found[index] = 1.0
            continue
        scaled = np.abs(moved).max()
        if len(moved) <= EXACT:
            found[index] = float(_as_far(_all_signs(len(moved)), moved / scaled)) / 2 ** len(moved)
        else:
            sampled[index] = filled / scaled
    if sampled:
        columns = np.stack(list(sampled.values()), axis=1)
        far = _as_far(_random_signs(len(columns)), columns)
        for index, count in zip(sampled, far, strict=True):
            found[index] = (1.0 + float(count)) / (1.0 + FLIPS)
    return found


def _as_far(signs: NDArray[Any], values: NDArray[Any]) -> Any:
    """Return how many rows of *signs* take the sum of *values* as far from zero as it is."""
    import numpy as np

    least = np.abs(values.sum(axis=0)) - _ROUNDING * np.abs(values).sum(axis=0)
    return np.count_nonzero(np.abs(signs @ values) >= least, axis=0)


@lru_cache(maxsize=EXACT)
def _all_signs(n: int) -> NDArray[Any]:
    """Return every assignment of signs to *n* values, one a row."""
    import numpy as np

    bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
    return 1.0 - 2.0 * bits


@lru_cache(maxsize=4)
def _random_signs(n: int) -> NDArray[Any]:
    """Return the shared random assignments of signs to *n* values, one a row."""
    from sim.streams import generator

    drawn = generator(0, "permutation", "signs", n).integers(0, 2, size=(FLIPS, n))
    return 1.0 - 2.0 * drawn
