"""pyright and basedpyright: the first error of each file, and the summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log

__all__ = ["REDUCER", "Pyright"]

_LEVELS = (" - error: ", " - warning: ", " - information: ", " - note: ", " - hint: ")
_LINE = re.compile(
    r" *+(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+):\d++:\d++ - "
    r"(?P<level>error|warning|information|note|hint): "
)
_OF_FILES = (": error: ", ": warning: ")
_OF_FILE = re.compile(
    r"  (?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+)"
    r"(?:(?<=\.py)|(?<=\.pyi)): (?P<level>error|warning): "
)
_VERDICT = re.compile(r"\d++ errors?, \d++ warnings?, \d++ (?:informations?|notes?)\b")
_START = re.compile(
    r"No configuration file found\.|Assuming Python |No (?:pyproject|source) "
    r"|Found \d++ source files?$|Searching for source files$|Loading configuration file at "
    r"|Auto-excluding |pyright \d"
)


class Pyright(Checker):
    """The report for people of pyright and basedpyright: a path, its problems under it."""

    name = "pyright"
    kind = "typecheck"
    rank = 53
    hints = (" - error: ", " - warning: ", " errors, ", " error, ")

    def scan(self, log: Log) -> Scan:
        """Return the problems, the paths above them, and the summary."""
        lines, scan = log.lines, Scan()
        for number in lines_with(log, _LEVELS):
            match = _LINE.match(lines[number])
            if match is None:
                continue
            if number and lines[number - 1] == match["file"]:
                scan.own.append(number - 1)
            if match["level"] in ("error", "warning"):
                detail = below(lines, number, _belongs)
                text = lines[number].strip()
                error = match["level"] == "error"
                scan.found.append(Diagnostic(number, match["file"], text, error, detail))
            else:
                scan.own.append(number)
        if scan.found:
            scan.found += _nameless(log)
            scan.found.sort(key=lambda each: each.line)
        for number in lines_with(log, (" errors, ", " error, ")):
            if _VERDICT.match(lines[number]):
                scan.verdicts.append(number)
                scan.sure.add(number)
        return scan

    def above(self, lines: Sequence[str], first: int) -> int:
        """Return the first of the lines that say what is going to be checked."""
        while first > 0 and _START.match(lines[first - 1]):
            first -= 1
        return first


def _nameless(log: Log) -> Iterator[Diagnostic]:
    """Yield the problems of a whole file, which have no place."""
    for number in lines_with(log, _OF_FILES):
        match = _OF_FILE.match(log.lines[number])
        if match:
            text, error = log.lines[number].strip(), match["level"] == "error"
            yield Diagnostic(number, match["file"], text, error)


def _belongs(line: str) -> bool:
    """Whether *line* goes on with the problem above it."""
    return line.startswith("    ") and not _LINE.match(line)


REDUCER = Pyright()
