"""Diagnostics of the Java compilers, as javac, Eclipse's compiler, Kotlin and Groovy print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import LEVELS, lines_with

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["ENDINGS", "is_summary", "java_diagnostics"]

ENDINGS = (".java:", ".kt:", ".kts:", ".groovy:", ".scala:", "(at line ")
"""Strings of which every diagnostic of theirs has one."""

_PREFIX = r"[ \t]*+(?:\[[\w-]++\] )?"
_JAVAC = re.compile(
    rf"{_PREFIX}(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:\[][^:\n]*?\.(?:java|groovy|kts?|scala))"
    r"(?P<where>:\d++(?::\d++)?): (?:(?P<level>[^\W\d]\S{0,15}|\ufffd\S{0,15}): ?)?(?P<text>.*)"
)
_KOTLIN = re.compile(
    rf"{_PREFIX}(?P<level>[ew]): (?:file://)?(?P<file>[^\n:(]*(?::[\\/][^\n:(]*)?\.kts?)"
    r"(?P<where>:\d++:\d++|: \(\d++, \d++\))"
)
_GROOVY = re.compile(
    r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+(?<=\.groovy)): (?P<where>\d++): "
)
_ECLIPSE = re.compile(
    rf"{_PREFIX}\d++\. (?P<level>ERROR|WARNING|INFO) in (?P<file>[^\n]++(?<=\))|[^\n]++)"
)
_AT = re.compile(r"(?P<file>.*) \(at line (?P<where>\d++)\)$")
_CARET = re.compile(rf"{_PREFIX}\s*+\^\s*+$")
_SUMMARY = re.compile(
    rf"{_PREFIX}(?:\d{{1,9}} (?:errors?|warnings?|problems?)(?: \([^)\n]*+\))?"
    r"|only showing the first \d++ (?:errors|warnings)[^\n]*)$"
)
_BELOW = 8


def java_diagnostics(log: Log) -> list[Diagnostic]:
    """Return what the compilers said, in the order printed, with details at each file's first."""
    found: list[Diagnostic] = []
    seen: set[tuple[str, bool]] = set()
    for number in lines_with(log, ENDINGS):
        each = _read(log.lines, number)
        if each is None:
            continue
        if (each.file, each.error) not in seen:
            seen.add((each.file, each.error))
            below = _context(log.lines, number)
            each = Diagnostic(number, each.file, each.text, each.error, below, each.where)
        found.append(each)
    return found


def is_summary(line: str) -> bool:
    """Whether *line* is the compiler's own count at its end."""
    return _SUMMARY.match(line) is not None


def _read(lines: Sequence[str], number: int) -> Diagnostic | None:
    line = lines[number]
    match = _KOTLIN.match(line)
    if match:
        return Diagnostic(
            number, match["file"], line.strip(), match["level"] == "e", "", match["where"]
        )
    if "(at line " in line:
        return _eclipse(lines, number)
    match = _JAVAC.match(line)
    if match:
        error = _level(match["level"], match["text"], lines, number)
        if error is not None:
            return Diagnostic(number, match["file"], line.strip(), error, "", match["where"])
        return None
    match = _GROOVY.match(line)
    if match and "@ line " in line:
        return Diagnostic(number, match["file"], line.strip(), True, "", match["where"])
    return None


def _level(level: str | None, text: str, lines: Sequence[str], number: int) -> bool | None:
    """Return whether it is an error; None if it is no diagnostic.

    Old compilers give errors no level, and a level may be in another language or unreadable: then
    the caret below the source line decides that it is a diagnostic, a lint name that it warns.
    """
    if level in LEVELS:
        return LEVELS[level]
    if level is not None and "\ufffd" in level:
        return not text.startswith("[")
    if any(_CARET.match(line) for line in lines[number + 1 : number + 5]):
        return not (level or "").lower().startswith("warn") and not text.startswith("[")
    return None


def _eclipse(lines: Sequence[str], number: int) -> Diagnostic | None:
    match = _ECLIPSE.match(lines[number])
    place = _AT.match(match["file"]) if match else None
    if match is None or place is None or match["level"] == "INFO":
        return None
    said = ""
    for line in lines[number + 1 : number + 1 + _BELOW]:
        if line.strip("\t -") == "" and line.strip():
            break
        said = line.strip() or said
    text = f"{lines[number].strip()}: {said}" if said else lines[number].strip()
    return Diagnostic(
        number, place["file"], text, match["level"] == "ERROR", "", f"line {place['where']}"
    )


def _context(lines: Sequence[str], number: int) -> str:
    """Return the source line, the caret and what else is indented below line *number*."""
    below: list[str] = []
    for line in lines[number + 1 : number + 1 + _BELOW]:
        bare = line.strip()
        if not bare or set(bare) == {"-"} or _SUMMARY.match(line) or _JAVAC.match(line):
            break
        if not (line[0].isspace() or below or _CARET.match(lines[min(number + 2, len(lines) - 1)])):
            break
        below.append(line[:300])
        if _CARET.match(line) and len(below) >= 2:
            continue
    return "\n".join(below)
