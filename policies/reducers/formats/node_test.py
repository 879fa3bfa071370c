"""Node's own test runner: each distinct failure once, its message and the last frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policies.reducers import js_stack
from policies.reducers.form import Form
from policies.reducers.js_tests import failure, test_name
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "NodeTest"]

_MARK = re.compile(
    r"^(?:ℹ (?P<noun>tests|suites|pass|fail|cancelled|skipped|todo|duration_ms)"
    r" (?P<number>\d++)[^\n]*+"
    r"|(?P<list>✖ failing tests:)"
    r"|test at (?P<place>[^\n]++)\n[ \t]*+✖ (?P<test>[^\n]++)"
    r"|[ \t]*+(?P<done>▶ \S|[✔✖﹣] [^\n]*?\(\d[^()\n]{0,20}ms\))[^\n]*+)$",
    re.MULTILINE,
)
_NOUNS = {"tests": "tests", "pass": "passed", "fail": "failed", "skipped": "skipped"}
_TODO = re.compile(r"\) # (?:TODO|SKIP)\b")
_ABOVE = re.compile(r"'?\d++ subtests? failed'?$")
_GAP = 200
"""Lines of a test's own output that may stand between two lines of a run."""


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    figures: dict[str, int] = field(default_factory=dict)
    blocks: list[tuple[str, int]] = field(default_factory=list)
    listed: bool = False


class NodeTest:
    """Runs of ``node --test`` with its reporter for people, called spec.

    A failure is the innermost frame in the project and the type of the error; without a frame it
    is the test. The reporter in the Test Anything Protocol is read as such.
    """

    name = "node-test"
    kind = "tests"
    about = "each distinct failure once: its tests, its message, its last frames; the figures"
    rank = 80
    hints = ("ℹ tests ", "✖ failing tests:", "ℹ fail ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from its first test to the end of its list of failures."""
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
            counts.update({_NOUNS[n]: count for n, count in run.figures.items() if n in _NOUNS})
        verdict = [", ".join(f"{n} {count}" for n, count in run.figures.items()) for run in runs]
        return TestRun(
            self.name,
            every,
            verdict="\n".join(filter(None, verdict)),
            counts={noun: count for noun, count in counts.items() if count},
            lines=len(log),
        )


def _runs(log: Log) -> list[_Run]:
    """Return the runs in *log*: a test after the figures of one begins another."""
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        begins = match["done"] and run is not None and bool(run.figures)
        if run is None or (begins and not run.blocks) or line > run.stop + _GAP:
            run = _Run(line, line)
            runs.append(run)
        if begins and run.blocks and line < run.stop:
            continue
        if begins and run.blocks:
            run = _Run(line, line)
            runs.append(run)
        if match["noun"]:
            run.figures[match["noun"]] = int(match["number"][:12])
        elif match["test"]:
            run.blocks.append((match["test"], line))
        run.listed |= match["list"] is not None
        run.stop = _end(log.lines, line) if match["test"] else max(run.stop, line + 1)
    return [each for each in runs if each.figures or each.listed]


def _end(lines: Sequence[str], start: int) -> int:
    """Return the line after the error of the test at *start*, all of which is indented."""
    stop = at = start + 2
    while at < len(lines) and (not lines[at] or lines[at][0].isspace()):
        at += 1
        if lines[at - 1].strip():
            stop = at
    return min(stop, len(lines))


def _failures(log: Log, run: _Run, number: int) -> Iterator[Failure]:
    ends = [*(line for _, line in run.blocks[1:]), run.stop]
    for (test, start), end in zip(run.blocks, ends, strict=False):
        stack = js_stack.read("\n".join(log.lines[start + 2 : end]))
        said = stack.message[0] if stack and stack.message else ""
        above = stack is not None and not stack.innermost and _ABOVE.match(said)
        if not above and not _TODO.search(test):
            yield failure(test_name(test), number, stack)


REDUCER = NodeTest()
