"""SymPy's own test runner: each distinct failure once, with its last frames and the verdict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from policies.reducers.aside import aside
from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun
from policies.reducers.tracebacks import in_project, read

__all__ = ["REDUCER", "Sympy"]

_MARK = re.compile(
    r"^(?:=++ (?P<header>test process starts|doctests start) =++ *+$"
    r"|_{60,}+\n_++ (?P<test>[^\s_][^\n]*?) _++ *+$"
    r"|[= ]*+(?P<verdict>tests finished: \d++ passed,[^\n=]*+(?:\nin \d[^\n=]*+)?)=*+$"
    r"|(?P<commit>DO \*NOT\* COMMIT!) *+$)",
    re.MULTILINE,
)
_IDLE = re.compile(
    r"^(?:(?:=++ (?:test process starts|doctests start) =++ *+|_{60,}+|_++ [^\n]*? _++ *+"
    r"|test_\w++ [a-zA-Z]{1,2}(?: ++\[\w++\])?|\w[^\s\[]*+\[\d++\] [^\n]*+"
    r"|[.fFEsSXwTK]++(?: ++\[\w++\])?"
    r"|[= ]*+tests finished: [^\n]*+|in \d[\d.]*+ seconds[ =]*+|DO \*NOT\* COMMIT! *+"
    r"|(?:sympy|bin|examples|doc)/[\w./-]++(?:\[\d++\])?[ .fFEsSXwTK]*+(?:\[\w++\])?)"
    r"(?:\n|\Z))++",
    re.MULTILINE,
)
"""Progress, titles and verdicts."""
_COUNT = re.compile(r"(?<!\d)(\d++) ([a-z]++(?: [a-z]++)*+)")
_NOUNS = {
    "exceptions": "errors",
    "expected to fail": "xfailed",
    "expected to fail but passed": "xpassed",
}


@dataclass(slots=True)
class _Block:
    test: str
    start: int
    stop: int = 0


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    verdict: str = ""
    blocks: list[_Block] = field(default_factory=list)


class Sympy:
    """Runs of ``bin/test`` and ``bin/doctest`` of SymPy, plain or verbose.

    A failure is the innermost frame in the project and the type of the exception; without a
    traceback it is the test.
    """

    name = "sympy"
    kind = "tests"
    about = "each distinct failure once: its tests, what was raised, the last frames; the verdict"
    rank = 80
    hints = ("test process starts", "doctests start", "tests finished: ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from its header to its last line."""
        for run in _runs(log):
            yield Span(run.start, run.stop)

    def read(self, log: Log) -> Form | None:
        """Return the failures of all runs in *log*, in order; counts are the runs' own."""
        runs = _runs(log)
        if not runs:
            return None
        every = [f for number, run in enumerate(runs) for f in _failures(log, run, number)]
        counts: Counter[str] = Counter()
        for run in runs:
            counts.update(_counts(run))
        verdict = "\n".join(run.verdict for run in runs if run.verdict)
        return TestRun(
            self.name,
            every,
            verdict=verdict,
            counts=dict(counts),
            lines=len(log),
            other=partial(_other, log, runs),
        )


def _other(log: Log, runs: Sequence[_Run]) -> Log:
    """Return what stands in *runs* beside failures, progress and verdicts."""
    told = (Span(block.start - 2, block.stop) for run in runs for block in run.blocks)
    return aside(log, (Span(run.start, run.stop) for run in runs), told, _IDLE)


def _runs(log: Log) -> list[_Run]:
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        stop = line + match[0].count("\n") + 1
        if match["commit"]:
            if runs and run is None and line <= runs[-1].stop + 1:
                runs[-1].stop = stop
            continue
        if run and run.blocks and not run.blocks[-1].stop:
            run.blocks[-1].stop = line
        if match["header"]:
            if run:
                runs.append(run)
            run = _Run(line, stop)
            continue
        if run is None:
            if match["test"]:
                continue
            run = _Run(line, stop)
        run.stop = stop
        if match["test"]:
            run.blocks.append(_Block(match["test"], stop))
        else:
            run.verdict = " ".join(match["verdict"].split())
            runs.append(run)
            run = None
    if run:
        run.stop = len(log)
        if run.blocks:
            run.blocks[-1].stop = len(log)
        runs.append(run)
    return runs


def _failures(log: Log, run: _Run, number: int) -> Iterator[Failure]:
    for block in run.blocks:
        text = "\n".join(log.lines[block.start : block.stop])
        traceback = read(text)
        key: tuple[Hashable, ...] = (number, block.test)
        if traceback is None or "\nFailed example:" in text:
            said = tuple(line for line in text.split("\n") if line.strip("-_* \t"))
            yield Failure(block.test, key, said[:30])
            continue
        frame = traceback.innermost
        if frame and in_project(frame.file):
            key = (number, frame.file, frame.line, traceback.type)
        place = frame.place if frame else ""
        message = tuple(line for line in traceback.message if line.strip("_ "))
        frames, links = traceback.frames, traceback.links
        yield Failure(block.test, key, message, traceback.type, place, frames, links=links)


def _counts(run: _Run) -> dict[str, int]:
    """Return what the last line of *run* counts; of a run without one, its failures."""
    if not run.verdict:
        return {"failed": len(run.blocks)} if run.blocks else {}
    found = _COUNT.findall(run.verdict.partition(" in ")[0])
    counts: Counter[str] = Counter()
    for number, noun in found:
        counts[_NOUNS.get(noun, noun)] += int(number[:12])
    return dict(counts)


REDUCER = Sympy()
