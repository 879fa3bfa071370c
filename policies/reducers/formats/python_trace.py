"""Tracebacks of Python in any log: each distinct one once, with its number and last frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers import tracebacks
from policies.reducers.log import Log
from policies.reducers.traces import Trace, Tracer, frame_lines

__all__ = ["REDUCER", "PythonTrace"]

_HEADER = "Traceback (most recent call last):"
_FATAL = "(most recent call first):"
_SYNTAX = re.compile(
    r"^  File \"[^\"\n]++\", line \d++\n(?: {4}[^\n]*+\n){0,3}"
    r"(?=(?:SyntaxError|IndentationError|TabError): )",
    re.MULTILINE,
)
_AT = re.compile(r"[ \t|]*+File \"[^\"]++\", line \d")
_GROUP = re.compile(r"\s++[|+]")
_RAISED = re.compile(r"(?:[A-Za-z_]\w*+\.)*+[A-Za-z_]\w*+(?:: |:$|$)")
_FAULT = re.compile(
    r"\s*+File \"(?P<file>[^\"\n]++)\", line (?P<line>\d{1,9}) in (?P<name>[^\n]++)"
)
_PREFIX = 240
"""Characters that something may put before each line of a traceback."""
_LINES = 4_000
"""Lines one traceback may have."""
_MESSAGE = 40
"""Lines a message may have."""


class PythonTrace(Tracer):
    """Tracebacks, chained ones as one, groups of exceptions, errors of syntax, fatal errors.

    Each line may stand behind something that a logger or a container put there. A failure is the
    innermost frame in the project and the type of the exception.
    """

    name = "python-trace"
    hints = (_HEADER, "SyntaxError: ", "IndentationError: ", "TabError: ", _FATAL)
    noun = "traceback"

    def traces(self, log: Log) -> Iterator[Trace]:
        """Yield the tracebacks in *log*, in order."""
        stop = 0
        for start, fatal in _starts(log):
            if start < stop:
                continue
            trace = _fatal(log, start) if fatal else _traceback(log, start)
            if trace is not None:
                stop = trace.stop
                yield trace


def _starts(log: Log) -> list[tuple[int, bool]]:
    """Return the lines at which something begins, and whether that is a fatal error."""
    found: dict[int, bool] = {}
    for word in (_HEADER, _FATAL):
        at = log.text.find(word)
        while at >= 0:
            found[log.line_at(at)] = word == _FATAL
            at = log.text.find(word, at + 1)
    for line, _ in log.matching(_SYNTAX):
        found.setdefault(line, False)
    return sorted(found.items())


def _traceback(log: Log, start: int) -> Trace | None:
    """Return the traceback whose header, or only frame, is line *start*, with its chain."""
    lines = log.lines
    cut = _prefix(lines, start)
    if cut is None:
        return None
    stop = _end(lines, start, cut)
    while (following := _chained(lines, stop, cut)) is not None:
        stop = _end(lines, following, cut)
    text = "\n".join(
        lines[at][cut:] if at > start or _own(lines[at]) else _HEADER for at in range(start, stop)
    )
    found = tracebacks.read(text)
    if found is None:
        return None
    inner = found.innermost
    key = (inner.file, inner.line, found.type) if inner else (found.type,)
    where = f'File "{inner.file}", line {inner.line}' if inner else ""
    return Trace(start, stop, key, found.message, where, frame_lines(found.frames, inner))


def _own(line: str) -> bool:
    return line.lstrip(" |+").startswith(("Traceback", "Exception Group", "File "))


def _prefix(lines: Sequence[str], start: int) -> int | None:
    """Return how many characters stand before each line below *start*; None if it is no header."""
    if _AT.match(lines[start]):
        return 0
    if start + 1 >= len(lines):
        return None
    below = lines[start + 1][: _PREFIX + 400]
    if _AT.match(below) or below.startswith(("  + Exception", "  | ")):
        return 0
    at = below.find('  File "')
    if 0 < at <= _PREFIX and _AT.match(below[at:]):
        return at
    return None


def _end(lines: Sequence[str], start: int, cut: int) -> int:
    """Return the line after what was raised below the header at *start*."""
    at = start + 1
    last = min(len(lines), start + _LINES)
    if "+ Exception Group" in lines[start]:
        while at < last and _GROUP.match(lines[at][cut:]):
            at += 1
        return at
    while at < last and _below(lines[at][cut : cut + 40]):
        at += 1
    if at >= last or not _RAISED.match(lines[at][cut : cut + 400]):
        return at
    at += 1
    last = min(last, at + _MESSAGE)
    while at < last and (line := lines[at][cut:])[:1] in (" ", "\t"):
        if not line.strip() or _AT.match(line):
            break
        at += 1
    return at


def _below(line: str) -> bool:
    """Whether a line that begins so is one of the frames' of a traceback."""
    return line[:1] in (" ", "\t") or line.startswith("[Previous line repeated ")


def _chained(lines: Sequence[str], stop: int, cut: int) -> int | None:
    """Return the line of the header that goes on with the traceback ended at *stop*."""
    for at in range(stop, min(stop + _MESSAGE, len(lines))):
        if _HEADER in lines[at]:
            return None
        if tracebacks.CHAIN.match(lines[at][cut:]):
            near = range(at + 1, min(at + 4, len(lines)))
            return next((n for n in near if _HEADER in lines[n]), None)
    return None


def _fatal(log: Log, start: int) -> Trace | None:
    """Return the frames, innermost first, of a fatal error of the interpreter."""
    lines = log.lines
    at = start + 1
    frames = []
    while at < len(lines) and (match := _FAULT.match(lines[at])):
        frames.append(tracebacks.Frame(match["file"], int(match["line"]), match["name"]))
        at += 1
    if not frames:
        return None
    frames.reverse()
    above = range(max(0, start - 4), start)
    first = next((n for n in above if "Fatal Python error: " in lines[n]), start)
    said = [lines[first].strip()]
    inner = tracebacks.innermost(frames)
    place = inner or frames[-1]
    where = f'File "{place.file}", line {place.line}'
    key = (place.file, place.line, said[0])
    return Trace(first, at, key, said, where, frame_lines(frames, inner))


REDUCER = PythonTrace()
