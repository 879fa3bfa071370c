"""``evictbench list``: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bench.cli import options
from bench.tables.listing import BOOK_PARTS, WHAT

if TYPE_CHECKING:
    from bench.price_rows import Book

__all__ = ["command"]


@click.command(short_help="List policies, scenarios, prices, charts and more.")
@click.argument("what", type=options.OneOf(WHAT))
@options.prices
@options.format_of("table", "json", "csv", "md")
@click.pass_context
def command(ctx: click.Context, what: str, prices: str | None, form: str) -> int:
    """List the policies, scenarios, reducers, prices, speeds, metrics or charts there are.

    \b
    Examples:
      evictbench list policies
      evictbench list speeds
      evictbench list prices --format csv
      evictbench list prices --prices my-prices.toml
    """
    from bench.cli.emit import console, print_as
    from bench.tables import listing

    book = _book(prices) if what in BOOK_PARTS else None
    if prices is not None and book is None and options.is_typed(ctx, "prices"):
        raise click.UsageError(f"--prices goes with {' and '.join(BOOK_PARTS)}, not {what}", ctx)
    if form in ("json", "csv"):
        from bench.output import csv_text, json_document

        items = listing.items(what, book)
        text = json_document({what: items}) if form == "json" else ""
        click.echo(text or csv_text(items, listing.columns(items)), nl=False)
    else:
        width = None if form == "md" else console().width
        print_as(listing.tables(what, width, book), form)
    return 0


def _book(path: str | None) -> Book:
    """Return the book with the user's own at *path*; say what of it gives no origin."""
    from bench.cli.emit import say
    from bench.prices import read_book

    book = read_book(path)
    if book.unsourced:
        say(
            f"{path} gives no source for all of {', '.join(book.unsourced)}: what has none counts "
            "as assumed"
        )
    return book
