"""Folding: adjacent lines that repeat, or differ in numbers, times and hashes only, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["fold", "open_folds", "shape"]

_LEAST = 3
"""Lines that must be alike before they are folded: for two, the mark is as long as the line."""
_CODES = 8
"""Values that a number takes at most in a run of lines if it is a code rather than a measure."""
_MARK = 16
"""Tokens that the mark of a fold takes, about."""
_OFTEN = 4
"""Lines a run must have for each value of a code."""
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

    A fold is one line or several that follow one another and have one shape. The last line of
    such a run is a fold of its own, unless it repeats the others to the letter, and so is the
    first line with each rare value of a number that takes few: a changed status or exit code.
    Lines in *apart* are folded only where they repeat to the letter.
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


def open_folds(
    lines: Sequence[str], starts: Sequence[int], free: int, count: Callable[[str], int]
) -> list[int]:
    """Return *starts* with those of further folds: lines at both ends of each, then alone.

    The lines that stand alone take about *free* tokens by *count*, small folds opened before
    large ones. Lines that repeat to the letter stay folded.
    """
    closed = [at for at in range(len(starts) - 1) if starts[at + 1] - starts[at] > 1]
    closed.sort(key=lambda at: starts[at + 1] - starts[at])
    opened = set(starts)
    for position, at in enumerate(closed):
        start, stop = starts[at], starts[at + 1]
        left = share = free // (len(closed) - position)
        low, high = start + 1, stop
        while low < high and share > 0:
            line = lines[high - 1] if (high - low) % 2 else lines[low]
            left -= count(line) + 1
            if left + (_MARK if high - low < _LEAST else 0) < 0:
                break
            low, high = (low, high - 1) if (high - low) % 2 else (low + 1, high)
        if lines[start + 1 : stop].count(lines[start]) == stop - start - 1:
            continue
        opened.update(range(start, low), range(high, stop))
        free -= share - max(left, 0)
    return sorted(opened)


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
        yield from range(at, at + count) if count < _LEAST else _run(lines[at : at + count], at)
        at += count


def _run(lines: Sequence[str], first: int) -> Iterator[int]:
    """Yield where the folds of *lines*, of one shape, begin; the first of them is line *first*."""
    count = len(lines)
    if lines.count(lines[0]) == count:
        yield first
        return
    alone = sorted({*_changed(lines), count - 1})
    at = 0
    for line in alone:
        yield from range(at + first, line + first) if line - at < _LEAST else (at + first,)
        yield line + first
        at = line + 1


def _changed(lines: Sequence[str]) -> Iterator[int]:
    """Yield the first line with each rare value of a number that takes few values in *lines*."""
    varying = _VARYING.findall("\n".join(lines))
    width = len(varying) // len(lines)
    for column in range(width):
        values = varying[column::width]
        counts = Counter(values)
        if 1 < len(counts) <= min(_CODES, len(lines) // _OFTEN):
            usual = counts.most_common(1)[0][0]
            yield from (values.index(value) for value in counts if value != usual)
