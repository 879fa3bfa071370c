"""Tracebacks of Python in any log: each distinct one once, with its number and last frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from policies.reducers import tracebacks
from policies.reducers.findings import Item
from policies.reducers.log import Log
from policies.reducers.room import clip
from policies.reducers.testrun import chained
from policies.reducers.tracebacks import Link
from policies.reducers.traces import Bounds, Trace, Tracer, frame_lines

__all__ = ["REDUCER", "PythonTrace"]

_HEADER = "Traceback (most recent call last):"
_FATAL = "(most recent call first):"
_FATAL_ERROR = "Fatal Python error: "
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
_LINKS = 6
"""Exceptions of a chain or a group that are shown beside the last."""
_SAID = 160
"""Characters of what such an exception says."""


@dataclass(slots=True)
class _Chain(Trace):
    """A traceback of several exceptions: *links* are the others, the first cause first."""

    links: Sequence[Link] = ()

    def item(self) -> Item:
        """Return it with its first cause beside what was raised, the chain above the frames."""
        item = Trace.item(self)
        first = self.links[0]
        text = f"{item.text}; {first.how} {clip(first.said, _SAID)}"
        lines = item.detail.split("\n") if item.detail else []
        above = len(lines) - len(self.frames)
        lines[above:above] = list(chained(self.links, _LINKS, _SAID))
        return replace(item, text=text, detail="\n".join(lines))


class PythonTrace(Tracer):
    """Tracebacks, chained ones as one, groups of exceptions, errors of syntax, fatal errors.

    Each line may stand behind something that a logger or a container put there. A failure is the
    innermost frame in the project and the type of the exception.
    """

    name = "python-trace"
    hints = (_HEADER, "SyntaxError: ", "IndentationError: ", "TabError: ", _FATAL)
    noun = "traceback"

    def bounds(self, log: Log) -> Iterator[Bounds]:
        """Yield the lines of each traceback with its chain; the mark is its header."""
        lines, stop = log.lines, 0
        for start, fatal in _starts(log):
            if start < stop:
                continue
            found = _fault(lines, start, stop) if fatal else _traceback(lines, start)
            if found is not None:
                stop = found.stop
                yield found

    def trace(self, log: Log, at: Bounds) -> Trace | None:
        """Return the traceback, or the frames of the fatal error, at those lines."""
        if _FATAL in log.lines[at.mark]:
            return _of_fault(log.lines, at)
        return _of_traceback(log.lines, at)


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


def _traceback(lines: Sequence[str], start: int) -> Bounds | None:
    """Return the traceback whose header, or only frame, is line *start*, with its chain."""
    cut = _prefix(lines, start)
    if cut is None:
        return None
    stop = _end(lines, start, cut)
    while (following := _chained(lines, stop, cut)) is not None:
        stop = _end(lines, following, cut)
    return Bounds(start, start, stop)


def _of_traceback(lines: Sequence[str], at: Bounds) -> Trace | None:
    cut = _prefix(lines, at.start) or 0
    head = lines[at.start][cut:] if _own(lines[at.start]) else _HEADER
    found = tracebacks.read("\n".join([head, *(x[cut:] for x in lines[at.start + 1 : at.stop])]))
    if found is None:
        return None
    inner = found.innermost
    key = (inner.file, inner.line, found.type) if inner else (found.type,)
    where = f'File "{inner.file}", line {inner.line}' if inner else ""
    frames = frame_lines(found.frames, inner)
    if found.links:
        return _Chain(key, found.message, where, frames, found.links)
    return Trace(key, found.message, where, frames)


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
            if "+ Exception Group" in lines[at]:
                break
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


def _fault(lines: Sequence[str], start: int, floor: int) -> Bounds | None:
    """Return the fatal error of the interpreter whose frames stand below line *start*."""
    stop = start + 1
    while stop < len(lines) and _FAULT.match(lines[stop]):
        stop += 1
    if stop == start + 1:
        return None
    above = range(max(floor, start - 4), start)
    first = next((n for n in above if _FATAL_ERROR in lines[n]), start)
    return Bounds(first, start, stop)


def _of_fault(lines: Sequence[str], at: Bounds) -> Trace | None:
    matches = [match for line in lines[at.mark + 1 : at.stop] if (match := _FAULT.match(line))]
    frames = [tracebacks.Frame(m["file"], int(m["line"]), m["name"]) for m in matches[::-1]]
    inner = tracebacks.innermost(frames)
    if inner is None:
        return None
    said = lines[at.start].strip()
    where = f'File "{inner.file}", line {inner.line}'
    return Trace((inner.file, inner.line, said), [said], where, frame_lines(frames, inner))


REDUCER = PythonTrace()
