"""JSON in an output: where documents stand, and the value of one that was cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.outline import Value, parse

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["Document", "documents"]

_OPEN = re.compile(
    r"^[ \t]*+(?=\{[ \t]*+(?:$|[\"}])|\[[ \t]*+(?:$|[\"{\[\]]|-?\d[\d.eE+-]*+[ \t]*+(?:[,\]]|$)"
    r"|(?:true|false|null)[ \t]*+(?:[,\]]|$)))",
    re.MULTILINE,
)
_TOKEN = re.compile(r"\"(?:[^\"\\\n]++|\\.)*+(?P<closed>\")?|[\[\]{},:]|[^\s\"\[\]{},:]++")
_CLOSE = {"{": "}", "[": "]"}
_WINDOW = 512
"""Characters that are tried at first: an error costs as much as stands before it."""
_EDGE = 32
"""Characters from the end of what is tried within which an error may come of the cut."""
_TAIL = 200
"""Characters from the end within which an error means that the document was cut off."""
_CUT = 1_000
"""Characters a document that was cut off must have."""


@dataclass(slots=True)
class Document:
    """A JSON value on lines *start* to *stop*; *cut* if the rest of it is missing."""

    start: int
    stop: int
    value: Value
    cut: bool = False


def documents(log: Log) -> Iterator[Document]:
    """Yield the objects and arrays that begin and end with a line."""
    text, at = log.text, 0
    for match in _OPEN.finditer(text):
        start = match.end()
        if start < at:
            continue
        try:
            value, stop = _parse(text, start)
        except RecursionError:
            return
        except ValueError as error:
            at = max(at, start + getattr(error, "pos", 0))
            if len(text) - at < _TAIL and at - start >= _CUT:
                whole = _mended(text, start)
                if whole is not None:
                    yield Document(log.line_at(start), len(log), whole, cut=True)
                    return
            continue
        line_end = text.find("\n", stop)
        line_end = len(text) if line_end < 0 else line_end
        if text[stop:line_end].strip():
            at = stop
            continue
        at = line_end
        yield Document(log.line_at(start), log.line_at(stop) + 1, value)


def _parse(text: str, start: int) -> tuple[Value, int]:
    """Return the value at *start* and where it ends, in time linear in what has to be read.

    Raises ValueError, its ``pos`` counted from *start*, or RecursionError.
    """
    window = _WINDOW
    while True:
        part = text[start : start + window]
        try:
            value, stop = parse(part, 0)
        except json.JSONDecodeError as error:
            whole = start + window >= len(text)
            if whole or not (error.msg.startswith("Unterm") or error.pos >= len(part) - _EDGE):
                raise
        else:
            return value, start + stop
        window *= 4


def _mended(text: str, start: int) -> Value | None:
    """Return the value at *start* up to the last element that is whole, closed where it ends."""
    stack: list[str] = []
    safe, closers = -1, ""
    for token in _TOKEN.finditer(text, start):
        what = token[0]
        if what in _CLOSE:
            stack.append(what)
            safe, closers = token.end(), ""
        elif what in "]}":
            if not stack or _CLOSE[stack.pop()] != what:
                break
            safe, closers = token.end(), ""
        elif what == ",":
            safe, closers = token.start(), ""
        else:
            continue
        if len(stack) < 200:
            closers = "".join(_CLOSE[each] for each in reversed(stack))
    if safe < 0 or not closers:
        return None
    try:
        value, _ = parse(text[start:safe] + closers, 0)
    except (ValueError, RecursionError):
        return None
    return value
