"""The price book: prices, cache rules and speeds of models and local servers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from sim.errors import InputError, unknown
from sim.prices import RULES, CacheRules, Price, Speed

__all__ = ["BOOK", "get_price", "load_book"]

BOOK = Path(__file__).with_name("prices.toml")
"""The book that comes with evictbench; its comments describe the format."""

_RULE_FIELDS = frozenset(field.name for field in fields(CacheRules))
_SPEED_FIELDS = frozenset(field.name for field in fields(Speed))
_PRICE_FIELDS = frozenset(field.name for field in fields(Price)) - {"name", "rules", "speed"}
_ROW_FIELDS = _PRICE_FIELDS | _RULE_FIELDS | {"speed"}
_ORIGIN_FIELDS = frozenset({"assumed", "date", "source"})
_OVERRIDES = (_PRICE_FIELDS | _RULE_FIELDS | _SPEED_FIELDS) - _ORIGIN_FIELDS

_ROW_NEEDS = ("input", "write", "read", "output", "rule", "speed", "source", "date", "assumed")
_RULE_NEEDS = {
    "auto": ("minimum", "step", "ttl"),
    "blocks": ("step", "capacity"),
    "breakpoints": ("minimum", "ttl", "lookback"),
    "none": (),
}

_WHOLE = frozenset({"capacity", "cliff_tokens", "lookback", "minimum", "step"})
_MOST = 2**53
_TEXT = frozenset({"date", "rule", "source", "speed"})


def load_book(path: str | Path | None = None) -> dict[str, Price]:
    """Return the rows of a price book by name, in the order of the file.

    *path* is a TOML file in the format of `BOOK`, which is read if there is none. Raises
    InputError, with file and line, for anything that is missing, unknown or out of range.
    """
    file = BOOK if path is None else Path(path)
    text, tables = _read(file)
    row: tuple[str, ...] = ()
    try:
        _check(tables, ("prices", "speeds"), ("prices", "speeds"), what="table")
        speed_rows, price_rows = _rows(tables, "speeds"), _rows(tables, "prices")
        speeds = {}
        for name, values in speed_rows.items():
            row = ("speeds", name)
            speeds[name] = _speed(values)
        book = {}
        for name, values in price_rows.items():
            row = ("prices", name)
            book[name] = _price(name, values, speeds)
    except _BadField as error:
        line = _line_of(text, row, error.field)
        where = f"{row[0]} {row[1]!r}: " if row else ""
        raise InputError(f"{where}{error}", file=file, line=line) from None
    return book


def get_price(name: str, overrides: Mapping[str, object] | None = None) -> Price:
    """Return the row *name* of `BOOK`, with the fields in *overrides* replaced.

    Any field of a row, of its cache rule or of its speed may be replaced by its own name; none
    follows another (a row without a write price of its own has `write` equal to `input`).
    Raises InputError for an unknown name or field, with the nearest valid one, or a bad value.
    """
    book = load_book()
    if name not in book:
        raise InputError(unknown("price", name, book))
    price = book[name]
    if not overrides:
        return price
    try:
        _known("field", overrides, _OVERRIDES)
        values = {field: _value(field, value) for field, value in overrides.items()}
        rules = _build(replace, price.rules, **_pick(values, _RULE_FIELDS))
        speed = _build(replace, price.speed, **_pick(values, _SPEED_FIELDS))
        parts = _pick(values, _PRICE_FIELDS)
        return _build(replace, price, rules=rules, speed=speed, **parts)
    except _BadField as error:
        raise InputError(f"price {name!r}: {error}") from None


class _BadField(Exception):
    """A field of a row, and what is wrong with it."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=file) from None
    except UnicodeDecodeError:
        raise InputError("cannot read it: not UTF-8 text", file=file) from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r" \(at line (\d+), column \d+\)", str(error))
        message = str(error) if line is None else str(error).replace(line[0], "")
        number = None if line is None else int(line[1])
        raise InputError(f"not valid TOML: {message}", file=file, line=number) from None


