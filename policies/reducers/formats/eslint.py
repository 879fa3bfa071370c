"""ESLint: the first error of each file, in any of its layouts for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan
from policies.reducers.log import Log
from policies.reducers.stylish import Row, rows

__all__ = ["REDUCER", "Eslint"]

_IN_ROWS = ("  error  ", "  warning  ", "  Error: ", "  Warning: ")
_IN_LINES = (", col ", "[Error", "[Warning", "): error ", "): warning ")
_ROW = re.compile(
    r"(?:##\[(?:error|warning)\])?(?P<before>[@\w./-]++:[\w:-]*+ )?[ \t]*+(?P<place>\d++:\d++) ++"
    r"(?P<said>(?P<level>error|warning|Error|Warning)(?: ++|: )\S[^\n]*+)$"
)
_PATH = re.compile(r"(?:[A-Za-z]:)?[^\n:./\\]*+[./\\][^\n:]*+$")
_COMPACT = re.compile(
    r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\n:]++): line \d++, col \d++, "
    r"(?P<level>[Ee]rror|[Ww]arning) - "
)
_UNIX = re.compile(r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\n:]++):\d++:\d++: ")
_UNIX_LEVEL = re.compile(r"\[(?P<level>Error|Warning)(?:/[^\]\s]++)?\]$")
_VISUAL = re.compile(
    r"(?P<file>[^\n(]*+(?:\((?!\d++,\d++\): )[^\n(]*+)*+)\(\d++,\d++\): "
    r"(?P<level>error|warning) (?:[@\w/-]++ : |: (?=Parsing error))"
)
_SCRIPT = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|json5?|md|html?)$")
_SUMMARY = re.compile(
    r"(?:[@\w./-]++:[\w:-]*+ )?[^\w\n]{0,4}(?:Γ£û|âœ–)? ?\d++ problems?"
    r"(?: \(\d++ errors?, \d++ warnings?\)|$)"
)
_FIXABLE = re.compile(
    r"(?:[@\w./-]++:[\w:-]*+ )? +\d++ errors?.* potentially fixable with the [`'\"]--fix"
)

_MESSAGE = 40
"""Lines of one message, at most."""


class Eslint(Checker):
    """The formatters stylish, compact, unix and visualstudio, and the layout of ``next lint``.

    Stylish and JSON are in ESLint's "Formatters reference"; the others were there up to version 8.
    """

    name = "eslint"
    hints = (*_IN_ROWS, *_IN_LINES)

    def scan(self, log: Log) -> Scan:
        """Return the rows and lines of problems, their paths, and the summary."""
        lines, scan = log.lines, Scan()
        numbers = lines_with(log, _IN_ROWS)
        for path, each in rows(lines, numbers, _row, _is_path):
            scan.own.append(path)
            scan.found.append(each)
        scan.found += _one_a_line(log)
        scan.found.sort(key=lambda each: each.line)
        for number in lines_with(log, (" problem", "potentially fixable with")):
            if _SUMMARY.match(lines[number]) or _FIXABLE.match(lines[number]):
                scan.verdicts.append(number)
        return scan

    def bridged(self, lines: Sequence[str], start: int, stop: int) -> bool:
        """Whether the lines are the rest of a row's message, or a few of something else."""
        if stop - start <= _MESSAGE and all(line.strip() for line in lines[start:stop]):
            return _row(lines[stop]) is not None or super().bridged(lines, start, stop)
        return super().bridged(lines, start, stop)


def _row(line: str) -> Row | None:
    match = _ROW.match(line)
    if match is None:
        return None
    return match["before"] or "", match["place"], match["said"], match["level"][0] in "eE"


def _is_path(line: str) -> bool:
    return _PATH.match(line) is not None


def _one_a_line(log: Log) -> Iterator[Diagnostic]:
    """Yield what the layouts with one problem a line say."""
    lines = log.lines
    for number in lines_with(log, _IN_LINES):
        line = lines[number]
        match = _COMPACT.match(line)
        level = match["level"] if match else ""
        if match is None and line.endswith("]") and (place := _UNIX.match(line)):
            end = _UNIX_LEVEL.search(line, max(0, len(line) - 200))
            match, level = place if end else None, end["level"] if end else ""
        if match is None and (match := _VISUAL.match(line)):
            level = match["level"] if _SCRIPT.search(match["file"]) else ""
        if match and level:
            yield Diagnostic(number, match["file"], line, level[0] in "eE")


REDUCER = Eslint()
