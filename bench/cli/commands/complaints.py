"""``evictbench complaints``: reported failures, under the policies they were reported for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bench.cli import options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.complaints.beyond import Beyond
    from bench.complaints.judging import Judged

__all__ = ["command"]

NOT_SHOWN = 1
"""The exit code where a failure does not show under the policy that it was reported for."""


@click.command(short_help="Show reported failures under the policies they were reported for.")
@click.argument("rows", metavar="[ROW]...", nargs=-1)
@click.option(
    "-p",
    "--policy",
    "policies",
    metavar="NAME[:OPTION=VALUE,...]",
    multiple=True,
    default=("disciplined",),
    show_default=True,
    help="Another policy to ask the same of. May be given several times.",
)
@options.format_of("table", "json", "csv", "md")
def command(rows: tuple[str, ...], policies: tuple[str, ...], form: str) -> int:
    """Show failures that users of harnesses reported, under the policies they were reported for.

    Each is a scenario with a [complaint] table: a metric is above a bound where the failure is
    there. ROW is the number of one, the name of its scenario, or a scenario file of your own with
    such a table. Without ROW, all that ship, and behind them what was reported and cannot be told,
    with the reason.

    Exits with 0 if every failure shows under its own policy, 1 if one does not, 2 if the input is
    wrong. What comes of it under the other policies is a result and changes no code.

    \b
    Examples:
      evictbench complaints
      evictbench complaints 5 unchanged-read
      evictbench complaints -p tiered -p no-op --format csv
    """
    from bench import progress
    from bench.complaints.beyond import BEYOND
    from bench.complaints.choosing import choose
    from bench.complaints.judging import judge
    from bench.selection import select_policies

    chosen, others = choose(rows), select_policies(policies)
    with progress.shown("complaints") as report:
        judged = judge(chosen, others, report)
    _print(judged, () if rows else BEYOND, form)
    return 0 if all(each.own.there for each in judged) else NOT_SHOWN


def _print(judged: Sequence[Judged], beyond: Sequence[Beyond], form: str) -> None:
    from bench.tables import complaints as shown

    if form == "json":
        from bench.output import json_document

        click.echo(json_document(shown.document(judged, beyond)), nl=False)
    elif form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(shown.rows(judged, beyond), shown.COLUMNS), nl=False)
    else:
        from bench.cli.emit import WIDE, console, print_as

        wide = form == "md" or console().width >= WIDE
        print_as(shown.complaint_tables(judged, beyond, wide), form)
