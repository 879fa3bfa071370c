"""stylelint: the first problem of each style sheet."""

from __future__ import annotations

import re

from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan
from policies.reducers.log import Log
from policies.reducers.stylish import Row, rows

__all__ = ["REDUCER", "Stylelint"]

_ROW = re.compile(r" *+(?P<place>\d++:\d++) ++(?P<said>(?P<mark>[✖×⚠ℹ]) ++\S[^\n]*+)$")
_PATH = re.compile(r"(?:[A-Za-z]:)?[^\n:]*\.(?:css|scss|sass|less|styl|vue|svelte|html?|[jt]sx?)$")
_SUMMARY = re.compile(r"[✖×⚠] \d++ problems? \(|\d++ problems? found$")
_MARKS = ("  ✖ ", "  × ", "  ⚠ ")


class Stylelint(Checker):
    """The formatter ``string``: a path, and under it a row for each problem."""

    name = "stylelint"
    hints = _MARKS

    def scan(self, log: Log) -> Scan:
        """Return the rows, their paths, and the summary."""
        scan = Scan()
        for path, each in rows(log.lines, lines_with(log, _MARKS), _row, _is_path):
            scan.own.append(path)
            scan.found.append(each)
        for number in lines_with(log, (" problem", "potentially fixable with")):
            line = log.lines[number]
            if _SUMMARY.match(line) or (line[:2] == "  " and "fixable with" in line):
                scan.verdicts.append(number)
        return scan


def _row(line: str) -> Row | None:
    match = _ROW.match(line)
    return ("", match["place"], match["said"], match["mark"] in "✖×") if match else None


def _is_path(line: str) -> bool:
    return _PATH.match(line) is not None


REDUCER = Stylelint()
