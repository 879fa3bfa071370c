"""Unified diffs: every file with what was added and removed, then hunks as room allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from policies.reducers.form import Form
from policies.reducers.grouped import Group, Grouped, Piece
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Diff"]

_START = re.compile(
    r"^(?:diff --(?:git|cc|combined) |diff -[a-zA-Z-]+ |Index: |--- [^\n]++\n\+\+\+ |@@@? -\d)",
    re.MULTILINE,
)
_HUNK = re.compile(r"@@ -\d++(?:,(?P<old>\d++))? \+\d++(?:,(?P<new>\d++))? @@")
_COMBINED = re.compile(r"@@@++ (?:-\d++(?:,\d++)? )++\+\d++(?:,\d++)? @@@")
_HEADER = re.compile(
    r"old mode |new mode |deleted file mode |new file mode |copy (?:from|to) |rename (?:from|to) "
    r"|similarity index |dissimilarity index |index [0-9a-f]|--- |\+\+\+ |Binary files |={40}"
    r"|GIT binary patch|(?:literal|delta) \d|mode \d"
)
_GIT = re.compile(r"diff --git (?P<old>\"?a/[^\n]*?\"?) (?P<new>\"?b/[^\n]*\"?)$")
_BEFORE = re.compile(r"^(?:From [0-9a-f]{7,64} |commit [0-9a-f]{7,64}\b)", re.MULTILINE)
_MARKS = frozenset("+- ")
_WORDS = re.compile(r"(?P<removed>\[-[^\n]*?-\])|(?P<added>\{\+[^\n]*?\+\})")
"""What ``git diff --word-diff`` sets within a line, which has no mark before it then."""
_ASTRAY = 20
"""Lines by which the count of a hunk's lines may be wrong where words are shown."""
_PREAMBLE = 400
"""Lines of a commit message and its statistics that may stand before its first file."""
_PIECE = 20
"""Lines of a long hunk that are shown together."""


@dataclass(slots=True)
class _File:
    """One file of a diff: the lines it takes, its names, its hunks as ranges of lines."""

    start: int
    stop: int = 0
    old: str = ""
    new: str = ""
    marks: list[str] = field(default_factory=list)
    hunks: list[Span] = field(default_factory=list)
    added: int = 0
    removed: int = 0


