"""How large a rate may still be that was zero in every run."""

from __future__ import annotations

from bench.statistics.intervals import LEVEL

__all__ = ["zero_limit"]


def zero_limit(n: int) -> float | None:
    """Return the exact one-sided upper limit of the mean of a rate in [0, 1] that was 0 *n* times.

    It is 1 − 0.05^(1/n): were the mean larger, *n* independent runs would all have been zero with
    a probability below 5 %. A run is zero with a probability of at most 1 less the mean, whatever
    the distribution, and exactly that if the rate is 0 or 1 (C. J. Clopper and E. S. Pearson,
    Biometrika 26 (1934), 404–413). None for no run.
    """
    return 1.0 - (1.0 - LEVEL) ** (1.0 / n) if n else None