def _rows(tables: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    rows = tables[kind]
    if not isinstance(rows, dict) or not all(isinstance(row, dict) for row in rows.values()):
        raise _BadField(f"{kind!r} must hold tables", kind)
    return rows


def _speed(row: Mapping[str, Any]) -> Speed:
    _check(row, _SPEED_FIELDS | _ORIGIN_FIELDS, (*_SPEED_FIELDS, "source", "date", "assumed"))
    values = {field: _value(field, value) for field, value in row.items()}
    _check_assumed(values["assumed"], row)
    return _build(Speed, **_pick(values, _SPEED_FIELDS))


def _price(name: str, row: Mapping[str, Any], speeds: Mapping[str, Speed]) -> Price:
    _check(row, _ROW_FIELDS, _ROW_NEEDS)
    values = {field: _value(field, value) for field, value in row.items()}
    _check(row, _ROW_FIELDS, _RULE_NEEDS[values["rule"]])
    _check_assumed(values["assumed"], row)
    if values["speed"] not in speeds:
        raise _BadField(unknown("speed", values["speed"], speeds), "speed")
    rules = _build(CacheRules, **_pick(values, _RULE_FIELDS))
    parts = _pick(values, _PRICE_FIELDS)
    return _build(Price, name=name, rules=rules, speed=speeds[values["speed"]], **parts)


def _check(
    row: Mapping[str, Any], valid: Iterable[str], needs: Iterable[str], what: str = "field"
) -> None:
    _known(what, row, valid)
    missing = [field for field in needs if field not in row]
    if missing:
        raise _BadField(f"{', '.join(sorted(missing))} missing")


def _check_assumed(assumed: Iterable[str], row: Mapping[str, Any]) -> None:
    for field in assumed:
        if field not in row or field in _ORIGIN_FIELDS:
            valid = row.keys() - _ORIGIN_FIELDS
            raise _BadField(f"assumed: {unknown('field', field, valid)}", "assumed")


def _known(what: str, names: Iterable[str], valid: Iterable[str]) -> None:
    valid = frozenset(valid)
    for name in names:
        if name not in valid:
            raise _BadField(unknown(what, name, valid), name)


def _value(field: str, value: Any) -> Any:
    """Return *value* if it is of the sort that *field* holds."""
    if field == "assumed":
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise _BadField(f"assumed must be a list of field names, not {value!r}", field)
    if field == "cliff_inclusive":
        if isinstance(value, bool):
            return value
        raise _BadField(f"{field} must be true or false, not {value!r}", field)
    if field in _TEXT:
        return _text(field, value)
    sort = int if field in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, sort) or not abs(value) <= _MOST:
        wanted = "a whole number" if field in _WHOLE else "a finite number"
        raise _BadField(f"{field} must be {wanted}, not {value!r}", field)
    if value < 0:
        raise _BadField(f"{field} cannot be negative, but is {value!r}", field)
    return value if field in _WHOLE else float(value)


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _BadField(f"{field} must be a text, not {value!r}", field)
    if field == "rule" and value not in RULES:
        raise _BadField(unknown("rule", value, RULES), field)
    if field == "date":
        try:
            date.fromisoformat(value)
        except ValueError:
            raise _BadField(f"date must be like 2026-12-02, not {value!r}", field) from None
    return value


def _pick(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _build(make: Any, *arguments: Any, **values: Any) -> Any:
    try:
        return make(*arguments, **values)
    except ValueError as error:
        raise _BadField(str(error), str(error).split()[0]) from None


def _line_of(text: str, row: tuple[str, ...], field: str | None) -> int | None:
    """Return the line of a field of a row, of the row, or of a table, whichever can be found."""
    found = None
    inside = not row
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].replace('"', "").strip()
        if words.startswith("["):
            inside = not row or words == f"[{'.'.join(row)}]"
            if inside and (row or words.strip("[]").split(".")[0] == field):
                found = number
        elif inside and field is not None and words.split("=")[0].strip() == field:
            return number
    return found
