"""The price book: prices, cache rules and speeds of models and servers, each with its origin.

A user's own book is laid over the one that comes with evictbench; docs/prices.md has the format.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from bench.price_fields import (
    OVERRIDES,
    PRICE_FIELDS,
    RULE_FIELDS,
    SPEED_FIELDS,
    BadField,
    build,
    check_value,
    pick,
)
from bench.price_files import BookFile
from bench.price_reader import Layer, read_layer
from bench.price_rows import Book
from sim.errors import InputError, unknown
from sim.prices import Price

__all__ = ["BOOK", "file_stamp", "get_price", "load_book", "read_book"]

BOOK = Path(__file__).with_name("prices.toml")
"""The book that comes with evictbench; its comments say why a value is what it is."""

_SOURCES = Path(__file__).with_name("price_sources.toml")

Stamp = tuple[Path, int, int]
"""A file, with the time of its last change and its size."""


def load_book(path: str | Path | None = None) -> dict[str, Price]:
    """Return the prices of `read_book` by name."""
    return {name: row.price for name, row in read_book(path).prices.items()}


def read_book(path: str | Path | None = None) -> Book:
    """Return the book that comes with evictbench, with the user's own at *path* laid over it.

    Raises InputError, with file and line, for all that is missing, unknown or out of range.
    """
    if path is None:
        return _builtin(file_stamp(BOOK)).book
    return _overlaid(file_stamp(path)).book


def get_price(
    name: str, overrides: Mapping[str, object] | None = None, book: str | Path | None = None
) -> Price:
    """Return the price *name*, with the fields in *overrides* replaced.

    *book* is a user's own, see `read_book`. Any field of a row, of its cache rule or of its speed
    may be replaced by its own name; none follows another (a row without a write price of its own
    has `write` equal to `input`). Raises InputError for an unknown name or field, with the nearest
    valid one, or a bad value.
    """
    rows = read_book(book).prices
    if name not in rows:
        raise InputError(unknown("price", name, rows))
    price = rows[name].price
    if not overrides:
        return price
    try:
        for field in overrides:
            if field not in OVERRIDES:
                raise BadField(unknown("field", field, OVERRIDES), field)
        values = {field: check_value(field, value) for field, value in overrides.items()}
        rules = build(replace, price.rules, **pick(values, RULE_FIELDS))
        speed = build(replace, price.speed, **pick(values, SPEED_FIELDS))
        parts = pick(values, PRICE_FIELDS)
        changed: Price = build(replace, price, rules=rules, speed=speed, **parts)
        return changed
    except BadField as error:
        raise InputError(f"price {name!r}: {error}") from None


def file_stamp(path: str | Path) -> Stamp:
    """Return a file with its time and size, so that a cache of what it holds knows of a change."""
    file = Path(path)
    try:
        file = file.expanduser()
        state = os.stat(file)
    except (OSError, RuntimeError, ValueError):
        return file, 0, 0
    return file, state.st_mtime_ns, state.st_size


@lru_cache(maxsize=1)
def _builtin(stamp: Stamp) -> Layer:
    return read_layer(BookFile(stamp[0]), read_layer(BookFile(_SOURCES)), strict=True)


@lru_cache(maxsize=8)
def _overlaid(stamp: Stamp) -> Layer:
    found = BookFile(stamp[0])
    if not (found.faults or found.rows["prices"] or found.rows["speeds"]):
        raise InputError("it holds neither prices nor speeds", file=stamp[0])
    return read_layer(found, _builtin(file_stamp(BOOK)))
