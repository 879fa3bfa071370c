"""ruff: the first violation of each file, in any of its layouts for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from policies.reducers.build import Diagnostic
from policies.reducers.coded import CODES, closes, closing, coded, of_ruff
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Ruff"]

_ARROW = re.compile(
    r" *+--> (?P<place>(?P<file>[^\n]*?\.(?:pyi?|ipynb|toml|md)|-)(?::cell \d++)?:\d++(?::\d++)?)$"
)
_HEADER = re.compile(
    r"(?:[A-Z]{1,8}\d{2,5}|[a-z][a-z0-9]*+(?:-[a-z0-9]++)*+:|SyntaxError:)(?:[ :]|$)"
)
_ROW = re.compile(
    r"\n ++(?P<place>\d++:\d++) ++"
    r"(?P<said>(?:[A-Z]{1,8}\d{2,5} |invalid-syntax: |SyntaxError: ).*+)$",
    re.MULTILINE,
)
_FORMAT = re.compile(r"Would reformat: (?P<file>.++)$")
_FORMATTED = re.compile(r"\d++ files? (?:would be reformatted|already formatted|reformatted)")
_FRAME = re.compile(r"\s|$|\d{1,7} |\||help: |note: |info: |-{8,200}$|::: ")
_PASSED = "All checks passed!"


class Ruff(Checker):
    """``ruff check`` with ``--output-format`` full, concise, grouped, github or pylint.

    Also the older text layout and ``ruff format --check``. The layouts are those of the
    setting ``output-format`` in ruff's documentation.
    """

    name = "ruff"
    rank = 53
    hints = (*CODES, ":\n ", " --> ", "Would reformat: ", " already formatted", _PASSED)
    filler = _FRAME
    bridge = 5_000

    def scan(self, log: Log) -> Scan:
        """Return the lines of all layouts and what closes them."""
        lines, scan = log.lines, Scan()
        scan.found = coded(log)
        if log.has("::error title=", "::warning title="):
            scan.found = [_plain(each) for each in scan.found]
        plain = len(scan.found)
        scan.found += _framed_items(log, scan)
        scan.found += _grouped_items(log, scan)
        for number in lines_with(log, ("Would reformat: ",)):
            if match := _FORMAT.match(lines[number]):
                scan.found.append(Diagnostic(number, match["file"], lines[number]))
        if len(scan.found) > plain:
            scan.found.sort(key=lambda each: each.line)
        scan.verdicts = closing(log)
        for number in lines_with(log, (" reformatted", " already formatted", _PASSED)):
            if _FORMATTED.match(lines[number]) or lines[number] == _PASSED:
                scan.verdicts.append(number)
                scan.sure.add(number)
        return scan

    def claims(self, log: Log, span: Span) -> bool:
        """Whether the lines are not flake8's."""
        return of_ruff(log, span) is not False

    def ends(self, lines: Sequence[str], last: int, number: int) -> bool:
        """Whether the list ends with line *last*: the next line does not close it, too."""
        return closes(lines[last]) and not closes(lines[number])

    def above(self, lines: Sequence[str], first: int) -> int:
        """Return the first of the warnings that stand right above a list."""
        while first > 0 and lines[first - 1].startswith("warning: "):
            first -= 1
        return first

    def below(self, lines: Sequence[str], last: int) -> int:
        """Return the line after the frame under *last*; a closing line ends the list."""
        return last + 1 if closes(lines[last]) else super().below(lines, last)


def _plain(each: Diagnostic) -> Diagnostic:
    """Return what a line of the layout says, without what an annotation puts before it."""
    if not each.text.startswith("::"):
        return each
    return replace(each, text=each.text.partition(" title=")[2].partition("::")[2])


def _framed(line: str) -> bool:
    return bool(line.strip()) and _FRAME.match(line) is not None


def _framed_items(log: Log, scan: Scan) -> Iterator[Diagnostic]:
    """Yield what is laid out as a title, an arrow with the place, and a frame of source."""
    lines = log.lines
    for number in lines_with(log, ("--> ",)):
        match = _ARROW.match(lines[number])
        if match is None or number == 0 or not _HEADER.match(lines[number - 1]):
            continue
        scan.own.append(number)
        text = f"{match['place']}: {lines[number - 1]}"
        yield Diagnostic(number - 1, match["file"], text, detail=below(lines, number, _framed))


def _grouped_items(log: Log, scan: Scan) -> Iterator[Diagnostic]:
    """Yield what stands in a list under its file."""
    lines = log.lines
    file, last = "", -1
    for before, match in log.matching(_ROW):
        number = before + 1
        if number != last + 1:
            head = lines[before]
            file = head[:-1] if head.endswith(":") and not head[:1].isspace() else ""
            if file:
                scan.own.append(before)
        last = number
        if file:
            yield Diagnostic(number, file, f"{file}:{match['place']}: {match['said']}")


REDUCER = Ruff()
