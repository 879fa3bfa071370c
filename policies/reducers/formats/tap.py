"""The Test Anything Protocol: each distinct failure once, with what its diagnostics say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policies.reducers import js_stack
from policies.reducers.form import Form
from policies.reducers.js_stack import Stack
from policies.reducers.js_tests import failure
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun
from policies.reducers.tracebacks import Frame

__all__ = ["REDUCER", "Tap"]

_MARK = re.compile(
    r"^(?P<indent> {0,40})(?:(?P<state>ok|not ok) (?P<number>\d{1,9})(?P<test> [^\n]*+)?"
    r"|(?P<version>TAP version 1\d)|(?P<plan>1\.\.\d{1,9})(?: #[^\n]*+)?"
    r"|# (?P<noun>tests|pass|fail|failed|passed|skipped|skip|todo|duration_ms) {1,3}"
    r"(?P<figure>\d{1,9})(?:\.\d{1,20})?"
    r"|(?P<bail>Bail out![^\n]*+))$",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"# ?(?P<word>TODO|SKIP)", re.IGNORECASE)
_TIME = re.compile(r" # (?:time=|duration_ms )[\d.]{1,20}(?:ms|s)?(?: \{)?$")
_PAIR = re.compile(
    r"\s*+(?P<key>error|message|name|stack|at|expected|actual|found|wanted|operator|location|code"
    r"|failureType|duration_ms|type|severity|source|test|line|file|column|diff|compare): ?"
    r"(?P<value>[^\n]*+)$"
)
_PERL = re.compile(r"#\s++at (?P<file>[^\n]{1,300}) line (?P<line>\d{1,9})\.?$")
_BATS = re.compile(r"# \(.{0,80}?\bfile (?P<file>[^\n,]{1,300}), line (?P<line>\d{1,9})\)")
_NOUNS = {"tests": "tests", "pass": "passed", "passed": "passed", "fail": "failed",
          "failed": "failed", "skipped": "skipped", "skip": "skipped", "todo": "todo"}  # fmt: skip
_OWN = re.compile(r"\s|#|$|\.\.\.$|---$")
_FOREIGN = 40
"""Lines of other output that may stand between two lines of a run."""


@dataclass(slots=True)
class _Result:
    test: str
    start: int
    stop: int
    indent: int
    failed: bool
    skipped: bool
    parent: bool = False


@dataclass(slots=True)
class _Run:
    start: int
    stop: int
    sure: bool = False
    planned: bool = False
    results: list[_Result] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    verdict: list[str] = field(default_factory=list)


class Tap:
    """Output in the Test Anything Protocol, versions 12 to 14, subtests included.

    A failure is the innermost frame in the project and the type of the error, where the
    diagnostics have a stack or a place; without one it is the test. A test that failed because
    its subtests did is none of its own; one marked as to be done did not fail.
    """

    name = "tap"
    kind = "tests"
    about = "each distinct failure once: its tests, what its diagnostics say; the figures"
    rank = 79
    hints = ("TAP version 1", "ok 1", "not ok ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each run from its version, plan or first result to its last line."""
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
            leaves = _leaves(run.results)
            every += [_failure(log, each, number) for each in leaves if each.failed]
            counts.update(run.figures or _counts(leaves))
        verdict = [line for run in runs for line in run.verdict]
        if not verdict:
            verdict = [", ".join(f"{count} {noun}" for noun, count in counts.items())]
        return TestRun(
            self.name,
            every,
            verdict="\n".join(verdict),
            counts={noun: count for noun, count in counts.items() if count},
            lines=len(log),
        )


def _runs(log: Log) -> list[_Run]:
    """Return the runs in *log*: a version, or a first test where one was, begins another."""
    runs: list[_Run] = []
    run: _Run | None = None
    for line, match in log.matching(_MARK):
        outer = not match["indent"]
        if run is None or (outer and _again(run, match)) or not _joins(log, run, line):
            run = _Run(line, line)
            runs.append(run)
        _take(run, match, line)
    for each in runs:
        if each.results and each.results[-1].stop == 0:
            each.results[-1].stop = each.stop = _below(log.lines, each.stop)
    return [run for run in runs if run.results and (run.sure or len(run.results) > 2)]


def _again(run: _Run, match: re.Match[str]) -> bool:
    """Whether another run begins with a version, a second plan, or a second first test."""
    if match["number"] == "1":
        return any(not each.indent for each in run.results)
    return match["version"] is not None or (match["plan"] is not None and run.planned)


