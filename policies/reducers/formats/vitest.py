"""vitest: each distinct failure once with its tests, its message and the last frames."""

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

__all__ = ["REDUCER", "Vitest"]

_MARK = re.compile(
    r"^(?:[ \t]*+(?P<run>(?:RUN|DEV) {1,3}v\d++\.[^\n]*+)"
    r"|(?P<section>⎯{2,}+ (?P<title>[A-Z][A-Za-z ]{1,40}?)(?P<number> \d++)? ⎯++)$"
    r"|(?P<rule>⎯{2,}+(?:\[\d++/\d++\])?⎯*+)$"
    r"|[ \t]{0,3}FAIL {1,3}(?P<fail>[^\n]*?\S(?: > | \[ )[^\n]*+)$"
    r"|[ \t]++(?P<noun>Test Files|Tests|Errors|Type Errors|Snapshots|Start at|Duration) {2}"
    r"(?P<figures>[^\n]++)$"
    r"|(?P<none>No test files found, exiting with code \d++)"
    r"|[ \t]++[✓✔√×❯↓] (?P<done>[^\n]++)$)",
    re.MULTILINE,
)
_CROSS = re.compile(r"^[ \t]{1,9}× (?P<test>[^\n]++)(?:\n {3,9}→ (?P<said>[^\n]++))?", re.MULTILINE)
_FRAME = re.compile(r"^ {0,8}❯ (?P<what>[^\n]++)$|^ {4,}at (?P<at>[^\n]++)$", re.MULTILINE)
_ORIGIN = re.compile(r"^This error originated in [^\n]++", re.MULTILINE)
_CAUSE = re.compile(r"^Caused by: [^\n]++", re.MULTILINE)
_UNHANDLED = re.compile(r"Unhandled|Uncaught|Startup Error|Typecheck Error|Type Error|Source Error")
_COVERAGE = re.compile(
    r" *+% Coverage report from |-{4,}+\||[^|\n]*+\|[^|\n]*+\||={10,}|JUNIT report "
)


@dataclass(slots=True)
class _Block:
    """One error below one or several FAIL lines, or below a section's title."""

    names: list[str]
    start: int
    stop: int = 0
    title: str = ""


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    blocks: list[_Block] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    verdict: list[str] = field(default_factory=list)
    marks: int = 0
    sure: bool = False


