"""mypy: the first error of each file, then how many were dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log

__all__ = ["REDUCER", "Mypy"]

_PLACE = r"(?::\d++){1,2}+(?::\d++:\d++)?+"
_LINE = re.compile(
    r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+(?::cell_\d++)?+)"
    rf"(?P<place>{_PLACE})?: (?P<level>error|note|warning):(?: |$)"
)
_PYTHON = re.compile(r"(?:\.pyi?|\.ipynb(?::cell_\d++)?|<string>|<unknown>)$")
_CODE = re.compile(r"  ?\[[a-z][a-z0-9-]*+\]$")
_APART = re.compile(r"\S  \[[a-z][a-z0-9-]*+\]$")
_WRAPPED_CODE = re.compile(r"(?:^| )\[[a-z][a-z0-9-]*+\]$")
_WORDS = (
    "errors in ",
    "error in ",
    "Success: no issues found in ",
)
_VERDICT = re.compile(
    r"Found \d++ errors? in \d++ (?:source )?files?(?: \(|$)"
    r"|Success: no issues found in \d++ (?:source )?files?"
)
_DAEMON = re.compile(r"Daemon (?:started|stopped|has died|is up and running)|Restarting: ")
_USAGE = re.compile(r"usage: ", re.IGNORECASE)
_CARETS = re.compile(r"\s+\^[~^.]*+$")
_WRAPS = 60
"""Lines over which one message may be wrapped."""


class Mypy(Checker):
    """mypy's report: plain or pretty, with columns, ends, context, and from the daemon.

    The layout is that of "The mypy command line", section "Configuring error messages".
    """

    name = "mypy"
    kind = "typecheck"
    rank = 52
    hints = (": error:", "Success: no issues found in ", ": note: ")

    def scan(self, log: Log) -> Scan:
        """Return errors, notes and summaries; a wrapped message is one error."""
        lines, scan = log.lines, Scan()
        weak: list[Diagnostic] = []
        numbers = lines_with(log, (": error:", ": note: "))
        known, seen = set(numbers), set()
        for number in numbers:
            match = _LINE.match(lines[number])
            if match is None:
                continue
            if match["level"] != "error":
                scan.own.append(number)
                continue
            file, text, detail = match["file"], lines[number], ""
            wrapped = _wrapped(lines, number, known)
            if wrapped > number:
                text = " ".join(part.strip() for part in lines[number : wrapped + 1])
                scan.own += range(number + 1, wrapped + 1)
            if file not in seen:
                seen.add(file)
                detail = below(lines, wrapped, _source)
            each = Diagnostic(number, file, text, detail=detail)
            (scan.found if _sure(match, lines[wrapped]) else weak).append(each)
        for number in lines_with(log, _WORDS):
            if _VERDICT.match(lines[number]):
                scan.verdicts.append(number)
                scan.sure.add(number)
        scan.own += [n for n in lines_with(log, ("Daemon ",)) if _DAEMON.match(lines[n])]
        if weak and (scan.found or scan.verdicts):
            scan.found += [each for each in weak if not _of_a_parser(lines, each.line)]
            scan.found.sort(key=lambda each: each.line)
        return scan


def _sure(match: re.Match[str], end: str) -> bool:
    """Whether no tool but mypy prints the error: with a place in Python, or with its code.

    *end* is the line at which the message ends; two spaces stand before a code there.
    """
    if not match["place"]:
        return False
    return bool(_PYTHON.search(match["file"]) or _APART.search(end))


def _of_a_parser(lines: Sequence[str], number: int) -> bool:
    """Whether the line is a command's complaint about its arguments: a usage stands above."""
    return any(_USAGE.match(line) for line in lines[max(0, number - 12) : number])


def _wrapped(lines: Sequence[str], number: int, known: set[int]) -> int:
    """Return the last line of the message at line *number*: a pretty one is wrapped.

    It goes on up to a line that ends with the error's code, or up to its source line and carets.
    """
    if _CODE.search(lines[number]):
        return number
    for at in range(number + 1, min(number + _WRAPS, len(lines))):
        line = lines[at]
        if not line or at in known:
            return number
        if line.startswith("    "):
            marked = at + 1 < len(lines) and _CARETS.match(lines[at + 1])
            return at - 1 if marked else number
        if _VERDICT.match(line):
            return number
        if _WRAPPED_CODE.search(line):
            return at
    return number


def _source(line: str) -> bool:
    """Whether *line* stands below an error: its source line, the carets, or a note."""
    if line.startswith("    "):
        return True
    match = _LINE.match(line) if ": note: " in line else None
    return match is not None and bool(match["place"])


REDUCER = Mypy()
