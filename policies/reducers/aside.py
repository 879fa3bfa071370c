"""Aside: the lines of a test run that no failure explains and that are no progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import TYPE_CHECKING

from policies.reducers.log import Log, Span

if TYPE_CHECKING:
    import re

__all__ = ["aside"]

_MOST = 4_000
"""Places at which idle lines are left out."""


def aside(log: Log, runs: Iterable[Span], told: Iterable[Span], idle: re.Pattern[str]) -> Log:
    """Return the lines of *runs* that are neither in *told* nor matched by *idle*.

    *runs* and *told* may come in any order and overlap. *idle* is compiled MULTILINE and matches
    whole lines. Of very many places that it matches only the longest are left out.
    """
    quiet = [
        Span(line, line + match[0].rstrip("\n").count("\n") + 1)
        for line, match in log.matching(idle)
        if match[0]
    ]
    if len(quiet) > _MOST:
        quiet = nlargest(_MOST, quiet, key=lambda span: span.stop - span.start)
    parts = []
    for span in _without(runs, [*told, *quiet]):
        start, stop = span.start, span.stop
        while start < stop and not log.lines[start].strip():
            start += 1
        while start < stop and not log.lines[stop - 1].strip():
            stop -= 1
        if start < stop:
            parts.append(log.part(Span(start, stop)))
    return Log.joined(parts)


def _without(runs: Iterable[Span], gone: Iterable[Span]) -> Iterator[Span]:
    """Yield the parts of *runs* outside of *gone*, in order."""
    out = sorted(gone, key=lambda span: span.start)
    position = at = 0
    for run in sorted(runs, key=lambda span: span.start):
        at = max(at, run.start)
        while position < len(out) and out[position].start < run.stop:
            if out[position].start > at:
                yield Span(at, out[position].start)
            at = max(at, out[position].stop)
            position += 1
        if at < run.stop:
            yield Span(at, run.stop)
            at = run.stop
