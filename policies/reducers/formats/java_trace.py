"""Stack traces of the JVM in any log: each distinct one once, with its number and last frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers import java_stack
from policies.reducers.log import Log
from policies.reducers.stacks import key_of
from policies.reducers.traces import Bounds, Trace, Tracer, frame_lines

__all__ = ["REDUCER", "JavaTrace"]

_MORE = re.compile(
    r"(?:[\w.-]{1,60} {0,20}\| ?|\[[A-Z]{4,7}\] )?+\s*+(?:Suppressed: |Wrapped by: |Caused by: "
    r"|\.\.\. \d++ (?:more|common frames omitted|frames? truncated)|\[CIRCULAR REFERENCE)"
)
_NAMED = re.compile(
    r"(?<![\w.])(?:[A-Za-z_]\w{0,80}\.){1,20}[A-Z][\w$]{0,120}(?=:|\s{0,9}$)"
    r"|(?<![\w.])[A-Z]\w{0,80}(?:Exception|Error)(?=: |\s{0,9}$)"
)
_ABOVE = 12
"""Lines above the first frame among which the one that names what was thrown is looked for."""
_MESSAGE = 30
"""Lines of a cause's message."""
_LONG = 1_000


class JavaTrace(Tracer):
    """Stack traces of Java, Kotlin, Scala and Groovy, with their causes.

    A failure is the innermost frame in the project and the type of the last cause.
    """

    name = "java-trace"
    hints = (".java:", ".kt:", ".scala:", ".groovy:", "(Native Method)", "(Unknown Source)")

    def bounds(self, log: Log) -> Iterator[Bounds]:
        """Yield the lines of each stack trace; the mark names what was thrown."""
        stop = 0
        for line, _ in log.matching(java_stack.FRAME):
            if line < stop:
                continue
            start = _first(log.lines, line, stop)
            stop = _end(log.lines, line)
            yield Bounds(start, start, stop)

    def trace(self, log: Log, at: Bounds) -> Trace | None:
        """Return the stack trace at those lines; None if no frame of it names a line."""
        head = log.lines[at.mark]
        named = _NAMED.search(head[:_LONG])
        body = log.lines[at.mark + 1 : at.stop]
        stack = java_stack.read("\n".join([head[named.start() :] if named else head, *body]))
        if stack is None or not any(frame.line for frame in stack.frames):
            return None
        inner = stack.innermost or stack.frames[-1]
        where = f"{inner.name}({inner.place if inner.line else inner.file})"
        said = stack.message or (head.strip(),)
        return Trace(key_of(stack, inner), said, where, frame_lines(stack.frames, inner))


def _first(lines: Sequence[str], frame: int, floor: int) -> int:
    """Return the line that names what was thrown, above the first *frame*."""
    for at in range(frame - 1, max(floor, frame - _ABOVE) - 1, -1):
        if not lines[at].strip() or java_stack.FRAME.match(lines[at][:_LONG]):
            break
        if _NAMED.search(lines[at][:_LONG]):
            return at
    return frame - 1 if frame > floor and lines[frame - 1].strip() else frame


def _end(lines: Sequence[str], frame: int) -> int:
    """Return the line after the last one that belongs to the trace with *frame*."""
    at = stop = frame + 1
    while at < len(lines):
        if java_stack.FRAME.match(lines[at][:_LONG]) or _MORE.match(lines[at][:_LONG]):
            at = stop = at + 1
        elif at < stop + _MESSAGE and _caused(lines[stop - 1]):
            at += 1
        else:
            break
    return stop


def _caused(line: str) -> bool:
    return "Caused by: " in line[:200] or "Suppressed: " in line[:200]


REDUCER = JavaTrace()
