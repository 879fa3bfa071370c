"""Stacks of JavaScript: their frames, what was thrown, and the innermost frame of the project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from policies.reducers.room import clip
from policies.reducers.tracebacks import Frame

__all__ = [
    "FRAME",
    "Stack",
    "frame_of",
    "in_project",
    "innermost",
    "outermost_first",
    "read",
    "thrown_type",
]

FRAME = re.compile(r"^[ \t|│]*+(?:at|❯) (?P<what>[^\n]++)$", re.MULTILINE)
"""A line of a stack, as V8 or vitest prints it."""

_COLUMN = re.compile(r"\d{1,9}")
_AS = re.compile(r" \[as [^\]\n]{1,200}\]$")
_CODE = re.compile(r"\s*+>?\s*+\d++ ?\||\s*+\|\s*+\^[\s^~]*+$|\s*+\|\s*+$")
_EXCERPT = re.compile(
    r"^[ \t>]{0,40}(?P<line>\d{1,9}) ?\|(?P<source>[^\n]*+)\n[ \t]*+\|[ \t]*+\^", re.MULTILINE
)
"""The line of the source that a caret points at, in the excerpts of Jest and vitest."""

_THROWN = re.compile(
    r"(?:Uncaught |Unhandled |error: |\(in promise\) |\[cause\]: |thrown: )*+"
    r"(?P<type>[A-Za-z_$][\w$.]{0,120})(?: \[[^\]\n]{1,60}\])?(?=:|$)"
)
_NAMED = re.compile(r"(?:Error|Exception|Rejection|Failure|Warning)$")
_OUTSIDE = ("node:", "internal/", "native", "<", "bun:", "deno:", "ext:", "index ", "eval ")
_PARTS = ("node_modules", ".yarn", ".pnpm", ".pnp.cjs", ".pnp.loader.mjs", "__cypress")
_NODE_FILES = frozenset(
    ("timers.js", "module.js", "events.js", "net.js", "fs.js", "domain.js", "_stream_readable.js",
     "bootstrap_node.js", "child_process.js", "vm.js", "assert.js")
)  # fmt: skip
"""Names without a folder that old versions of Node print for files of their own."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The frames of an error, outermost first, and what was thrown.

    *type* is the name of the error as printed, "" if none is; *message* the lines above the
    frames, without excerpts of the source.
    """

    frames: tuple[Frame, ...]
    type: str
    message: tuple[str, ...] = ()

    @property
    def innermost(self) -> Frame | None:
        """The last frame in the project, None if no frame is."""
        return innermost(self.frames)


def innermost(frames: Sequence[Frame]) -> Frame | None:
    """Return the last of *frames*, outermost first, that is in the project."""
    return next((frame for frame in reversed(frames) if in_project(frame.file)), None)


@lru_cache(maxsize=4096)
def in_project(path: str) -> bool:
    """Whether *path* is neither an installed package nor a part of the runtime."""
    if path.startswith(_OUTSIDE) or path in _NODE_FILES:
        return False
    parts = path.replace("\\", "/").split("/")
    return not any(part in _PARTS for part in parts)


def frame_of(what: str) -> Frame | None:
    """Return the frame that stands behind ``at`` or the pointer; None if there is no place in it.

    It is ``function (file:line:column)``, ``file:line:column`` or ``function file:line:column``.
    """
    what = clip(what.strip(), 2_000).removeprefix("async ")
    what = what.removesuffix(" {").rstrip()
    name = ""
    if what.endswith(")"):
        at = what.find(" (")
        if at < 0:
            return None
        name, what = what[:at], what[at + 2 : -1]
        if what.startswith("eval at "):
            what = what.rpartition(", ")[2]
    file, _, line = what.rpartition(":")
    above, _, number = file.rpartition(":")
    if above and _COLUMN.fullmatch(number):
        file, line = above, number
    if not file or not _COLUMN.fullmatch(line):
        return None
    if not name and " " in file and "/" not in file.partition(" ")[0]:
        name, _, file = file.rpartition(" ")
    return Frame(file, int(line), _AS.sub("", name))


def read(text: str, frame: re.Pattern[str] = FRAME) -> Stack | None:
    """Return the stack that *text* holds; None without a line of text.

    *text* is one error and no more: its message, then its frames, each a match of *frame*.
    """
    matches = list(frame.finditer(text))
    frames = [found for match in matches if (found := frame_of(match["what"]))]
    first = next((match for match in matches if frame_of(match["what"])), None)
    message = _message(text[: first.start()] if first else text)
    if not message and not frames:
        return None
    return Stack(outermost_first(frames, text), thrown_type(message), message)


def outermost_first(frames: Sequence[Frame], text: str = "") -> tuple[Frame, ...]:
    """Return *frames*, innermost first, in the other order, one with the source *text* points at.

    What called the project's outermost frame, a loader or a runner of tests, is left out.
    """
    found = _EXCERPT.search(text)
    own = [number for number, frame in enumerate(frames) if in_project(frame.file)]
    if not own:
        return tuple(reversed(frames))
    every = list(frames[: own[-1] + 1])
    if found and every[own[0]].line == int(found["line"]):
        every[own[0]] = replace(every[own[0]], source=found["source"].strip())
    return tuple(reversed(every))


def _message(text: str) -> tuple[str, ...]:
    """Return the lines of *text* without blank ends, their common indent and the source."""
    lines = [line for line in text.rstrip().split("\n") if not _CODE.match(line[:200])]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return tuple(line[indent:].rstrip() for line in lines)


def thrown_type(message: Iterable[str]) -> str:
    """Return the name of the error with which the first line of *message* with one begins."""
    for line in message:
        found = _THROWN.match(line.lstrip()[:300])
        if found and _NAMED.search(found["type"]):
            return found["type"]
        if line.strip():
            return ""
    return ""
