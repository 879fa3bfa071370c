"""Tracebacks of Python: their frames, what was raised, and the innermost frame of the project."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

__all__ = [
    "CHAIN",
    "Frame",
    "Link",
    "Traceback",
    "chain",
    "in_project",
    "innermost",
    "pytest_frames",
    "raised_type",
    "read",
]

_FRAME = re.compile(
    r'^[ \t|]*+File "(?P<file>[^"\n]++)", line (?P<line>\d++)(?:, in (?P<name>[^\n]++))?'
    r"(?=$|\n)(?:\n(?![ \t|]*+File \")(?P<source>[ \t|]+\S[^\n]*+))?",
    re.MULTILINE,
)
_PLACE = re.compile(
    r"^(?!E {2})(?P<file>(?:[A-Za-z]:[\\/])?[^\s:>|][^:\n]*+):(?P<line>\d++)"
    r"(?::(?: in (?P<name>[^\n]++)| (?P<type>[A-Za-z_][\w.]*+))?)?[ \t]*+$"
    r"(?:\n[ \t]++(?P<source>[^\s][^\n]*+))?",
    re.MULTILINE,
)
CHAIN = re.compile(
    r"^(?P<margin>[ \t|]*+)"
    r"(?:(?P<direct>The above exception was the direct cause of the following exception:)"
    r"|During handling of the above exception, another exception occurred:)[ \t]*+$",
    re.MULTILINE,
)
_GROUP = re.compile(r"^[ \t|]*+\+-\+-{3,}+ \d++ -{3,}+$", re.MULTILINE)
_MEMBER = re.compile(r"^[ \t|]*+\+-(?:\+-)?-{3,}+ (?:\d++|\.{3}) -{3,}+$", re.MULTILINE)
_RAISED = re.compile(r"^(?:[A-Za-z_]\w*+\.)*+[A-Za-z_]\w*+(?=:|$)")
_NAMED = re.compile(r"(?:Error|Exception|Warning|Exit|Interrupt|Failed|Skipped|Group|Failure)$")
_MARGIN = re.compile(r"^[ \t|]*+")


@dataclass(frozen=True, slots=True)
class Frame:
    """One entry of a traceback, as printed: the path, the line, the function, the source line."""

    file: str
    line: int
    name: str = ""
    source: str = ""

    @property
    def place(self) -> str:
        """The path and the line, joined by a colon."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Link:
    """Another exception that a traceback tells of: *how* it belongs to it, and what was raised.

    *said* is the line with its type, as printed, *place* the innermost frame in the project.
    """

    how: str
    said: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Traceback:
    """The frames of an exception, outermost first, and what was raised.

    *type* is the name of the exception as printed, "" if none is; *message* the lines that say
    what was raised, the first of them with its type; *links* what came before it in a chain, the
    first cause first, and then the members of a group.
    """

    frames: tuple[Frame, ...]
    type: str
    message: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def innermost(self) -> Frame | None:
        """The last frame in the project; without one the last of all, None without any."""
        return innermost(self.frames)


def innermost(frames: Sequence[Frame]) -> Frame | None:
    """Return the last of *frames* that is in the project, else the last, None without any."""
    own = (frame for frame in reversed(frames) if in_project(frame.file))
    return next(own, frames[-1] if frames else None)


@lru_cache(maxsize=4096)
def in_project(path: str) -> bool:
    """Whether *path* is neither an installed package, nor the standard library, nor made up.

    By the layout of installations: site-packages, dist-packages, lib/pythonX.Y and, on Windows,
    Lib below a folder of a Python; ``<frozen …>`` and ``<string>`` are no files.
    """
    if path.startswith("<"):
        return False
    parts = path.lower().replace("\\", "/").split("/")
    if "site-packages" in parts or "dist-packages" in parts or "lib-python" in parts:
        return False
    for at, part in enumerate(parts[:-1]):
        if part in ("lib", "lib64") and parts[at + 1].startswith(("python", "pypy")):
            return False
        if part == "lib" and "\\" in path and _any_python(parts[:at]):
            return False
    return not any(part.startswith("python") and part.endswith(".zip") for part in parts)


def _any_python(parts: Iterable[str]) -> bool:
    return any("python" in part or "conda" in part or "pypy" in part for part in parts)