class Vitest:
    """Runs of vitest with any reporter for the console, of several packages in one output, too.

    A failure is the innermost frame in the project and the type of the error; without a frame it
    is the test. The errors that no test caused, as vitest lists them apart, are failures, too.
    """

    name = "vitest"
    kind = "tests"
    about = "each distinct failure once: its tests, its message, its last frames; the verdict"
    rank = 80
    hints = (" RUN  v", " DEV  v", "⎯ Failed ", "⎯ Unhandled ", "⎯ Startup ", "Test Files  ", "]⎯")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from its header, or its first line, to the last of its figures."""
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
        verdicts = [line.strip() for run in runs for line in run.verdict]
        return TestRun(
            self.name, every, verdict="\n".join(verdicts), counts=dict(counts), lines=len(log)
        )


def _runs(log: Log) -> list[_Run]:
    """Return the runs in *log*: a header begins one, the figures end it."""
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        kind = match.lastgroup
        if match["run"] or (run and "Duration" in run.figures):
            runs += [run] if run else []
            run = None
        if run is None:
            if kind == "rule" or (kind == "figures" and match["noun"] != "Test Files"):
                continue
            run = _Run(line, line + 1)
        _take(run, match, line)
    runs += [run] if run else []
    return [_closed(log, each) for each in runs if each.sure]


def _take(run: _Run, match: re.Match[str], line: int) -> None:
    """Add to *run* what one of its lines says."""
    block = run.blocks[-1] if run.blocks and not run.blocks[-1].stop else None
    run.marks += 1
    run.stop = line + 1
    if match["done"]:
        return
    if match["fail"]:
        if block and block.start == line and not block.title:
            block.names.append(match["fail"])
            block.start = line + 1
            return
        _close(block, line)
        run.blocks.append(_Block([match["fail"]], line + 1))
        return
    _close(block, line)
    if match["section"]:
        run.sure = True
        if _UNHANDLED.search(match["title"]):
            run.blocks.append(_Block([], line + 1, title=match["title"]))
    elif match["rule"]:
        run.sure |= "[" in match["rule"] and bool(run.blocks)
    elif match["noun"]:
        run.sure |= match["noun"] == "Test Files"
        run.figures[match["noun"]] = match["figures"]
        if match["noun"] != "Start at":
            run.verdict.append(match[0])
    else:
        run.sure = True
        run.verdict += [match["none"]] if match["none"] else []


def _close(block: _Block | None, line: int) -> None:
    if block:
        block.stop = line


def _closed(log: Log, run: _Run) -> _Run:
    """Return *run* with its last block ended, and with the table of coverage below it."""
    if run.blocks and not run.blocks[-1].stop:
        run.blocks[-1].stop = run.stop = _last(log, run.stop)
    at = run.stop
    while at < len(log) and (not log.lines[at] or _COVERAGE.match(log.lines[at][:300])):
        at += 1
        if log.lines[at - 1]:
            run.stop = at
    return run


def _last(log: Log, start: int) -> int:
    """Return where an error ends that the output breaks off in: at the second blank line."""
    blank = 0
    for at in range(start, len(log)):
        blank = 0 if log.lines[at].strip() else blank + 1
        if blank == 2:
            return at - 1
    return len(log)


def _failures(log: Log, run: _Run, number: int) -> list[Failure]:
    """Return the failures of *run*: its errors, and the tests marked as failed that have none."""
    found = once(f for block in run.blocks for f in _of_block(log, block, number))
    known = {name for each in found for name in (each.name, each.name.partition(" > ")[2])}
    tests = len({each.name for each in found})
    failed = figures(run.figures["Tests"]).get("failed", 0) if "Tests" in run.figures else None
    if failed is None or tests < failed:
        text = "\n".join(log.lines[run.start : run.stop])
        for match in _CROSS.finditer(text):
            test = test_name(match["test"])
            if test not in known and test.partition(" > ")[2] not in known:
                known.add(test)
                said = (match["said"],) if match["said"] else ()
                found.append(Failure(test, (number, test), said))
    return found


def _of_block(log: Log, block: _Block, number: int) -> Iterator[Failure]:
    """Yield one failure for each test that *block* names, all with its error and one key."""
    text = "\n".join(log.lines[block.start : block.stop])
    origin = _ORIGIN.search(text)
    stack = js_stack.read(_pointed(text[: origin.start()] if origin else text))
    causes = _CAUSE.findall(text)
    if stack and causes:
        stack = js_stack.Stack(stack.frames, stack.type, (*stack.message, *causes))
    for name in dict.fromkeys(block.names):
        yield failure(name, number, stack)
    if block.title and stack and (stack.frames or stack.type):
        said = (*stack.message, *(origin[0].split("\n") if origin else ()))
        stack = js_stack.Stack(stack.frames, stack.type, said)
        yield failure(block.title, number, stack, stack.message[:1])


def _pointed(text: str) -> str:
    """Return *text* with the frames alone marked as such, not what a message says."""
    return _FRAME.sub(lambda match: f"    at {match['what'] or match['at']}", text)


def _counts(run: _Run, own: Sequence[Failure]) -> dict[str, int]:
    """Return what the last lines of *run* count; without them, what was read of it."""
    files, tests = (figures(run.figures.get(noun, "")) for noun in ("Test Files", "Tests"))
    counts = {
        "failed": tests.get("failed", 0),
        "passed": tests.get("passed", 0),
        "skipped": tests.get("skipped", 0),
        "todo": tests.get("todo", 0),
        "failed files": files.get("failed", 0),
        "errors": sum(figures(run.figures.get("Errors", "")).values()),
    }
    if not tests and not files:
        counts["failed"] = len(own)
    return {noun: count for noun, count in counts.items() if count}


REDUCER = Vitest()
