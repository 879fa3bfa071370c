"""Stacks of JavaScript in any log: each distinct error once, with its number and last frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers import js_stack
from policies.reducers.log import Log
from policies.reducers.traces import Bounds, Trace, Tracer, frame_lines

__all__ = ["REDUCER", "JsTrace"]

_AT = re.compile(r"^[ \t|│]*+at (?P<what>[^\n]*+(?<=[0-9){]))$", re.MULTILINE)
_ANY = re.compile(r"[ \t|│]++at \S|[ \t]++\.\.\. \d++ lines matching cause stack trace \.\.\.")
_NAMED = re.compile(
    r"(?<![\w.])(?:[A-Z]\w{0,80}(?:Error|Exception|Warning|Rejection)|Error)"
    r"(?: \[[^\]\n]{1,60}\])?(?=: |:?\s{0,9}$)"
)
_SOURCE = re.compile(r"(?:file://)?[^\s:][^\n]{0,400}:\d++$")
_CARET = re.compile(r"\s*+\^[\s^~]*+$")
_ABOVE = 12
"""Lines above the first frame among which the one that names the error is looked for."""
_EXCERPT = 6
"""Lines above that with the excerpt of the source that Node prints first."""
_PROPERTIES = 200
"""Lines of an error's own properties, and of its cause, below the frames."""
_UNNAMED = 3
"""Frames by which a stack is known where no line names an error."""
_LONG = 1_000
_WARNING = "UnhandledPromiseRejectionWarning: "
"""What older versions of Node say before an error that nothing handled."""


class JsTrace(Tracer):
    """Errors that V8, Node, Deno or Bun print with their stacks, rejections that none handled.

    A failure is the innermost frame in the project and the type of the error. The excerpt of the
    source above and the error's properties and causes below belong to it.
    """

    name = "js-trace"
    hints = (" at ", "\tat ")

    def bounds(self, log: Log) -> Iterator[Bounds]:
        """Yield the lines of each error; the mark names it."""
        stop = 0
        for line, match in log.matching(_AT):
            if line < stop or js_stack.frame_of(match["what"]) is None:
                continue
            first = line
            while first > stop and _ANY.match(log.lines[first - 1][:_LONG]):
                first -= 1
            named = _named(log.lines, first, stop)
            start = _excerpt(log.lines, named, stop)
            end = _end(log.lines, line)
            if _NAMED.search(log.lines[named][:_LONG]) or end - first >= _UNNAMED:
                stop = end
                yield Bounds(start, named, stop)

    def trace(self, log: Log, at: Bounds) -> Trace | None:
        """Return the error at those lines; its causes are told below its message."""
        line = log.lines[at.mark]
        head = line.partition(_WARNING)[2] or line
        match = _NAMED.search(head[:_LONG])
        body = [head[match.start() :] if match else head, *log.lines[at.mark + 1 : at.stop]]
        causes = [n for n, line in enumerate(body) if n and line.lstrip().startswith("[cause]: ")]
        stack = js_stack.read("\n".join(body[: causes[0]] if causes else body))
        if stack is None or not stack.frames:
            return None
        inner = stack.innermost
        place = inner or stack.frames[-1]
        said = (*stack.message, *(body[n].strip() for n in causes))
        key = (place.file, place.line, stack.type)
        return Trace(key, said, place.place, frame_lines(stack.frames, inner))


def _named(lines: Sequence[str], frame: int, floor: int) -> int:
    """Return the line that names the error whose first frame is *frame*."""
    for at in range(frame - 1, max(floor, frame - _ABOVE) - 1, -1):
        if _ANY.match(lines[at][:_LONG]):
            break
        if _NAMED.search(lines[at][:_LONG]):
            return at
    return frame - 1 if frame > floor and lines[frame - 1].strip() else frame


def _excerpt(lines: Sequence[str], named: int, floor: int) -> int:
    """Return where the excerpt of the source begins above the line that names the error."""
    above = range(named - 1, max(floor, named - _EXCERPT) - 1, -1)
    caret = next((at for at in above if _CARET.match(lines[at][:_LONG])), None)
    if caret is None or any(lines[at].strip() for at in range(caret + 1, named)):
        return named
    above = range(caret - 1, max(floor, caret - _EXCERPT) - 1, -1)
    return next((at for at in above if _SOURCE.match(lines[at][:_LONG])), named)


def _end(lines: Sequence[str], frame: int) -> int:
    """Return the line after the frames, the properties below them and Node's own last line."""
    stop = frame + 1
    while stop < len(lines) and _ANY.match(lines[stop][:_LONG]):
        stop += 1
    if lines[stop - 1].rstrip().endswith("{"):
        indent = len(lines[stop - 1]) - len(lines[stop - 1].lstrip())
        for at in range(stop, min(stop + _PROPERTIES, len(lines))):
            line = lines[at]
            if line.strip().startswith("}") and len(line) - len(line.lstrip()) < indent:
                stop = at + 1
                break
    for at in range(stop, min(stop + 2, len(lines))):
        if lines[at].startswith("Node.js v"):
            return at + 1
    return stop


REDUCER = JsTrace()
