"""Jest: each distinct failure once with its tests, its message and the last frames."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policies.reducers import js_stack
from policies.reducers.form import Form
from policies.reducers.js_tests import failure, figures, once, test_name
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "Jest"]

_MARK = re.compile(
    r"^(?:[ \t]?(?P<state>PASS|FAIL|RUNS) {1,3}(?P<file>[^\n]*?\.(?:[cm]?[jt]sx?|vue|svelte|es6?"
    r"|coffee|feature|json|snap)(?: \(\d[^)\n]*+\))?)[ \t]*+$"
    r"|[ \t]{0,2}● (?P<title>[^\n]++)$"
    r"| {2}console\.(?P<console>log|warn|error|info|debug|trace|dir|assert)$"
    r"|(?P<noun>Test Suites|Tests|Snapshots|Time): {1,9}(?P<figures>\d[^\n]*+)$"
    r"|(?P<end>Ran all test suites[^\n]*+|No tests found[^\n]*+|Test run was interrupted\.)$"
    r"|(?P<summary>Summary of all failing tests)$)",
    re.MULTILINE,
)
_CROSS = re.compile(r"^[ \t]{2,60}[✕✗×] (?P<test>[^\n]++)$", re.MULTILINE)
_TOOK = re.compile(r" \(\d[^)\n]*+\)$")
_OTHER = re.compile(r"Console\b|Cannot log after tests are done|Deprecation |\w{0,30} ?Validation ")
_BROKEN = "Test suite failed to run"


@dataclass(slots=True)
class _Block:
    """What Jest tells below one title: of a test, or of a file that could not be run."""

    file: str
    title: str
    start: int
    stop: int = 0


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    file: str = ""
    blocks: list[_Block] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    verdict: list[str] = field(default_factory=list)
    states: int = 0
    over: bool = False

    @property
    def sure(self) -> bool:
        return "Test Suites" in self.figures or bool(self.states and self.blocks) or self.states > 1


class Jest:
    """Runs of Jest, plain or verbose, of several projects, and what is built on Jest.

    A failure is the innermost frame in the project and the type of the error; without a frame it
    is the test. What the summary of all failing tests repeats counts once.
    """

    name = "jest"
    kind = "tests"
    about = "each distinct failure once: its tests, its message, its last frames; the verdict"
    rank = 80
    hints = ("Test Suites: ", "PASS ", "FAIL ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from the first file to the last of its figures."""
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
            own = _failures(log, run, number)
            every += own
            counts.update(_counts(run, own))
        verdicts = [line for run in runs for line in run.verdict]
        return TestRun(
            self.name, every, verdict="\n".join(verdicts), counts=dict(counts), lines=len(log)
        )


def _runs(log: Log) -> list[_Run]:
    """Return the runs in *log*: a file after the figures of one begins another."""
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        if run and run.over and not match["end"]:
            runs.append(run)
            run = None
        if run is None:
            if match["end"] or match["noun"] not in (None, "Test Suites"):
                continue
            run = _Run(line, line + 1)
        _take(run, match, line)
    runs += [run] if run else []
    return [_closed(log, each) for each in runs if each.sure]


def _take(run: _Run, match: re.Match[str], line: int) -> None:
    """Add to *run* what one of its lines says."""
    if run.blocks and not run.blocks[-1].stop:
        run.blocks[-1].stop = line
    run.stop = line + 1
    if match["state"]:
        run.states += 1
        run.file = _TOOK.sub("", match["file"]) if match["state"] == "FAIL" else ""
    elif match["title"]:
        run.blocks.append(_Block(run.file, match["title"].strip(), line + 1))
    elif match["noun"]:
        run.figures[match["noun"]] = match["figures"]
        run.verdict.append(match[0])
        run.over = match["noun"] == "Time"
    elif match["end"]:
        run.over = True


def _closed(log: Log, run: _Run) -> _Run:
    """Return *run* with its last block, which nothing follows, up to a second blank line."""
    if run.blocks and not run.blocks[-1].stop:
        at = run.stop
        while at < len(log) and not _left(log.lines[at]):
            at += 1
        run.blocks[-1].stop = run.stop = at
    return run


def _left(line: str) -> bool:
    return bool(line) and not line[0].isspace()


def _failures(log: Log, run: _Run, number: int) -> list[Failure]:
    """Return the failures of *run*: what it tells of, and tests marked as failed beyond that."""
    found = once(f for block in run.blocks for f in _of_block(log, block, number))
    tests = sum(not each.name.endswith(_BROKEN) for each in found)
    if tests < figures(run.figures.get("Tests", "")).get("failed", 0) or not found:
        known = {each.name.rpartition(" › ")[2] for each in found}
        for match in _CROSS.finditer("\n".join(log.lines[run.start : run.stop])):
            test = test_name(match["test"])
            if test not in known:
                known.add(test)
                found.append(Failure(test, (number, test)))
    return found


def _of_block(log: Log, block: _Block, number: int) -> Iterator[Failure]:
    """Yield the failure that *block* tells of, if it is about one."""
    if _OTHER.match(block.title[:300]) or not (block.file or block.title != _BROKEN):
        return
    stack = js_stack.read("\n".join(log.lines[block.start : block.stop]))
    if stack is None and not block.file:
        return
    name = f"{block.file} › {block.title}" if block.file else block.title
    broken = block.title == _BROKEN
    yield failure(name, number, stack, (block.file,) if broken else (block.title,))


def _counts(run: _Run, own: Sequence[Failure]) -> dict[str, int]:
    """Return what the last lines of *run* count; without them, what was read of it."""
    suites, tests = (figures(run.figures.get(noun, "")) for noun in ("Test Suites", "Tests"))
    counts = {noun: tests.get(noun, 0) for noun in ("failed", "passed", "skipped", "todo")}
    counts["failed suites"] = suites.get("failed", 0)
    if not tests and not suites:
        counts["failed"] = len(own)
    return {noun: count for noun, count in counts.items() if count}


REDUCER = Jest()
