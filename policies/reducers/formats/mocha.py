"""Mocha, and Cypress on it: each distinct failure once, its message and the last frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policies.reducers import js_stack
from policies.reducers.form import Form
from policies.reducers.js_tests import failure
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "Mocha"]

_MARK = re.compile(
    r"^ {2,4}(?:(?P<number>\d{1,9}) (?P<noun>passing|pending|failing)(?: \([^)\n]{1,30}\))?"
    r"|\d{1,9}\) (?P<title>\S[^\n]*+))$",
    re.MULTILINE,
)
_TITLES = 12
"""Lines over which the title of one test may go: one for each suite it is in."""
_MESSAGE = 80
"""Lines of a message that is not indented."""
_NOUNS = {"passing": "passed", "pending": "skipped", "failing": "failed"}


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    figures: dict[str, int] = field(default_factory=dict)
    verdict: list[str] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)


class Mocha:
    """Runs of Mocha with the reporters that print a list of failures at the end.

    A failure is the innermost frame in the project and the type of the error; without a frame it
    is the test.
    """

    name = "mocha"
    kind = "tests"
    about = "each distinct failure once: its tests, its message, its last frames; the verdict"
    rank = 80
    hints = (" passing", " failing")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from the tree of its tests to the end of its list of failures."""
        for run in _runs(log):
            yield Span(run.start, run.stop)

    def read(self, log: Log) -> Form | None:
        """Return the failures of all runs in *log*, in order; counts are the runs' own."""
        runs = _runs(log)
        if not runs:
            return None
        every: list[Failure] = []
        counts: Counter[str] = Counter()
        for number, run in enumerate(runs):
            every += _failures(log, run, number)
            counts.update({_NOUNS[noun]: count for noun, count in run.figures.items() if count})
        verdict = "\n".join(line for run in runs for line in run.verdict)
        return TestRun(self.name, every, verdict=verdict, counts=dict(counts), lines=len(log))


def _runs(log: Log) -> list[_Run]:
    """Return the runs in *log*: the figures of one stand between its tree and its failures."""
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        noun = match["noun"]
        if noun == "passing" or (noun == "failing" and (run is None or noun in run.figures)):
            run = _Run(_tree(log.lines, line, runs[-1].stop if runs else 0), line + 1)
            runs.append(run)
        if run is None:
            continue
        if noun:
            if noun in run.figures or line > run.stop + 1:
                continue
            run.figures[noun] = int(match["number"])
            run.verdict.append(match[0].strip())
            run.stop = line + 1
        elif len(run.blocks) < run.figures.get("failing", 0):
            run.blocks.append(line)
            run.stop = _end(log.lines, line)
    return runs


def _tree(lines: Sequence[str], line: int, floor: int) -> int:
    """Return where the indented lines begin that stand above *line*."""
    start = line
    while start > floor and (not lines[start - 1] or lines[start - 1][0].isspace()):
        start -= 1
    while start < line and not lines[start].strip():
        start += 1
    return start


def _end(lines: Sequence[str], title: int) -> int:
    """Return the line after the error below the *title*: past its frames, if it has any."""
    framed, stop = False, title + 1
    for at in range(title + 1, len(lines)):
        line = lines[at]
        if not line.strip():
            continue
        if not line[0].isspace() and (framed or at > title + _MESSAGE):
            break
        if _MARK.match(line):
            break
        framed = framed or js_stack.FRAME.match(line[:500]) is not None
        if line[0].isspace() or framed or at == stop:
            stop = at + 1
    return stop


def _failures(log: Log, run: _Run, number: int) -> Iterator[Failure]:
    ends = [*run.blocks[1:], run.stop]
    for start, stop in zip(run.blocks, ends, strict=False):
        titles, body = _titles(log.lines, start, stop)
        stack = js_stack.read("\n".join(log.lines[body:stop]))
        whole = " ".join(titles)
        yield failure(whole, number, stack, tuple(titles[-1:]) if len(titles) > 1 else ())


def _titles(lines: Sequence[str], start: int, stop: int) -> tuple[list[str], int]:
    """Return the titles of the suites and the test at line *start*, and where its error begins."""
    titles = [lines[start].partition(") ")[2].strip()]
    at = start + 1
    while not titles[-1].endswith(":") and at < min(stop, start + _TITLES) and lines[at].strip():
        titles.append(lines[at].strip())
        at += 1
    titles[-1] = titles[-1].removesuffix(":")
    return titles, at


REDUCER = Mocha()
