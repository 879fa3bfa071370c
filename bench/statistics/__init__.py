"""Statistics of samples: intervals, ranks and tests; no names of policies or metrics in here.

A sample is a float array with one value a seed, NaN where there is none. docs/statistics.md says
what each figure is and how well it holds.
"""

from bench.statistics.discovery import q_values
from bench.statistics.intervals import LEVEL, Estimate, Sample, difference, estimate, median
from bench.statistics.permutation import FEWEST, p_values
from bench.statistics.ranking import best, ranks
from bench.statistics.resamples import RESAMPLES
from bench.statistics.zero import zero_limit

__all__ = [
    "FEWEST",
    "LEVEL",
    "RESAMPLES",
    "Estimate",
    "Sample",
    "best",
    "difference",
    "estimate",
    "median",
    "p_values",
    "q_values",
    "ranks",
    "zero_limit",
]
