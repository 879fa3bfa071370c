"""pylint: the first error of each file, how many of each sort, and the rating."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, checked, joined, lines_of
from policies.reducers.form import Form
from policies.reducers.log import Log

__all__ = ["REDUCER", "SORTS", "Pylint"]

_FILE = r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:(][^:\n]*+)"
_ANCHOR = re.compile(
    r": [CRWEFI]\d{4}: |: \[(?:[A-Z]\d{4})?\([a-z][a-z0-9-]*+\)|,title=[CRWEFI]\d{4}::"
)
_TEXT = re.compile(rf"{_FILE}:\d++:\d++: (?P<code>[CRWEFI]\d{{4}}): ")
_PARSEABLE = re.compile(
    rf"{_FILE}:\d++: \[(?P<code>[A-Z]\d{{4}})?\([a-z][a-z0-9-]*+\), [^\]\n]*+\] "
)
_MSVS = re.compile(
    r"(?P<file>[^\s(:][^(:\n]*+)\(\d++\): \[(?P<code>[A-Z]\d{4})?\([a-z][a-z0-9-]*+\)[^\]\n]*+\] "
)
_GITHUB = re.compile(
    r"::(?:error|warning|notice) file=(?P<file>[^,\n]*+),line=(?P<line>\d++)[^\n:]*?,"
    r"title=(?P<code>[CRWEFI]\d{4})::"
)
_OLD = re.compile(r"^(?P<code>[CRWEFI])(?:\d{4})?: {0,5}\d++(?:, {0,3}\d++)?: \S", re.MULTILINE)
_HEADER = re.compile(r"\*{13} Module (?P<module>\S++)$")
_RATED = re.compile(r"Your code has been rated at -?[\d.]++/10")
_RULE = re.compile(r"-{10,}+$")
_REPORT = re.compile(r"Report$|\d++ statements analysed\.|Raw metrics$|Messages$")
SORTS = {
    "F": "fatals",
    "E": "errors",
    "W": "warnings",
    "R": "refactors",
    "C": "conventions",
    "I": "infos",
}
"""What pylint calls a message, by the first letter of its code."""
_BLOCK = 2_000
"""Lines of repeated source, or of report tables, within one run."""


class Pylint(Checker):
    """The formats text, parseable, colorized, msvs and github, and the text of versions below 2.

    They are those of pylint's "Output options". Errors are the messages of the sorts E and F.
    """

    name = "pylint"
    rank = 54
    hints = (
        "************* Module ",
        "Your code has been rated at ",
        *(f": {sort}" for sort in SORTS),
        ": [",
        "title=",
    )
    bridge = _BLOCK

    def scan(self, log: Log) -> Scan:
        """Return messages, module lines and the rating, with the rule above it."""
        lines, scan = log.lines, Scan()
        for number in lines_of(log, _ANCHOR):
            line = lines[number]
            match = _TEXT.match(line) or _PARSEABLE.match(line) or _MSVS.match(line)
            if match:
                scan.found.append(_message(number, match["file"], line, match["code"]))
            elif match := _GITHUB.match(line):
                text = f"{match['file']}:{match['line']}: {match['code']}: {line[match.end() :]}"
                scan.found.append(_message(number, match["file"], text, match["code"]))
        headers = lines_with(log, ("************* Module ",))
        modules = [(n, m["module"]) for n in headers if (m := _HEADER.match(lines[n]))]
        if modules:
            scan.found += _older(log, modules)
            scan.found.sort(key=lambda each: each.line)
        scan.own = [number for number, _ in modules]
        scan.sure.update(scan.own)
        for number in lines_with(log, ("Your code has been rated at ",)):
            if _RATED.match(lines[number]):
                scan.verdicts.append(number)
                scan.sure.add(number)
                if number and _RULE.match(lines[number - 1]):
                    scan.own.append(number - 1)
        return scan

    def read(self, log: Log) -> Form | None:
        """Return the messages by file; None if there is no line of pylint's own."""
        scan = self.scan(log)
        if not scan.found and not scan.sure:
            return None
        words = joined(log.lines[number] for number in sorted(scan.verdicts))
        sorts = [each.where for each in scan.found]
        counts = {noun: sorts.count(sort) for sort, noun in SORTS.items() if sort in sorts}
        counts = {"messages": len(sorts), **counts}
        return checked(self.name, scan.found, verdict=words, noun="message", counts=counts)

    def bridged(self, lines: Sequence[str], start: int, stop: int) -> bool:
        """Whether the lines are source, repeated code, or the tables of a report."""
        if stop - start > _BLOCK:
            return False
        if start < stop and lines[start].startswith("=="):
            return True
        if any(_REPORT.match(line) for line in lines[start : start + 4]):
            return True
        return super().bridged(lines, start, stop)

    def below(self, lines: Sequence[str], last: int) -> int:
        """Return the line after *last*, or after the repeated code below it."""
        if last + 1 < len(lines) and lines[last + 1].startswith("=="):
            for at in range(last + 1, min(last + _BLOCK, len(lines))):
                if lines[at].endswith("(duplicate-code)"):
                    return at + 1
        return last + 1 if _RATED.match(lines[last]) else super().below(lines, last)


def _message(number: int, file: str, text: str, code: str | None) -> Diagnostic:
    """Return a message; where it stands between file and text is the letter of its sort."""
    sort = code[0] if code else ""
    return Diagnostic(number, file, text, sort in ("E", "F"), where=sort)


def _older(log: Log, modules: Sequence[tuple[int, str]]) -> list[Diagnostic]:
    """Return the messages of old text formats, whose file is the module above them."""
    starts, found = [number for number, _ in modules], []
    for number, match in log.matching(_OLD):
        at = bisect_right(starts, number) - 1
        if at >= 0:
            module = modules[at][1]
            text = f"{module}: {log.lines[number]}"
            found.append(_message(number, module, text, match["code"]))
    return found


REDUCER = Pylint()
