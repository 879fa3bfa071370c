"""Statistics of samples: intervals, ranks and tests; no names of policies or metrics in here.

A sample is a float array with one value a seed, NaN where there is none. docs/statistics.md says
what each figure is and how well it holds.
"""

from bench.statistics.intervals import LEVEL, Estimate, Sample, difference, estimate, median
from bench.statistics.ranking import best, ranks
from bench.statistics.resamples import RESAMPLES

__all__ = [
    "LEVEL",
    "RESAMPLES",
    "Estimate",
    "Sample",
    "best",
    "difference",
    "estimate",
    "median",
    "ranks",
]
