"""How often the interval of a mean holds the true mean: ``python -m bench.coverage``.

Draws samples of distributions whose mean is known, and writes into docs/statistics.md the share of
them whose interval holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from bench.output import markdown
from bench.pages import put_figures
from bench.results import write_text
from bench.statistics import LEVEL, estimate, zero_limit
from bench.tables.parts import Column, Line, Table
from sim.streams import generator

if TYPE_CHECKING:
    import numpy as np

    from bench.statistics import Sample

__all__ = ["DISTRIBUTIONS", "PAGE", "SIZES", "Coverage", "Distribution", "coverage", "main"]

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
        low, high = found.low, found.high
        held += low is not None and high is not None and low <= drawn.mean <= high
        if found.mean == found.low == found.high == 0.0:
            high = zero_limit(n)
        limited += low is not None and high is not None and low <= drawn.mean <= high
    return Coverage(held / repetitions, limited / repetitions)


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


@click.command()
@click.option("--repetitions", default=10_000, show_default=True, type=click.IntRange(1))
@click.option("--page", default=PAGE, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(repetitions: int, page: Path) -> None:
    """Measure the coverage of the intervals and write it into docs/statistics.md."""
    error = 100 * sqrt(LEVEL * (1 - LEVEL) / repetitions)
    note = f"{repetitions:,} repetitions each; the standard error is {error:.1f} points at 95 %."
    text = f"{markdown([table(repetitions)])}\n{note}\n"
    write_text(page, put_figures(page.read_text(encoding="utf-8"), {"coverage": text}))


if __name__ == "__main__":
    main()
