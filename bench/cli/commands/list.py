"""``evictbench list``: what there is to choose from."""

from __future__ import annotations

import click

from bench.cli import options

__all__ = ["command"]

WHAT = ("policies", "scenarios", "reducers", "prices", "metrics")


@click.command()
@click.argument("what", type=options.OneOf(WHAT))
@options.format_of("table", "json", "csv", "md")
def command(what: str, form: str) -> int:
    """List the policies, scenarios, reducers, prices or metrics there are.

    \b
    Examples:
      evictbench list policies
      evictbench list prices --format csv
    """
    from bench.cli.emit import print_as
    from bench.tables import listing

    items = listing.items(what)
    if form == "json":
        from bench.output import json_document

        click.echo(json_document({what: items}), nl=False)
    elif form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(items, list(items[0])), nl=False)
    else:
        print_as([listing.table(what, items)], form)
    return 0
