"""Listings of directories: ls, find, tree and lists of paths."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.tree import Tree

__all__ = ["REDUCER", "Listing"]

_LONG = re.compile(r"[bcdlps-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]? +\d")
_TOTAL = re.compile(r"total \d[\d.,]*+[KMGTP]?$")
_SUMMARY = re.compile(r"\d++ director(?:y|ies)(?:, \d++ files?)?$")
_BRANCH = re.compile(
    r"(?P<indent>(?:[│|][ \u00a0]{2,3}|[ \u00a0]{3,4})*+)[├└|`](?:──|--) (?P<name>.*)$"
)
_NOT_IN_PATHS = re.compile(r"[:;,\"'<>|*?=`{}\t\\]|://| - |  ")
_LEAST = 8
"""Paths in a row that are a list of them."""
_LEAST_LONG = 3
_LEAST_HEADED = 2


class Listing:
    """What ls -R, ls -l, find and tree print."""

    name = "listing"
    kind = "listing"
    about = "every directory with its number of entries, and the first of them"
    rank = 10
    hints = ()

    def find(self, log: Log) -> Iterator[Span]:
        """Yield runs of paths, of branches, of long entries, and of directories with entries."""
        lines = log.lines
        at = 0
        while at < len(lines):
            stop = _run(lines, at)
            if stop:
                yield Span(at, stop)
                at = stop
            else:
                at += 1

    def read(self, log: Log) -> Form | None:
        """Return the directories in order."""
        lines = log.lines
        if any(_BRANCH.match(line) for line in lines[:40]):
            return _branches(lines)
        if any(_header(lines, at) for at in range(min(40, len(lines)))):
            return _recursive(lines)
        if any(_LONG.match(line) for line in lines[:40]):
            return Tree({".": [line for line in lines if line and not _TOTAL.match(line)]})
        return _paths(lines)


def _run(lines: list[str], at: int) -> int:
    """Return the line after the listing that begins at line *at*, 0 if none does."""
    line = lines[at]
    if not line:
        return 0
    if line[0] in "bcdlps-t" and (_LONG.match(line) or _TOTAL.match(line)):
        stop = at + 1
        while stop < len(lines) and _LONG.match(lines[stop]):
            stop += 1
        return stop if stop - at >= _LEAST_LONG else 0
    if line[-1] == ":" and _header(lines, at):
        return _headed_run(lines, at)
    if ("──" in line or "-- " in line) and _BRANCH.match(line):
        return _branch_run(lines, at)
    if at + 1 < len(lines) and _BRANCH.match(lines[at + 1]) and not line[0].isspace():
        return _branch_run(lines, at + 1)
    if "/" in line and _is_path(line):
        stop = at + 1
        while stop < len(lines) and _is_path(lines[stop], inside=True):
            stop += 1
        return stop if stop - at >= _LEAST else 0
    return 0


def _headed_run(lines: list[str], at: int) -> int:
    """Return the line after the last directory of ls -R; each begins with its path and a colon."""
    stop, headers, sure = at, 0, False
    while stop < len(lines):
        header = stop + (not lines[stop])
        if header >= len(lines) or not _header(lines, header):
            break
        headers += 1
        stop = header + 1
        sure = sure or "/" in lines[header] or bool(_TOTAL.match("".join(lines[stop : stop + 1])))
        while stop < len(lines) and lines[stop]:
            stop += 1
    return stop if headers >= _LEAST_HEADED and sure else 0


def _header(lines: list[str], at: int) -> bool:
    """Whether line *at* is the path of a directory with a colon, as ls prints before entries."""
    line = lines[at]
    if line[-1:] != ":" or len(line) > 1_000 or (at and lines[at - 1]):
        return False
    path = line[:-1]
    if not path or path[0].isspace() or ":" in path[2:] or (" " in path and path[0] not in "./"):
        return False
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if not following:
        return "/" in path
    return not following[0].isspace()


def _branch_run(lines: list[str], at: int) -> int:
    stop = at
    while stop < len(lines) and _BRANCH.match(lines[stop]):
        stop += 1
    if stop - at < _LEAST_LONG:
        return 0
    after = stop + (stop < len(lines) and not lines[stop])
    if after < len(lines) and _SUMMARY.match(lines[after]):
        return after + 1
    return stop


def _is_path(line: str, inside: bool = False) -> bool:
    """Whether *line* is nothing but a path; *inside* a list one without a directory may stand."""
    if not line or len(line) > 1_000 or line[0] in " +-#@(" or line[-1] in " .,:)":
        return line in (".", "..")
    if " " in line and not line.startswith(("./", "/")):
        return False
    if "/" not in line and not inside:
        return False
    return line.count(" ") < 6 and not _NOT_IN_PATHS.search(line)


def _paths(lines: list[str]) -> Tree | None:
    entries: dict[str, list[str]] = {}
    for line in lines:
        if line.strip():
            folder, slash, name = line.rstrip("/").rpartition("/")
            entries.setdefault(folder + slash, []).append(name)
    return Tree(entries) if entries else None


def _recursive(lines: list[str]) -> Tree:
    entries: dict[str, list[str]] = {}
    current = entries.setdefault(".", [])
    for at, line in enumerate(lines):
        if _header(lines, at):
            current = entries.setdefault(line[:-1], [])
        elif line and not _TOTAL.match(line):
            current.append(line)
    if not entries["."] and (lines[0] != ".:"):
        del entries["."]
    return Tree(entries)


def _branches(lines: list[str]) -> Tree:
    """Return the tree that the branches draw: each directory with its entries."""
    entries: dict[str, list[str]] = {}
    above: list[str] = ["."]
    verdict = ""
    for line in lines:
        branch = _BRANCH.match(line)
        if branch is None:
            if _SUMMARY.match(line):
                verdict = line
            elif line.strip():
                above = [line.strip()]
            continue
        depth = len(branch["indent"]) // 4 + 1
        name = branch["name"].strip()
        above = above[:depth]
        entries.setdefault("/".join(above), []).append(name)
        above.append(name)
    return Tree(entries, verdict)


REDUCER = Listing()
