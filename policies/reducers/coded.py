"""Lines ``path:row:column: CODE message``: flake8's default layout, which ruff can print, too."""

from __future__ import annotations

import re
from string import ascii_uppercase

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import lines_of
from policies.reducers.log import Log, Span

__all__ = ["CODES", "closes", "closing", "coded", "of_ruff"]

CODES = (*(f": {letter}" for letter in ascii_uppercase), ": [", ": invalid-syntax: ")
"""Strings of which every line in the layout has one."""

_CODE = r"[A-Z]{1,8}\d{2,5}"
_ANCHOR = re.compile(rf": (?:{_CODE}:? |\[{_CODE}\] |invalid-syntax: |SyntaxError: )")
_LINE = re.compile(
    r"(?:##\[(?:error|warning)\]|::(?:error|warning) title=[Rr]uff[^\n]*?::)?"
    r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+(?::cell \d++)?+):\d++(?P<column>:\d++)?+: "
    rf"(?P<code>{_CODE}:? |\[{_CODE}\] |invalid-syntax: |SyntaxError: )"
)
_PYTHON = re.compile(
    r"(?:\.(?:pyi?|pyx|pxd|ipynb(?::cell \d++)?|toml|cfg|ini)|^<stdin>|^stdin|^-)$"
)
_PATH = re.compile(r"[./\\]|^[A-Za-z_]\w*$")
_OLDER = re.compile(r"\[?[EWF]\d")
_SHARED = re.compile(r"f-string|SyntaxError|TokenError|IndentationError")
_FOUND = re.compile(
    r"Found \d++ errors?(?: \(\d++ fixed, \d++ remaining\))?\.|Found \d++ error\(s\)\."
    r"|\[\*\] \d++ (?:potentially )?fixable with|\d++ potentially fixable with the `?--fix"
    r"|No fixes available \(|Fixed \d++ errors?[:.]"
)
_FRAMED = re.compile(r"\s*+(?:\d++ )?\|(?: |$)|\s*+= help: |help: ")
_SAMPLE = 500
"""Lines that are looked at to tell whose they are."""


def coded(log: Log) -> list[Diagnostic]:
    """Return the lines of *log* that are in the layout, in order; *where* is the code."""
    found, lines = [], log.lines
    for number in lines_of(log, _ANCHOR):
        line = lines[number]
        match = _LINE.match(line)
        if match is None:
            continue
        file, column, code = match.group("file", "column", "code")
        if (column and _PATH.search(file)) or _PYTHON.search(file):
            found.append(Diagnostic(number, file, line, where=code))
    return found


def closing(log: Log) -> list[int]:
    """Return the numbers of the lines that close a list of ruff's."""
    candidates = lines_with(log, ("Found ", "fixable with ", "No fixes available (", "Fixed "))
    return [number for number in candidates if closes(log.lines[number])]


def closes(line: str) -> bool:
    """Whether *line* closes a list of ruff's."""
    return _FOUND.match(line) is not None


def of_ruff(log: Log, span: Span) -> bool | None:
    """Whether the lines at *span* are ruff's: by their marks, what closes them, or their wording.

    What ruff took over from pycodestyle and Pyflakes it words with capitals and backquotes. None
    if the first lines there are not in the layout.
    """
    part = log.part(Span(span.start, min(span.stop, span.start + _SAMPLE)))
    run = coded(part)
    if not run:
        return None
    if any(closes(line) for line in log.lines[max(span.start, span.stop - 3) : span.stop + 3]):
        return True
    first = run[0].line
    if run[0].text.startswith("::") or closing(part):
        return True
    if first + 1 < len(part) and _FRAMED.match(part.lines[first + 1]):
        return True
    said = [(each.where, each.text.partition(f": {each.where}")[2]) for each in run]
    if any(code[0] == "i" or message.startswith("[*] ") for code, message in said):
        return True
    words = [
        message
        for code, message in said
        if _OLDER.match(code) and message and not _SHARED.match(message)
    ]
    theirs = sum(word[0].isupper() or word[0] == "`" for word in words)
    return 2 * theirs > len(words)
