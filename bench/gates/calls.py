"""Recorded calls of one agent, as figures: how large each prompt was and what of it was read."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from sim.errors import InputError, nearest

__all__ = ["HOUR", "MINUTES_5", "Call", "Thread", "missed", "read_calls", "tier"]

MINUTES_5 = 300.0
HOUR = 3_600.0

_COLUMNS = (
    "session",
    "call",
    "ts",
    "input_tokens",
    "cache_creation",
    "cache_creation_1h",
    "cache_read",
    "gap_s",
)
_MOST = 2**53


class Call(NamedTuple):
    """One model call: *tokens* of its prompt, and how many of them were *read* from the cache.

    *gap* is the seconds from the last line of the call before to the first of this one, None for
    the first call of its thread. *time* is when the first line came, in seconds since 1970.
    """

    tokens: int
    read: int
    gap: float | None
    time: float

    @property
    def missed(self) -> bool:
        """Whether less than a fifth of the prompt was read."""
        return missed(self.read, self.tokens)


def missed(read: int, tokens: int) -> bool:
    """Return whether *read* is less than a fifth of a prompt of so many *tokens*."""
    return 5 * read < tokens


@dataclass(frozen=True, slots=True)
class Thread:
    """The calls of one session in order, and the *life* in seconds that its entries were sold."""

    name: str
    life: float
    calls: tuple[Call, ...]


def tier(written: int, written_long: int) -> float:
    """Return the life of a session's entries in seconds.

    It is an hour if most of the tokens it wrote were written for an hour, else five minutes.
    """
    return HOUR if 2 * written_long > written else MINUTES_5


def read_calls(file: Path) -> list[Thread]:
    """Return the sessions of a table of calls, in the order of the file.

    Its columns: session, call, ts, input_tokens (neither read nor written), cache_creation,
    cache_creation_1h, cache_read in tokens, gap_s in seconds, empty for the first call of a
    session. The calls of a session stand together and in order. Raises InputError, with the line,
    for a column that is missing or a value that cannot be.
    """
    try:
        with open(file, encoding="utf-8-sig", newline="") as text:
            rows = csv.reader(text, strict=True)
            places = _places(next(rows, []), file)
            return list(_threads(_lines(rows, places, file), file))
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror or error}", file=file) from None
    except UnicodeDecodeError:
        raise InputError("cannot read it: not UTF-8 text", file=file) from None
    except csv.Error as error:
        raise InputError(f"not a table of comma-separated values: {error}", file=file) from None


class _Line(NamedTuple):
    """One row of the table."""

    number: int
    session: str
    position: int
    call: Call
    written: int
    written_long: int


def _places(header: Sequence[str], file: Path) -> Mapping[str, int]:
    """Return where each column stands."""
    for column in _COLUMNS:
        if column not in header:
            close = nearest(column, header)
            hint = f"; it has {close!r}" if close else ""
            raise InputError(f"the column {column!r} is missing{hint}", file=file, line=1)
        if header.count(column) > 1:
            raise InputError(f"the column {column!r} stands there twice", file=file, line=1)
    return {column: header.index(column) for column in _COLUMNS}


def _lines(rows: Iterable[Sequence[str]], places: Mapping[str, int], file: Path) -> Iterator[_Line]:
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        if len(row) <= max(places.values()):
            raise InputError(f"only {len(row)} values in the row", file=file, line=number)
        cells = {column: row[place] for column, place in places.items()}
        try:
            yield _line(number, cells)
        except ValueError as error:
            raise InputError(str(error), file=file, line=number) from None


def _line(number: int, cells: Mapping[str, str]) -> _Line:
    plain, written, written_long, read = (
        _whole(cells, column)
        for column in ("input_tokens", "cache_creation", "cache_creation_1h", "cache_read")
    )
    if written_long > written:
        raise ValueError(
            f"cache_creation_1h, {written_long}, is more than cache_creation, {written}"
        )
    tokens = plain + written + read
    if not tokens:
        raise ValueError("the prompt of a call cannot be empty")
    gap = _seconds(cells, "gap_s") if cells["gap_s"] else None
    call = Call(tokens, read, gap, _seconds(cells, "ts"))
    return _Line(number, cells["session"], _whole(cells, "call"), call, written, written_long)


def _whole(cells: Mapping[str, str], column: str) -> int:
    text = cells[column]
    if not (text.isascii() and text.isdigit() and len(text) < 17 and int(text) <= _MOST):
        raise ValueError(f"{column} must be a whole number of at least 0, not {text[:40]!r}")
    return int(text)


def _seconds(cells: Mapping[str, str], column: str) -> float:
    text = cells[column]
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not (isfinite(value) and 0.0 <= value <= _MOST):
        raise ValueError(f"{column} must be a number of seconds of at least 0, not {text[:40]!r}")
    return value


def _threads(lines: Iterable[_Line], file: Path) -> Iterator[Thread]:
    done: set[str] = set()
    group: list[_Line] = []
    for line in lines:
        if group and line.session != group[0].session:
            yield _thread(group, file)
            done.add(group[0].session)
            group = []
        if line.session in done:
            raise InputError(
                f"the calls of session {line.session[:40]!r} do not stand together",
                file=file,
                line=line.number,
            )
        group.append(line)
    if not group and not done:
        raise InputError("there is no call in it", file=file)
    yield _thread(group, file)


def _thread(group: Sequence[_Line], file: Path) -> Thread:
    for before, line in pairwise(group):
        if line.position <= before.position:
            raise InputError(
                f"call {line.position} cannot follow call {before.position}",
                file=file,
                line=line.number,
            )
        if line.call.gap is None:
            raise InputError(
                "gap_s is empty, and it is not the first call of its session",
                file=file,
                line=line.number,
            )
    first = group[0].call._replace(gap=None)
    life = tier(sum(line.written for line in group), sum(line.written_long for line in group))
    return Thread(group[0].session, life, (first, *(line.call for line in group[1:])))
