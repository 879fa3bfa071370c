"""flake8, pycodestyle and pep8: the first error of each file, and how many of each code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.coded import CODES, closes, coded, of_ruff
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, lines_of
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Flake8"]

_STATISTIC = re.compile(r"^\d{1,7} +[A-Z]{1,8}\d{2,5} ", re.MULTILINE)
_TOTAL = re.compile(r"\d{1,7}$")
_CARET = re.compile(r"\s*+\^\s*+$")
_SOURCE = 60
"""Lines of source that may stand between a line and the mark of its column."""


class Flake8(Checker):
    """The layouts ``default`` and ``pylint``, with source, statistics and the total.

    They are those of flake8's "Selecting and formatting violations" and of pycodestyle.
    """

    name = "flake8"
    rank = 51
    hints = CODES

    def scan(self, log: Log) -> Scan:
        """Return the lines with a code, the marks of columns, the statistics and the total."""
        lines, scan = log.lines, Scan(found=coded(log))
        if not scan.found:
            return scan
        scan.own = _marks(log, scan.found)
        scan.verdicts = lines_of(log, _STATISTIC)
        total = scan.lines()[-1] + 1
        if total < len(lines) and _TOTAL.match(lines[total]):
            scan.verdicts.append(total)
        return scan

    def claims(self, log: Log, span: Span) -> bool:
        """Whether the lines are not ruff's."""
        return of_ruff(log, span) is False

    def bridged(self, lines: Sequence[str], start: int, stop: int) -> bool:
        """Whether the lines are source with its mark below, or a few of something else."""
        if any(closes(line) for line in lines[start : min(stop, start + 9)]):
            return False
        marked = stop - start <= _SOURCE and _CARET.match(lines[stop]) is not None
        return marked or super().bridged(lines, start, stop)

    def below(self, lines: Sequence[str], last: int) -> int:
        """Return the line after *last*: the source was found with its mark."""
        return last + 1


def _marks(log: Log, found: Sequence[Diagnostic]) -> list[int]:
    """Return the lines that mark the column of one of *found*."""
    numbers = [each.line for each in found]
    marks = []
    for number in lines_with(log, ("^",)):
        at = bisect_left(numbers, number)
        if at and number - numbers[at - 1] <= _SOURCE and _CARET.match(log.lines[number]):
            marks.append(number)
    return marks


REDUCER = Flake8()
