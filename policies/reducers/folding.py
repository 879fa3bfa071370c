"""Folding: adjacent lines that repeat, or differ in numbers, times and hashes only, once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["fold", "shape"]

_LEAST = 3
"""Lines that must be alike before they are folded: for two, the mark is as long as the line."""
_VARYING = re.compile(
    r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])"
    r"|(?<![0-9A-Za-z])0x[0-9a-fA-F]++"
    r"|(?<![0-9A-Za-z])(?=[a-fA-F]*+[0-9])[0-9a-fA-F]{7,}+(?![0-9A-Za-z])"
    r"|[0-9]++(?:[.,:][0-9]++)*+"
    r"|[=#>*.━─╸╺█▉▊▋▌▍▎▏░▒▓⠀-⣿-]{2,}+"
    r"|[ \t]{2,}+"
)
_COARSE = b"0123456789abcdefABCDEFx=#>*.,:- \t" + bytes(range(128, 256))
"""Bytes that may differ between lines of one shape: deleted, they leave equal lines equal."""


def shape(line: str) -> str:
    """Return *line* with every number, time, hash, progress bar and run of blanks as one mark."""
    return _VARYING.sub("#", line)


def fold(log: Log, apart: frozenset[int] = frozenset()) -> list[int]:
    """Return the numbers, from 0, of the lines at which a fold begins, and at the end their count.

    A fold is one line or at least three that follow one another and have one shape. Lines in
    *apart* are folded only where they repeat to the letter.
    """
    starts: list[int] = []
    at = 0
    for _, lines in groupby(_coarse(log)):
        count = sum(1 for _ in lines)
        if count < _LEAST:
            starts += range(at, at + count)
        else:
            starts += _runs(log.lines, at, at + count, apart)
        at += count
    return [*starts, at]


def _coarse(log: Log) -> list[bytes]:
    if not log.lines:
        return []
    return log.text.encode("utf-8", "replace").translate(None, _COARSE).split(b"\n")


def _runs(lines: list[str], start: int, stop: int, apart: frozenset[int]) -> Iterator[int]:
    """Yield where the folds within *start* to *stop* begin, by the exact shape of each line."""

    def key(number: int) -> tuple[bool, str]:
        line = lines[number]
        return number in apart, line if number in apart else shape(line)

    at = start
    for _, alike in groupby(range(start, stop), key):
        count = sum(1 for _ in alike)
        yield from range(at, at + count) if count < _LEAST else (at,)
        at += count
