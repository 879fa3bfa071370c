"""``evictbench diff``: what is worse in one folder of results than in another."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]


@click.command(short_help="Show what got worse between two folders of results.")
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--metric",
    "metrics",
    metavar="NAME",
    multiple=True,
    help="A metric to compare (see `evictbench list metrics`); may be repeated, and `all` is every "
    "one that has a better direction. [default: nine of answers, bugs, peak, cost and time]",
)
@click.option(
    "--tolerance",
    type=float,
    metavar="PERCENT",
    default=0.0,
    show_default=True,
    help="A change of less than this of what it was in A is no regression.",
)
@options.format_of("table", "json", "csv", "md")
def command(a: Path, b: Path, metrics: tuple[str, ...], tolerance: float, form: str) -> int:
    """Compare two folders that `compare --out` or `replay --out` left, A before and B after.

    Runs are paired by scenario, price, policy and seed. Something is worse if the 95 % interval of
    the paired difference leaves out 0 on the worse side, and chance alone would make any of the
    differences as clear in at most 5 % of reports; and if a run that completed in A does not in B.
    The exit code is then 1, so that a script or a CI job stops; it is 0 if nothing is worse, and 2
    if the two cannot be compared.

    \b
    Examples:
      Keep what a policy does today, and see later whether it got worse:
        evictbench compare coding-agent -p mine.py:Mine --out results/before
        evictbench compare coding-agent -p mine.py:Mine --out results/after
        evictbench diff results/before results/after
      Only invented answers and money, and no alarm below 2 %:
        evictbench diff results/before results/after --tolerance 2 \\
            --metric confabulation_rate --metric total_cost_usd
      Every line for another program:
        evictbench diff results/before results/after --format json
    """
    from bench.cli.codes import UNMET
    from bench.cli.emit import WIDE, console, print_as, say
    from bench.diff import chosen, diff
    from bench.output import csv_text, json_document
    from bench.results import load
    from bench.tables.diff import diff_tables, verdict

    chosen(metrics)
    before, after = load(a), load(b)
    found = diff(before, after, metrics, tolerance)
    if form == "json":
        document = {"verdict": verdict(found), **found.document(before, after)}
        click.echo(json_document(document), nl=False)
    elif form == "csv":
        click.echo(csv_text(found.lines, list(found.lines[0])), nl=False)
        say(verdict(found))
    else:
        print_as(diff_tables(found, form == "md" or console().width >= WIDE), form)
    return UNMET if found.regression else 0