class Diff:
    """Unified diffs of diff, git, svn and hg, patches with their mail headers."""

    name = "diff"
    kind = "diff"
    about = "every file with its counts, then its hunks in turn as far as the room goes"
    rank = 45
    quotes = True
    """What other tools seem to have said within a diff is a file's text."""
    hints = ("diff --", "@@ -", "\n+++ ", "Binary files ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of files, each with the header of its mail or commit."""
        files = [file for file in _files(log) if file.old or file.new]
        if not files:
            return
        heads = [number for number, _ in log.matching(_BEFORE)]
        start, stop, at = -1, -1, 0
        for file in files:
            first = file.start
            while at < len(heads) and heads[at] < file.start:
                if heads[at] >= max(stop, file.start - _PREAMBLE) and first == file.start:
                    first = heads[at]
                at += 1
            if start >= 0 and not _joined(log.lines, stop, first):
                yield Span(start, stop)
                start = -1
            if start < 0:
                start = first
            stop = file.stop
            if log.lines[stop : stop + 1] == ["-- "]:
                stop = min(stop + 2, len(log))
        yield Span(start, stop)

    def read(self, log: Log) -> Form | None:
        """Return its files, in order; of one that is changed twice both changes."""
        files = list(_files(log))
        if not files:
            return None
        added, removed = sum(f.added for f in files), sum(f.removed for f in files)
        hunks = sum(len(f.hunks) for f in files)
        names = len({f.new or f.old for f in files})
        noun = "file" if names == 1 else "files"
        said = [line for line in log.lines[: files[0].start] if line.strip()]
        sums = f"{names:,} {noun} changed, +{added:,} −{removed:,} in {hunks:,} hunks"
        total = f"[{sums}; header lines left out]"
        return Grouped(
            [_group(log.lines, file) for file in files],
            "line",
            head="\n".join(said),
            note=total,
            counts={"files": names, "added": added, "removed": removed, "hunks": hunks},
        )


def _joined(lines: list[str], stop: int, start: int) -> bool:
    """Whether only blank lines or the end of a mail stand between two files of a diff."""
    return start - stop <= 4 and all(
        not line.strip() or line == "-- " or line[:1].isdigit() for line in lines[stop:start]
    )


def _files(log: Log) -> Iterator[_File]:
    """Yield the files of a diff; lines of a file that were read begin none."""
    lines, done = log.lines, 0
    for number, _ in log.matching(_START):
        if number < done:
            continue
        file = _file(lines, number)
        if file is not None:
            yield file
            done = file.stop


def _file(lines: list[str], start: int) -> _File | None:
    """Return the file whose diff begins at line *start*; None if nothing of it is a diff."""
    file = _File(start)
    git = _GIT.match(lines[start])
    if git:
        file.old, file.new = git["old"], git["new"]
    elif lines[start].startswith("Index: "):
        file.new = lines[start][7:].strip()
    elif lines[start].startswith(("diff --cc ", "diff --combined ")):
        file.new = lines[start].split(" ", 2)[2]
    at = start + (_HEADER.match(lines[start]) is None and not lines[start].startswith("@@"))
    while at < len(lines):
        line = lines[at]
        hunk = _HUNK.match(line)
        if hunk:
            take = _words if _by_words(lines, at, hunk) else _hunk
            at = take(lines, at, int(hunk["old"] or 1), int(hunk["new"] or 1), file)
        elif _COMBINED.match(line):
            at = _combined(lines, at, file)
        elif file.hunks or not _HEADER.match(line):
            break
        else:
            at = _header(lines, at, file)
    file.stop = at
    return file if file.hunks or file.marks or git else None


def _header(lines: list[str], at: int, file: _File) -> int:
    """Take a header line into *file*; return the line after it, a binary patch at once."""
    line = lines[at]
    if line.startswith("--- "):
        file.old = _path(line)
    elif line.startswith("+++ "):
        file.new = _path(line)
    elif line.startswith(("rename from ", "copy from ")):
        what, _, name = line.split(" ", 2)
        file.old = name
        file.marks.append("renamed" if what == "rename" else "copied")
    elif line.startswith(("rename to ", "copy to ")):
        file.new = line.split(" ", 2)[2]
    elif line.startswith("new file"):
        file.marks.append("new")
    elif line.startswith("deleted file"):
        file.marks.append("deleted")
    elif line.startswith("old mode"):
        file.marks.append("mode changed")
    elif line.startswith(("Binary files ", "GIT binary patch")):
        file.marks.append("binary")
        at += 1
        while line.startswith("GIT") and at < len(lines) and not _START.match(lines[at]):
            at += 1
        return at
    return at + 1


def _path(line: str) -> str:
    """Return the path of a ``---`` or ``+++`` line, without its time; empty for none."""
    path = line[4:].split("\t", 1)[0].rstrip()
    return "" if path == "/dev/null" else path


def _hunk(lines: list[str], at: int, old: int, new: int, file: _File) -> int:
    """Take the hunk at line *at* into *file*; return the line after it."""
    start = at
    at += 1
    while at < len(lines) and (old > 0 or new > 0 or lines[at][:1] == "\\"):
        line = lines[at]
        mark = line[:1]
        if mark == "+":
            file.added += 1
            new -= 1
        elif mark == "-":
            file.removed += 1
            old -= 1
        elif mark == " " or not line:
            old, new = old - 1, new - 1
        elif mark != "\\" and not _broken(lines, at):
            break
        at += 1
    file.hunks.append(Span(start, at))
    return at


def _by_words(lines: list[str], at: int, hunk: re.Match[str]) -> bool:
    """Whether the hunk at line *at* shows changed words within lines rather than lines."""
    marked = bare = changed = False
    for line in lines[at + 1 : at + 1 + int(hunk["old"] or 1) + int(hunk["new"] or 1)]:
        if _START.match(line) or _BEFORE.match(line):
            break
        marked = marked or _WORDS.search(line) is not None
        bare = bare or (line[:1] not in _MARKS and line[:1] not in ("", "\\"))
        changed = changed or line[:1] in ("+", "-")
    return marked and (bare or not changed)


def _words(lines: list[str], at: int, old: int, new: int, file: _File) -> int:
    """Take the hunk at line *at*, of changed words, into *file*; return the line after it.

    A line with added words counts as added, one with removed words as removed.
    """
    start = at
    at += 1
    while at < len(lines) and (old > 0 or new > 0):
        line = lines[at]
        if _START.match(line) or _BEFORE.match(line):
            break
        kinds = {match.lastgroup for match in _WORDS.finditer(line)}
        rest = _WORDS.sub("", line).strip() if kinds else line
        file.added += "added" in kinds
        file.removed += "removed" in kinds
        old -= bool(rest) or not kinds or "removed" in kinds
        new -= bool(rest) or not kinds or "added" in kinds
        at += 1
    following = range(at, min(at + _ASTRAY, len(lines)))
    at = next((n for n in following if _START.match(lines[n]) or _BEFORE.match(lines[n])), at)
    file.hunks.append(Span(start, at))
    return at


def _broken(lines: list[str], at: int) -> bool:
    """Whether line *at*, no line of a hunk, stands in one: a line that was broken in two."""
    following = lines[at + 1][:1] if at + 1 < len(lines) else ""
    return following in _MARKS and not _START.match(lines[at])


def _combined(lines: list[str], at: int, file: _File) -> int:
    """Take a hunk of a merge into *file*; a line of it begins with a mark for each parent."""
    start, parents = at, lines[at].index(" ") - 1
    at += 1
    while at < len(lines) and lines[at][:1] in ("+", "-", " ", "\\"):
        marks = lines[at][:parents]
        file.added += "+" in marks
        file.removed += "+" not in marks and "-" in marks
        at += 1
    file.hunks.append(Span(start, at))
    return at


def _group(lines: list[str], file: _File) -> Group:
    name = file.new or file.old or "(no name)"
    marks = list(dict.fromkeys(file.marks))
    if "renamed" in marks or "copied" in marks:
        marks = [f"{mark} from {file.old}" if mark in ("renamed", "copied") else mark
                 for mark in marks]  # fmt: skip
    about = f" ({', '.join(marks)})" if marks else ""
    hunks = f", {len(file.hunks):,} hunks" if len(file.hunks) > 1 else ""
    title = f"{name}{about} +{file.added:,} −{file.removed:,}{hunks}"
    pieces = [
        Piece("\n".join(lines[at : min(at + _PIECE, hunk.stop)]), min(_PIECE, hunk.stop - at))
        for hunk in file.hunks
        for at in range(hunk.start, hunk.stop, _PIECE)
    ]
    return Group(name, title, pieces)


REDUCER = Diff()