def _joins(log: Log, run: _Run, line: int) -> bool:
    foreign = 0
    for at in range(run.stop, line):
        foreign += not _OWN.match(log.lines[at][:80])
        if foreign > _FOREIGN:
            return False
    return True


def _take(run: _Run, match: re.Match[str], line: int) -> None:
    """Add to *run* what one of its lines says."""
    if run.results and run.results[-1].stop == 0:
        run.results[-1].stop = line
    run.stop = line + 1
    if match["state"]:
        test = (match["test"] or "").strip().removeprefix("- ")
        parent = test.endswith(" {")
        test = _TIME.sub("", test)
        directive = _DIRECTIVE.search(test)
        failed = match["state"] == "not ok" and directive is None
        name = (test[: directive.start()] if directive else test).strip()
        skipped = directive is not None and directive["word"].upper() == "SKIP"
        indent = len(match["indent"])
        name = name or f"test {match['number']}"
        run.results.append(_Result(name, line, 0, indent, failed, skipped, parent))
    elif match["noun"]:
        noun = _NOUNS.get(match["noun"])
        if noun:
            run.figures[noun] = int(match["figure"])
            run.verdict.append(match[0])
    elif match["bail"]:
        run.verdict.append(match[0])
    else:
        run.sure = True
        run.planned |= match["plan"] is not None and not match["indent"]


def _below(lines: Sequence[str], stop: int) -> int:
    """Return the line after the diagnostics at *stop*."""
    at = stop
    while at < len(lines) and lines[at].strip() and _OWN.match(lines[at][:80]):
        at += 1
    return at


def _leaves(results: Sequence[_Result]) -> list[_Result]:
    """Return *results* without the tests that have subtests: further in, above or in braces."""
    leaves: list[_Result] = []
    inner = 0
    for each in results:
        parent = each.parent or inner > each.indent
        inner = each.indent
        if not parent:
            leaves.append(each)
    return leaves


def _counts(leaves: Sequence[_Result]) -> dict[str, int]:
    failed = sum(each.failed for each in leaves)
    skipped = sum(each.skipped for each in leaves)
    passed = len(leaves) - failed - skipped
    return {"tests": len(leaves), "passed": passed, "failed": failed, "skipped": skipped}


def _failure(log: Log, result: _Result, number: int) -> Failure:
    """Return *result* with the message, the stack or the place that its diagnostics give."""
    lines = log.lines[result.start + 1 : result.stop]
    for line in lines:
        placed = _PERL.match(line.strip()[:400]) or _BATS.match(line.strip()[:400])
        if placed:
            said = tuple(x.strip("# \t") for x in lines if x.startswith("#") and x.strip("# \t"))
            frame = Frame(placed["file"].strip("'\""), int(placed["line"]))
            return failure(result.test, number, Stack((frame,), "", said))
    return failure(result.test, number, _stack(lines))


def _stack(lines: Sequence[str]) -> Stack | None:
    """Return what diagnostics in YAML say; where there are none, the stack in the text."""
    pairs = _pairs(lines)
    if not pairs:
        return js_stack.read("\n".join(line.lstrip("#") for line in lines))
    stack = pairs.get("stack", [])
    places = [line.strip().removeprefix("at ") for line in stack]
    frames = [frame for place in places if (frame := js_stack.frame_of(place))]
    if not frames:
        frames = [frame for place in pairs.get("at", ()) if (frame := js_stack.frame_of(place))]
    told = ("error", "message", "expected", "actual", "found", "wanted")
    said = tuple(line for key in told for line in _told(key, pairs.get(key, ())))
    kind = next(iter(pairs.get("name", ())), "") or js_stack.thrown_type(stack)
    return Stack(js_stack.outermost_first(frames), kind, said)


def _told(key: str, value: Sequence[str]) -> Iterator[str]:
    for number, line in enumerate(value):
        yield line if number or key in ("error", "message") else f"{key}: {line}"


def _pairs(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the keys of a block of diagnostics in YAML, with the lines of each value."""
    pairs: dict[str, list[str]] = {}
    current: list[str] = []
    opened = False
    for line in lines:
        bare = line.strip()
        match = _PAIR.match(line) if opened else None
        if match:
            current = pairs.setdefault(match["key"], [])
            value = match["value"].strip()
            if value not in ("", "|-", "|", ">-", ">"):
                current.append(value.strip("'\""))
        elif opened and bare not in ("", "...", '"'):
            current.append(bare)
        opened = bare != "..." if opened else bare == "---"
    return pairs


REDUCER = Tap()
