"""Rows of problems under the path of their file: ESLint's stylish layout, and stylelint's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.diagnostics import below

__all__ = ["Row", "rows"]

_BACK = 40
"""Lines from a row up to its path, if a message before it runs over several lines."""
_PADDING = re.compile(r" {3,}")
_CERTAIN = re.compile(r"(?:[A-Za-z]:[\\/]|\.{0,2}/)[^\n]*\.\w{1,8}$")
Row = tuple[str, str, str, bool]
"""What a script runner put before the line, the place, what is said, and whether it is an error."""


def rows(
    lines: Sequence[str],
    numbers: Sequence[int],
    row: Callable[[str], Row | None],
    is_path: Callable[[str], bool],
) -> Iterator[tuple[int, Diagnostic]]:
    """Yield the number of the line with the path, and the problem, for each row of *numbers*.

    *row* takes a line apart, *is_path* says whether a line can be a path. Rows without a path
    above them are left out. A message of several lines goes on below its row.
    """
    known = set(numbers)
    at, last, file = -1, -1, ""
    for number in numbers:
        parts = row(lines[number])
        if parts is None:
            continue
        before, place, message, error = parts
        if last < 0 or number != last + 1:
            goes_on = bool(file) and _continued(lines, last, number, before)
            sure = _certain if goes_on else is_path
            above = _path_above(lines, number, max(last, number - _BACK - 1), before, sure)
            if above >= 0:
                at, file = above, lines[above][len(before) :].strip()
            elif not goes_on:
                file = ""
        last = number
        if file:
            text = f"{file}:{place}  {_PADDING.sub('  ', message)}"
            more = "" if number + 1 in known else _more(lines, number)
            yield at, Diagnostic(number, file, text, error, more, f":{place}")


def _path_above(
    lines: Sequence[str], number: int, floor: int, before: str, is_path: Callable[[str], bool]
) -> int:
    """Return the line above *number*, below *floor*, that is a path; -1 if there is none."""
    for at in range(number - 1, floor, -1):
        line = lines[at]
        if not line.strip() or not line.startswith(before):
            break
        rest = line[len(before) :]
        if rest and not rest[0].isspace() and is_path(rest):
            return at
    return -1


def _certain(line: str) -> bool:
    return _CERTAIN.match(line) is not None


def _continued(lines: Sequence[str], last: int, number: int, before: str) -> bool:
    """Whether a row at *number* is in the list of that at *last*: no blank line between them."""
    start = before.rstrip()
    return number - last <= _BACK and all(
        line.removeprefix(start).strip() for line in lines[last + 1 : number]
    )


def _more(lines: Sequence[str], number: int) -> str:
    """Return the lines with which the message of the row at *number* goes on."""
    return below(lines, number, lambda line: line.strip() and not _certain(line))