def read(text: str) -> Traceback | None:
    """Return the traceback *text* holds, the last of a chain; None without a frame.

    *text* is one traceback and no more: from its frames on, all that follows the last source line
    is what was raised. Of a group of exceptions the group itself is read, its members are links.
    """
    parts = chain(text)
    found = _read(parts[-1][0])
    if found is None:
        return _read(text)
    earlier = (_link(how, _read(part)) for part, how in parts[:-1])
    links = tuple(link for link in earlier if link)
    return replace(found, links=links + found.links) if links else found


def chain(text: str) -> list[tuple[str, str]]:
    """Return the tracebacks of the chain *text*, first cause first, with how each led to the next.

    A chain inside a member of a group of exceptions is no chain of the group.
    """
    first = _FRAME.search(text)
    margin = _width(first[0]) if first else 0
    parts, at = [], 0
    for match in CHAIN.finditer(text):
        if _width(match["margin"]) <= margin:
            how = "caused by" if match["direct"] else "while handling"
            parts.append((text[at : match.start()], how))
            at = match.end()
    return [*parts, (text[at:], "")]


def _link(how: str, found: Traceback | None) -> Link | None:
    """Return the exception *found* as it is told in a chain; None if nothing was raised."""
    if found is None or not found.message:
        return None
    frame = found.innermost
    return Link(how, found.message[0].strip(), frame.place if frame else "")


def _read(text: str) -> Traceback | None:
    inner = _GROUP.search(text)
    members: tuple[Link, ...] = ()
    if inner:
        members = tuple(_members(text[inner.start() :]))
        text = text[: inner.start()]
    frames = list(_FRAME.finditer(text))
    if not frames:
        return None
    margin = _width(frames[0][0])
    message = _message(text[frames[-1].end() :].split("\n")[1:], margin)
    return Traceback(
        tuple(
            Frame(m["file"], int(m["line"][:9]), m["name"] or "", _bare(m["source"] or ""))
            for m in frames
        ),
        raised_type(message),
        message,
        members,
    )


def _members(text: str) -> Iterator[Link]:
    """Yield the exceptions of a group, whose first title *text* begins with."""
    for part in _MEMBER.split(text)[1:]:
        said = chain(part)[-1][0]
        found = _read(said)
        if found is None:
            lines = (_bare(line).strip() for line in said.split("\n"))
            raised = next((line for line in lines if _RAISED.match(line)), "")
            if raised:
                yield Link("with", raised)
        else:
            link = _link("with", found)
            if link:
                yield link


def _width(line: str) -> int:
    """Return how many characters stand before *line* and its indent."""
    return len(_margin(line).rstrip(" \t"))


def _margin(line: str) -> str:
    found = _MARGIN.match(line)
    return found[0] if found else ""


def _bare(line: str) -> str:
    return line.lstrip(" \t|")


def _message(lines: Sequence[str], margin: int) -> tuple[str, ...]:
    """Return the lines of what was raised: from the first that is not indented below a frame."""
    bare = [line[margin:] if margin else line for line in lines]
    if margin:
        bare = [line.removeprefix(" ") for line in bare]
    for at, line in enumerate(bare):
        if line[:1].strip() and not line.startswith("[Previous line repeated"):
            kept = bare[at:]
            while kept and not kept[-1].strip():
                kept.pop()
            return tuple(kept)
    return ()


def pytest_frames(text: str) -> tuple[tuple[Frame, ...], str]:
    """Return the frames that pytest prints as ``path:line:``, and the type behind the last.

    The source line stands below a frame, or above it, marked with ``>``.
    """
    frames, kind, at = [], "", 0
    for match in _PLACE.finditer(text):
        source = match["source"] if match["name"] else _marked(text[at : match.start()])
        frames.append(
            Frame(match["file"], int(match["line"][:9]), match["name"] or "", _bare(source or ""))
        )
        kind, at = match["type"] or "", match.end()
    return tuple(frames), kind


def _marked(text: str) -> str:
    """Return the last line of *text* that pytest marks as the one that was running."""
    start = text.rfind("\n>", 0) + 1
    if start == 0 and not text.startswith(">"):
        return ""
    line = text[start:].partition("\n")[0]
    return line[1:].strip() if line[1:4].isspace() else ""


def raised_type(message: Sequence[str]) -> str:
    """Return the name of the exception that the first line of *message* with one begins with.

    A line ``assert …``, as pytest prints an assertion, names AssertionError.
    """
    first = ""
    for number, line in enumerate(message):
        found = _RAISED.match(line)
        if found and (number == 0 or _NAMED.search(found[0])):
            first = first or found[0]
            if _NAMED.search(found[0]):
                return found[0]
        elif line.startswith("assert ") and number == 0:
            return "AssertionError"
    return first
