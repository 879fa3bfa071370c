"""Playwright: each distinct failure once, its message, its source line and the last frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policies.reducers import js_stack
from policies.reducers.form import Form
from policies.reducers.js_tests import failure, once
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "Playwright"]

_MARK = re.compile(
    r"^(?:(?P<run>Running \d++ tests? using \d++ workers?[^\n]*+)"
    r"| {2}\d{1,9}\) (?P<title>[^\n]* › [^\n]++)"
    r"| {2}(?P<number>\d{1,9}) (?P<noun>failed|flaky|skipped|passed|interrupted|did not run)"
    r"(?: \([^)\n]{1,30}\))?"
    r"| {4}(?P<listed>\S[^\n]* › [^\n]++))$",
    re.MULTILINE,
)
_END = " ─="
_AGAIN = re.compile(r"^ {4}(?:Retry #\d|attachment #\d|Error Context: )", re.MULTILINE)
_TEST = re.compile(r"(?:\[[^\]\n]{1,60}\] › )?[^\n›]{1,300}:\d{1,9}:\d{1,9} › ")


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    blocks: list[tuple[str, int]] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    verdict: list[str] = field(default_factory=list)
    failed: set[str] = field(default_factory=set)
    last: str = ""


class Playwright:
    """Runs of Playwright's test runner with its reporters for the console.

    A failure is the innermost frame in the project and the type of the error; without a frame it
    is the test. A test that passed when it was tried again is flaky, not failed.
    """

    name = "playwright"
    kind = "tests"
    about = "each distinct failure once: its tests, its message, its last frames; the verdict"
    rank = 80
    hints = (" › ", " using 1 worker", " workers")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from its header, or its first failure, to the last of its figures."""
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
            every += once(_failures(log, run, number))
            counts.update(run.figures)
        verdict = "\n".join(line for run in runs for line in run.verdict)
        return TestRun(self.name, every, verdict=verdict, counts=dict(counts), lines=len(log))


def _runs(log: Log) -> list[_Run]:
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        if match["run"] or (run and match["title"] and run.figures):
            run = None
        if match["title"] and not _TEST.match(match["title"]):
            continue
        if run is None:
            if not (match["run"] or match["title"]):
                continue
            run = _Run(line, line + 1)
            runs.append(run)
        if not (match["listed"] and not run.last):
            run.stop = line + 1
        _take(run, match, line)
    for each in runs:
        if each.blocks and not each.figures:
            each.stop = _last(log.lines, each.stop)
    return [each for each in runs if each.blocks or each.figures]


def _take(run: _Run, match: re.Match[str], line: int) -> None:
    """Add to *run* what one of its lines says."""
    if match["title"]:
        run.blocks.append((match["title"].rstrip(_END), line + 1))
    elif match["noun"]:
        run.last = match["noun"]
        run.figures[run.last] = int(match["number"])
        run.verdict.append(match[0].strip())
    elif match["listed"] and run.last == "failed":
        run.failed.add(match["listed"].rstrip(_END))


def _last(lines: Sequence[str], stop: int) -> int:
    """Return where the indented lines end that go on at *stop*."""
    at = stop
    while at < len(lines) and (not lines[at] or lines[at][0].isspace()):
        at += 1
        if lines[at - 1].strip():
            stop = at
    return stop


def _failures(log: Log, run: _Run, number: int) -> Iterator[Failure]:
    ends = [*(start - 1 for _, start in run.blocks[1:]), run.stop]
    for (title, start), stop in zip(run.blocks, ends, strict=False):
        if run.failed and title not in run.failed:
            continue
        text = "\n".join(log.lines[start:stop])
        again = _AGAIN.search(text)
        yield failure(title, number, js_stack.read(text[: again.start()] if again else text))


REDUCER = Playwright()
