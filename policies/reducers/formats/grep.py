"""Search results: the first match of each file, then further ones as room allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from policies.reducers.form import Form
from policies.reducers.grouped import Group, Grouped, Piece
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Grep"]

_MATCH = re.compile(r"(?P<file>(?:[A-Za-z]:[\\/])?[^\s:][^:\n]*+):(?P<line>\d++)(?::|$)")
_BARE = re.compile(r"(?P<file>(?:\.{0,2}/)?[\w.@+-]++(?:/[\w.@+\[\]-]++)++):(?!:)")
_HEADED = re.compile(r"\d++(?P<mark>[:-])")
_BINARY = re.compile(r"(?:grep: (?P<file>[^:\n]++): |Binary file (?P<old>[^\n]*) matches$)")
_REPORT = re.compile(
    r"(?:\d++:)? ?(?:(?:fatal )?error|warning|note|info|remark)\b(?=:| TS\d)"
    r"|(?:\d++:)? \[?[A-Z]{1,5}\d{2,5}\b| in [\w<.]"
    r"| [A-Z][A-Za-z]*+(?:(?<=Error)|(?<=Warning)|(?<=Exception))\b"
)
_NAMED = re.compile(r"[\w/\\~.][^:\"'<>|*?\t\n]*+$")
_SUFFIX = re.compile(r"\.\w{1,10}$")
_COUNT = re.compile(r"(?P<file>(?:[A-Za-z]:[\\/])?[^\s:][^:\n]*+):(?P<count>\d++)$")
_LEAST, _LEAST_BARE = 3, 5
"""Matches a search must have to be one, with and without line numbers."""
_AROUND = 40
"""Lines of context before a file's first match that are looked at."""
_BLOCK = 12
"""Lines of context that are shown together."""


@dataclass(slots=True)
class _Hit:
    """A match, or lines around matches: *file* as printed, its lines, whether it is a match."""

    file: str
    at: int
    match: bool


@dataclass(slots=True)
class _File:
    name: str
    first: str = ""
    headed: bool = False
    matches: int = 0
    pieces: list[Piece] = field(default_factory=list)
    context: list[str] = field(default_factory=list)


