"""unittest and what runs on it (Django, nose): each distinct failure once, with its last frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from operator import itemgetter

from policies.reducers.aside import aside
from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun
from policies.reducers.tracebacks import in_project, read

__all__ = ["REDUCER", "Unittest"]

_MARK = re.compile(
    r"^(?:={60,}+\n(?P<word>FAIL|ERROR): (?P<test>[^\n]++)"
    r"(?P<about>(?:\n(?!-{60})[^\n]*+){0,6}?)\n-{60,}+$"
    r"|UNEXPECTED SUCCESS: (?P<surprise>[^\n]++)$"
    r"|(?P<ran>Ran \d++ tests? in \d++(?:\.\d++)?s)$"
    r"|(?P<end>(?:FAILED|OK|NO TESTS RAN)(?: \((?P<counts>[a-zA-Z][^()\n]*+)\))?)$)",
    re.MULTILINE,
)
_STATE = re.compile(
    r" \.\.\. (?P<state>ok|OK|FAIL|ERROR|skipped\b[^\n]*+|SKIP\b[^\n]*+"
    r"|expected failure|unexpected success)$",
    re.MULTILINE,
)
_TEST = r"[A-Za-z_]\w*+ \([\w.<>]++\)|[A-Za-z_]\w*+(?:\.\w++)++"
_NAME = re.compile(_TEST)
_RUNNING = re.compile(rf"(?P<name>{_TEST})(?= \.\.\. |$)")
_ABOVE = re.compile(r"[.FEsxu]{1,400}|-{60,80}|\s*")
_IDLE = re.compile(
    r"^(?:(?:[^\n]*? \.\.\. ?(?:ok|OK|FAIL|ERROR|SKIP|expected failure|unexpected success)?"
    r"|[A-Za-z_]\w*+ \([\w.<>]++\)|[.FEsxu]++|-{60,}+|={60,}+|ok|OK|FAIL|ERROR"
    r"|Ran \d++ tests? in \d[^\n]*+"
    r"|(?:FAILED|OK|NO TESTS RAN) \([^\n]*+|FAILED|NO TESTS RAN)(?:\n|\Z))++",
    re.MULTILINE,
)
"""Progress, rules and verdicts."""
_SECTION = re.compile(r"^(?:Stdout|Stderr):$", re.MULTILINE)
_NOUNS = {
    "failures": "failed",
    "errors": "errors",
    "skipped": "skipped",
    "skip": "skipped",
    "expected failures": "xfailed",
    "unexpected successes": "xpassed",
}


@dataclass(slots=True)
class _Block:
    word: str
    test: str
    head: int
    start: int
    stop: int = 0


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    ran: str = ""
    end: str = ""
    counts: str = ""
    blocks: list[_Block] = field(default_factory=list)
    states: int = 0
    bad: list[str] = field(default_factory=list)

    @property
    def certain(self) -> bool:
        return bool(self.ran or self.blocks or self.states > 1)


class Unittest:
    """Runs of unittest, of Django's test command and of nose, plain or verbose.

    A failure is the innermost frame in the project and the type of the exception; without a
    traceback it is the test. Each failed subtest counts, as the runner counts it.
    """

    name = "unittest"
    kind = "tests"
    about = "each distinct failure once: its tests, what was raised, the last frames; the verdict"
    rank = 80
    hints = ("Ran ", "=\nFAIL: ", "=\nERROR: ", " ... ", "\nUNEXPECTED SUCCESS: ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from its first test, or its first failure, to its last line."""
        for run in _runs(log):
            yield Span(run.start, run.stop)

    def read(self, log: Log) -> Form | None:
        """Return the failures of all runs in *log*, in order; counts are the runs' own."""
        runs = _runs(log)
        every = [f for number, run in enumerate(runs) for f in _failures(log, run, number)]
        verdicts = [line for run in runs for line in (run.ran, run.end) if line]
        if not runs:
            return None
        counts: Counter[str] = Counter()
        for run in runs:
            counts.update(_counts(run))
        return TestRun(
            self.name,
            every,
            verdict="\n".join(verdicts),
            counts=dict(counts),
            lines=len(log),
            other=partial(_other, log, runs),
        )


def _other(log: Log, runs: Sequence[_Run]) -> Log:
    """Return what stands in *runs* beside failures, progress and verdicts."""
    told = (Span(block.head, block.stop) for run in runs for block in run.blocks)
    return aside(log, (Span(run.start, run.stop) for run in runs), told, _IDLE)


