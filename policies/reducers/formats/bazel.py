"""Bazel: the first error with the target whose action failed, failed tests, the last word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.reducers.build import Diagnostic, build, last_words
from policies.reducers.compilers import ANCHORS, clusters, diagnostics, lines_with
from policies.reducers.findings import Item
from policies.reducers.form import Form
from policies.reducers.java import java_diagnostics
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Bazel"]

_ANCHORS = ("ERROR: ", "INFO: ", "WARNING: ", "Target //", "//", "FAILED: Build did", "Executed ",
            "DEBUG: ")  # fmt: skip
_CLOCK = r"(?:\(\d\d:\d\d:\d\d\) )?"
_LINE = re.compile(
    rf"{_CLOCK}(?:ERROR: (?P<error>.*)|INFO: (?:Build (?:completed|options)|Analyzed |Found \d"
    r"|Elapsed time: |From |Invocation ID: |\d++ process|Streaming build|Repository )"
    r"|WARNING: |DEBUG: |Target //\S++ (?:failed to build|up-to-date)"
    r"|FAILED: Build did NOT complete"
    r"|(?P<test>@?@?[\w.~+-]*//\S++)[ \t]++(?:\(cached\) )?(?P<result>FAILED|PASSED|TIMEOUT"
    r"|NO STATUS"
    r"|FLAKY|FAILED TO BUILD|REMOTE CACHE HIT)|Executed \d++ out of \d++ tests?|Loading:"
    r"|Analyzing:)"
)
_STRONG = re.compile(
    rf"{_CLOCK}(?:INFO: (?:Build completed|Analyzed |Elapsed time: |Invocation ID: )|Target //"
    r"|FAILED: Build did NOT|Executed \d++ out of|ERROR: (?:\S*BUILD(?:\.bazel)?:\d|Build did NOT))"
)
_PLACE = re.compile(r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+)(?P<where>:\d++:\d++): ")
_VERDICT = re.compile(
    rf"{_CLOCK}(?:FAILED: Build did NOT|ERROR: Build (?:did NOT|failed)|INFO: Build completed"
    r"|Executed \d++ out of|ERROR: Analysis of target)"
)
_GAP = 150


class Bazel:
    """bazel build and test, with the compilers' output inside."""

    name = "bazel"
    about = "the first error and its target, each failed test, the last word"
    kind = "build"
    rank = 60
    hints = (
        "INFO: Build completed",
        "INFO: Analyzed ",
        "FAILED: Build did NOT",
        "INFO: Elapsed time: ",
        "Target //",
        "BUILD:",
        "BUILD.bazel:",
        "INFO: Invocation ID: ",
        "Executed ",
        "ERROR: Build ",
    )

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the builds."""
        own = [n for n in lines_with(log, _ANCHORS) if _LINE.match(log.lines[n])]
        for group in clusters(own, _GAP):
            if any(_STRONG.match(log.lines[n]) for n in group):
                yield Span(group[0], group[-1] + 1)

    def read(self, log: Log) -> Form | None:
        """Return the compilers' errors by file, or Bazel's own, and the failed tests."""
        lines = log.lines
        own = {n: m for n in lines_with(log, _ANCHORS) if (m := _LINE.match(lines[n]))}
        if not own:
            return None
        found = diagnostics(log, numbers=lines_with(log, ANCHORS)) + java_diagnostics(log)
        found.sort(key=lambda each: each.line)
        actions = [n for n, m in own.items() if m["error"] and not _VERDICT.match(lines[n])]
        if not any(each.error for each in found):
            for number in actions:
                place = _PLACE.match(own[number]["error"])
                file, where = (place["file"], place["where"]) if place else ("", "")
                below = "\n".join(line[:300] for line in lines[number + 1 : number + 9])
                found.append(Diagnostic(number, file, lines[number], True, below, where))
        first = next((each.line for each in found if each.error), 0)
        above = [n for n in actions if n < first] or actions[:1]
        tests = [
            Item(lines[n].strip(), key=m["test"], names=(m["test"],))
            for n, m in own.items()
            if m["test"] and m["result"] in ("FAILED", "TIMEOUT")
        ]
        return build(
            self.name,
            log,
            found,
            head=lines[above[-1]][:600] if above and above[-1] != first else "",
            verdict=last_words(lines[n] for n in own if _VERDICT.match(lines[n])),
            tests=tests,
        )


REDUCER = Bazel()