class Grep:
    """grep -rn and git grep, with and without context or line numbers, and ripgrep's headings."""

    name = "grep"
    kind = "search"
    about = "the first match of each file and how many more it has"
    rank = 20
    hints = ()

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of matches with their context."""
        for span in self._runs(log):
            start, stop = span.start, span.stop
            yield Span(start - (log.lines[start - 1 : start] == ["--"]),
                       stop + (log.lines[stop : stop + 1] == ["--"]))  # fmt: skip

    def _runs(self, log: Log) -> Iterator[Span]:
        start = stop = -1
        matches = bare = 0
        for hit in _hits(log.lines):
            if start >= 0 and hit.at > stop and not _bridged(log.lines, stop, hit.at):
                if matches >= _LEAST or bare >= _LEAST_BARE:
                    yield Span(start, stop)
                start = -1
            if start < 0:
                start, matches, bare = hit.at, 0, 0
            if hit.match and not _report(log.lines[hit.at]):
                numbered = _numbered(log.lines[hit.at])
                matches += numbered
                bare += not numbered
            stop = hit.at + 1
        if start >= 0 and (matches >= _LEAST or bare >= _LEAST_BARE):
            yield Span(start, stop)

    def read(self, log: Log) -> Form | None:
        """Return the files in the order of their first match."""
        counted = _counted(log.lines)
        if counted is not None:
            return counted
        files: dict[str, _File] = {}
        for hit in _hits(log.lines):
            line = log.lines[hit.at]
            file = files.setdefault(hit.file, _File(hit.file))
            if hit.match:
                _add(file, line)
            elif line != hit.file:
                file.context.append(line)
                if len(file.context) >= _BLOCK:
                    _close(file)
        for file in files.values():
            _close(file)
        known = [file for file in files.values() if file.matches]
        if not known:
            return None
        matches = sum(file.matches for file in known)
        return Grouped(
            [Group(file.name, file.first, file.pieces, 1) for file in known],
            "match",
            counts={"matches": matches, "files": len(known)},
        )


def _counted(lines: list[str]) -> Grouped | None:
    """Return the files of ``grep -c``, each with its number of matches; None of anything else."""
    said = [line for line in lines if line and line != "--"]
    found = [match for line in said if (match := _COUNT.match(line))]
    names = {match["file"] for match in found}
    if len(found) != len(said) or len(names) != len(said):
        return None
    counts = {match["file"]: int(match["count"][:15]) for match in found}
    known = [match for match in found if counts[match["file"]]]
    empty = len(found) - len(known)
    noun = "file" if empty == 1 else "files"
    matches = sum(counts.values())
    return Grouped(
        [Group(match["file"], match[0], (), counts[match["file"]]) for match in known],
        "match",
        verdict=f"[{empty:,} {noun} without a match left out]" if empty else "",
        counts={"matches": matches, "files": len(known)},
    )


def _add(file: _File, line: str) -> None:
    file.matches += 1
    if file.matches == 1:
        headed = _HEADED.match(line) and not line.startswith(file.name)
        file.first = f"{file.name}\n{line}" if headed else line
        return
    if file.context:
        around = len(file.context)
        file.pieces.append(Piece("\n".join([*file.context, line]), 1, around))
        file.context = []
    else:
        file.pieces.append(Piece(line))


def _close(file: _File) -> None:
    """Make what stands around matches a piece."""
    if file.context:
        file.pieces.append(Piece("\n".join(file.context), 0, len(file.context)))
        file.context = []


def _numbered(line: str) -> bool:
    return _MATCH.match(line) is not None or _HEADED.match(line) is not None


def _report(line: str) -> bool:
    """Whether *line* is rather what a checker, a compiler or a trace says of the place."""
    match = _MATCH.match(line)
    at = match.end() if match else line.find(":") + 1
    return _REPORT.match(line, at) is not None


def _bridged(lines: list[str], stop: int, at: int) -> bool:
    """Whether only separators and blank lines stand between two hits."""
    return at - stop <= 3 and all(line in ("--", "") for line in lines[stop:at])


def _hits(lines: list[str]) -> Iterator[_Hit]:
    """Yield the matches of *lines* and what stands around them, in order."""
    headed = last = ""
    done = 0
    for at, line in enumerate(lines):
        first = line[:1]
        if last and line.startswith(last) and _around(line, last):
            yield _Hit(last, at, False)
            done = at + 1
            continue
        name, match = "", True
        if first.isdigit():
            name, match = _under(lines, at, headed)
            headed = name
        elif line and line != "--":
            headed = ""
        if not name:
            name = _named(line)
        if not name:
            continue
        for before in range(max(done, at - _AROUND), at):
            if _around(lines[before], name) or lines[before] == name:
                yield _Hit(name, before, False)
        yield _Hit(name, at, match)
        done = at + 1
        last = name


def _named(line: str) -> str:
    """Return the path that stands before a match; empty if *line* is none."""
    colon = line.find(":", 2)
    if colon < 0:
        return _other(line) if line.startswith("Binary file ") else ""
    space = line.find(" ", 0, colon)
    if space >= 0 and line[:1] not in ("/", ".") and line[:6] != "grep: ":
        return ""
    if line[colon + 1 : colon + 2].isdigit():
        found = _MATCH.match(line)
        if found and _path(found["file"]):
            return str(found["file"])
    return _other(line)


def _under(lines: list[str], at: int, headed: str) -> tuple[str, bool]:
    """Return the path above line *at* and whether the line is a match; no path for none."""
    above = lines[at - 1] if at else ""
    if not headed and (not above or " " in above or above[0].isdigit() or not _path(above)):
        return "", False
    found = _HEADED.match(lines[at])
    return (headed or above, found["mark"] == ":") if found else ("", False)


def _other(line: str) -> str:
    """Return the path of a match without its number, or of a binary file that matches."""
    found = _BARE.match(line)
    if found and _SUFFIX.search(found["file"]):
        return str(found["file"])
    binary = _BINARY.match(line)
    return str(binary["file"] or binary["old"]) if binary else ""


def _around(line: str, name: str) -> bool:
    """Whether *line* is a line of context in file *name*."""
    if not line.startswith(name):
        return False
    rest = line[len(name) :]
    return rest[:1] == "-" and rest[1:2].isdigit()


def _path(name: str) -> bool:
    """Whether *name* looks like the path of a file."""
    if len(name) > 400 or not _NAMED.match(name) or name.isdigit():
        return False
    if " " in name and not name.startswith(("/", "./", "../")):
        return False
    return "/" in name or "\\" in name or _SUFFIX.search(name) is not None


REDUCER = Grep()