def _runs(log: Log) -> list[_Run]:
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in _marks(log):
        state = match.re is _STATE
        test = _running(log, line) if state else None
        if not state and match["end"]:
            if run and run.ran:
                run.end, run.counts, run.stop = match["end"], match["counts"] or "", line + 1
                runs.append(run)
                run = None
            continue
        if run is None or run.ran:
            # A run that has its figures and not its last line is over when another begins.
            runs += [run] if run else []
            run = None
            if state and test is None:
                continue
            run = _Run(_first(log, line, runs[-1].stop if runs else 0), line)
        _take(run, match, line, test)
    if run:
        if run.blocks and not run.blocks[-1].stop:
            run.blocks[-1].stop = run.stop = len(log)
        runs.append(run)
    return [run for run in runs if run.certain]


def _marks(log: Log) -> Iterator[tuple[int, re.Match[str]]]:
    """Return the lines by which a run is known, in order."""
    return merge(log.matching(_MARK), log.matching(_STATE), key=itemgetter(0))


def _running(log: Log, line: int) -> str | None:
    """Return the test whose outcome stands in *line*; its name may stand in the line above."""
    for at in (line, line - 1):
        found = _RUNNING.match(log.lines[at][:1000]) if at >= 0 else None
        if found:
            return found["name"]
    return None


def _take(run: _Run, match: re.Match[str], line: int, test: str | None) -> None:
    """Add to *run* what one line of it says."""
    if match.re is _STATE:
        run.states += 1
        run.stop = line + 1
        if test and match["state"] in ("FAIL", "ERROR"):
            run.bad.append(test)
        return
    last = line + match[0].count("\n") + 1
    if run.blocks and not run.blocks[-1].stop:
        run.blocks[-1].stop = line
    run.stop = last
    if match["ran"]:
        run.ran = match["ran"]
    elif match["surprise"]:
        run.blocks.append(_Block("UNEXPECTED SUCCESS", match["surprise"], line, last, last))
    else:
        run.blocks.append(_Block(match["word"], match["test"], line, last))


def _first(log: Log, line: int, floor: int) -> int:
    """Return where the dots and the rule begin that stand above a run's first mark, at *line*."""
    start = line
    if start > floor and _RUNNING.fullmatch(log.lines[start - 1][:1000]):
        start -= 1
    while start > floor and _ABOVE.fullmatch(log.lines[start - 1][:500]):
        start -= 1
    while start < line and not log.lines[start].strip():
        start += 1
    return start


def _failures(log: Log, run: _Run, number: int) -> Iterator[Failure]:
    """Yield the failures of *run*; where its report is missing, the tests seen to fail."""
    if not run.blocks:
        for test in run.bad:
            yield Failure(test, (number, test))
    for block in run.blocks:
        text = "\n".join(log.lines[block.start : block.stop])
        captured = _SECTION.search(text)
        traceback = read(text[: captured.start()] if captured else text)
        found = _NAME.match(block.test)
        name = found[0] if found else block.test
        key: tuple[Hashable, ...] = (number, block.test)
        if traceback is None:
            said = tuple(line for line in text.split("\n") if line.strip("-= \t"))[:30]
            yield Failure(block.test, key, said or (block.word,), also=_also(name, block.test))
            continue
        frame = traceback.innermost
        if frame and in_project(frame.file):
            key = (number, frame.file, frame.line, traceback.type)
        yield Failure(
            block.test,
            key,
            _without_rule(traceback.message),
            traceback.type,
            frame.place if frame else "",
            traceback.frames,
            _also(name, block.test),
            traceback.links,
        )


def _also(name: str, whole: str) -> tuple[str, ...]:
    return (name,) if name != whole else ()


def _without_rule(message: tuple[str, ...]) -> tuple[str, ...]:
    """Return *message* without the line that the runner draws before its verdict."""
    stop = len(message)
    while stop and not message[stop - 1].strip("- \t"):
        stop -= 1
    return message[:stop]


def _counts(run: _Run) -> dict[str, int]:
    """Return what the last line of *run* counts; what it counts not is read from its failures."""
    counts: dict[str, int] = {}
    found = re.search(r"\d+", run.ran)
    if found:
        counts["tests"] = int(found[0][:12])
    if not run.end:
        counts["failed"] = sum(block.word == "FAIL" for block in run.blocks)
        counts["errors"] = sum(block.word == "ERROR" for block in run.blocks)
        counts["failed"] += 0 if run.blocks else len(run.bad)
    for count in run.counts.split(", "):
        noun, _, number = count.lower().partition("=")
        if number.isdecimal():
            counts[_NOUNS.get(noun, noun)] = int(number[:12])
    return {noun: count for noun, count in counts.items() if count or noun == "tests"}


REDUCER = Unittest()
