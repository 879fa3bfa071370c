"""The failed tests that Rust's libtest and cargo-nextest print, each with its panic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from policies.reducers.compilers import lines_with
from policies.reducers.findings import Item
from policies.reducers.log import Log

__all__ = ["failed_tests"]

_PANIC = re.compile(r"\s*+thread '(?P<name>[^'\n]++)'(?: \(\d++\))? panicked at (?P<rest>.*)")
_AT = re.compile(r"(?P<place>\S.*:\d++:\d++):?$")
_FAILED = re.compile(r"test (?P<name>\S.*) \.\.\. FAILED$")
_NEXTEST = re.compile(
    r" {2,12}(?:FAIL|SIGABRT|TIMEOUT) \[[^\]\n]*+\] (?:\([^)\n]*+\) )?(?P<name>\S.*)"
)
_STDOUT = re.compile(
    r"---- (?P<name>\S.*) std(?:out|err) ----$|-{3,4} STD(?:OUT|ERR): ++(?P<next>\S.*)"
)
_MODES = (" - should panic", " - compile fail", " - compile")
"""What libtest adds to a name in its list, and nowhere else."""
_SAID = re.compile(r"(?:note: test did not panic|note: panic did not|Error: |error(?:\[\w++\])?: )")
_ENDS = ("note: run with", "note: Some details", "thread '", "---- ", "failures:", "test result: ")
_BELOW = 8
"""Lines of a panic's message."""
_OUTPUT = 200
"""Lines of one test's output among which what it failed by is looked for."""
_TRACE = 400
"""Lines of one stack backtrace."""
_FRAMES = 3
"""Frames of the project that are kept, the innermost."""


@dataclass(frozen=True, slots=True)
class _Cause:
    place: str
    message: str
    detail: str


def failed_tests(log: Log) -> list[Item]:
    """Return the failed tests of *log*, those with one place of panic under one key.

    A test that failed without a panic of its own goes by what its output says; it is named as in
    the list of failures, without how it was meant to end.
    """
    lines = log.lines
    panics = _panics(log)
    items: dict[str, Item] = {}
    for number in lines_with(log, (" ... FAILED", "std", "STD", "FAIL [", "SIGABRT", "TIMEOUT")):
        name, printed = _named(lines[number])
        if not name:
            continue
        cause = panics.get(name) or panics.get(name.rpartition(" ")[2])
        headed = printed and lines[number].startswith(("---- ", "--- "))
        if headed and cause is None:
            cause = _unpanicked(lines, number)
        old = items.get(name)
        if old is not None and (old.key != name or cause is None):
            continue
        if old is None and headed and cause is None:
            continue
        items[name] = _item(name, lines[number].strip(), cause)
    return list(items.values())


def _named(line: str) -> tuple[str, bool]:
    """Return the name of the test that *line* is about, and whether its output stands below."""
    match = _FAILED.match(line) or _NEXTEST.match(line)
    if match:
        name = match["name"].rstrip(" -")
        mode = next((mode for mode in _MODES if name.endswith(mode)), "")
        return name.removesuffix(mode), False
    match = _STDOUT.match(line)
    return (match[match.lastindex or 0].rstrip(" -"), True) if match else ("", False)


def _item(name: str, line: str, cause: _Cause | None) -> Item:
    if cause is None:
        return Item(line, key=name, names=(name,))
    where = f"panicked at {cause.place}: " if cause.place else ""
    text = f"{name}: {where}{cause.message}"
    return Item(text, key=cause.place or name, detail=cause.detail, names=(name,))


def _panics(log: Log) -> dict[str, _Cause]:
    """Return the first panic of each thread, which has the name of its test."""
    lines = log.lines
    panics: dict[str, _Cause] = {}
    for number in lines_with(log, ("panicked at ",)):
        match = _PANIC.match(lines[number])
        if not match or match["name"] in panics:
            continue
        said, _, place = match["rest"].rpartition(", ")
        old = _AT.match(place) if said else None
        new = _AT.match(match["rest"])
        below = [line for line in lines[number + 1 : number + 1 + _BELOW] if line.strip()]
        if old:
            place, message = old["place"], said
        elif new:
            place, message = new["place"], below[0].strip() if below else ""
            below = below[1:]
        else:
            place, message = "", match["rest"]
        stop = next((n for n, line in enumerate(below) if _ends(line)), len(below))
        detail = [line[:300] for line in below[:stop]]
        detail += _frames(lines, number)
        panics[match["name"]] = _Cause(place, message, "\n".join(detail))
    return panics


def _frames(lines: Sequence[str], number: int) -> list[str]:
    """Return the innermost frames in the project of the backtrace below line *number*."""
    start = next(
        (
            at
            for at in range(number + 1, min(number + 2 * _BELOW, len(lines)))
            if lines[at].startswith("stack backtrace:")
        ),
        -1,
    )
    frames: list[str] = []
    for at in range(start + 1, min(start + _TRACE, len(lines))) if start >= 0 else ():
        if not lines[at].startswith(" ") or len(frames) == _FRAMES:
            break
        word, _, place = lines[at].strip().partition(" ")
        if word == "at" and _in_project(place):
            function = lines[at - 1].strip().partition(": ")[2]
            frames.append(f"  at {place[:300]} in {function[:200]}")
    return frames


def _in_project(place: str) -> bool:
    """Whether *place* is in the project: cargo builds its own crates by relative paths."""
    relative = place[:1] not in ("/", "\\") and place[1:2] != ":"
    return relative and place[-1:].isdigit() and "/.cargo/registry/" not in place


def _unpanicked(lines: Sequence[str], number: int) -> _Cause | None:
    """Return what the output headed by line *number* says of a failure without a panic."""
    for at in range(number + 1, min(number + 1 + _OUTPUT, len(lines))):
        line = lines[at]
        if line.startswith(("---- ", "failures:", "test result: ")):
            break
        if "panicked at " in line:
            return _Cause("", line.strip(), "")
        if _SAID.match(line):
            below = []
            for each in lines[at + 1 : at + 1 + _BELOW]:
                if not each.strip() or each.startswith(_ENDS):
                    break
                below.append(each[:300])
            return _Cause("", line.strip(), "\n".join(below))
    return None


def _ends(line: str) -> bool:
    return line.startswith((*_ENDS, "stack backtrace:"))
