"""How often the interval of a mean holds the true mean: ``python -m bench.coverage``.

Draws samples of distributions whose mean is known, and writes into docs/statistics.md the share of
them whose interval holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, sqrt
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import click

from bench.output import markdown
from bench.pages import put_figures
from bench.precision import MOST, looks
from bench.results import write_text
from bench.statistics import LEVEL, estimate, zero_limit
from bench.tables.parts import Column, Line, Table
from sim.streams import generator

if TYPE_CHECKING:
    import numpy as np

    from bench.statistics import Sample

__all__ = [
    "DISTRIBUTIONS",
    "HALF_WIDTHS",
    "PAGE",
    "SIZES",
    "Coverage",
    "Distribution",
    "Stopped",
    "coverage",
    "main",
    "stopped",
]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "statistics.md"

SIZES = (20, 30, 100)
"""Numbers of seeds."""


class Distribution(NamedTuple):
    """What samples are drawn of, how, and its true *mean*."""

    says: str
    mean: float
    draw: Callable[[np.random.Generator, int], Sample]


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "normal": Distribution("normal", 0.0, lambda draws, n: draws.normal(size=n)),
    "exponential": Distribution("exponential", 1.0, lambda draws, n: draws.exponential(size=n)),
    "lognormal": Distribution(
        "lognormal, s.d. 1 of the logarithm", exp(0.5), lambda draws, n: draws.lognormal(size=n)
    ),
    "event": Distribution(
        "an event in 5 % of runs", 0.05, lambda draws, n: (draws.random(n) < 0.05).astype(float)
    ),
}
"""What is drawn, by the name of its random stream."""


HALF_WIDTHS: Mapping[str, float] = {"normal": 0.25, "exponential": 0.25, "lognormal": 0.5}
"""Half-widths to stop at, by what is drawn: most stop at 45 to 102 values."""


class Coverage(NamedTuple):
    """Shares of samples whose interval holds the true mean: of the interval as it is, and with the
    exact limit for its upper end where a sample is all zero."""

    interval: float
    with_limit: float


def coverage(name: str, n: int, repetitions: int) -> Coverage:
    """Return how often the interval holds the mean of the distribution *name*.

    Of *repetitions* samples of *n* values each, from the stream of that name and size.
    """
    drawn = DISTRIBUTIONS[name]
    draws = generator(0, "coverage", name, n)
    held = limited = 0
    for _ in range(repetitions):
        found = estimate(drawn.draw(draws, n))
        held += _holds(found.low, found.high, drawn.mean)
        high = zero_limit(n) if found.low == found.high == 0.0 else found.high
        limited += _holds(found.low, high, drawn.mean)
    return Coverage(held / repetitions, limited / repetitions)


def _holds(low: float | None, high: float | None, mean: float) -> bool:
    return low is not None and high is not None and low <= mean <= high


class Stopped(NamedTuple):
    """Samples that grew until their interval was narrow: the share of intervals that hold the mean,
    and the median of the numbers of values at the stop."""

    interval: float
    seeds: float


def stopped(name: str, half_width: float, repetitions: int) -> Stopped:
    """Return how often the interval holds the mean if it is looked at as `--until-ci` does.

    A sample stops at the first look at which its interval is at most *half_width* to either side,
    or at the last.
    """
    drawn = DISTRIBUTIONS[name]
    draws = generator(0, "coverage", name, "stopped")
    held, sizes = 0, []
    for _ in range(repetitions):
        values = drawn.draw(draws, MOST)
        for seeds in looks(MOST):
            found = estimate(values[:seeds])
            if found.half_width is not None and found.half_width <= half_width:
                break
        held += _holds(found.low, found.high, drawn.mean)
        sizes.append(seeds)
    return Stopped(held / repetitions, median(sizes))


def table(repetitions: int) -> Table:
    """Return the table of all distributions and sizes, in percent."""
    rows = []
    for name, drawn in DISTRIBUTIONS.items():
        found = [coverage(name, n, repetitions) for n in SIZES]
        rows.append(Line((drawn.says, *(f"{100 * each.interval:.1f}" for each in found))))
        if any(each.with_limit != each.interval for each in found):
            cells = (f"{100 * each.with_limit:.1f}" for each in found)
            rows.append(Line((f"{drawn.says}, with the limit", *cells)))
    columns = (Column("samples of"), *(Column(f"n = {n}, %", True) for n in SIZES))
    return Table("", columns, tuple(rows))


def stopped_table(repetitions: int) -> Table:
    """Return the table of samples that stop on precision."""
    rows = []
    for name, half_width in HALF_WIDTHS.items():
        found = stopped(name, half_width, repetitions)
        cells = (f"{half_width:g}", f"{found.seeds:g}", f"{100 * found.interval:.1f}")
        rows.append(Line((DISTRIBUTIONS[name].says, *cells)))
    headers = ("half-width", "seeds at the stop, median", "held, %")
    columns = (Column("samples of"), *(Column(header, True) for header in headers))
    return Table("", columns, tuple(rows))


@click.command()
@click.option("--repetitions", default=10_000, show_default=True, type=click.IntRange(1))
@click.option("--page", default=PAGE, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(repetitions: int, page: Path) -> None:
    """Measure the coverage of the intervals and write it into docs/statistics.md."""
    error = 100 * sqrt(LEVEL * (1 - LEVEL) / repetitions)
    note = f"{repetitions:,} repetitions each; the standard error is {error:.1f} points at 95 %."
    figures = {"coverage": table(repetitions), "stopping": stopped_table(repetitions)}
    for name, made in figures.items():
        text = f"{markdown([made])}\n{note}\n"
        write_text(page, put_figures(page.read_text(encoding="utf-8"), {name: text}))


if __name__ == "__main__":
    main()
