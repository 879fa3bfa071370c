"""Marks: the lines by which the output of pytest is known, found in one pass over a log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["IDLE", "SECTIONS", "SUMMARY", "Mark", "marks", "verdict_counts"]

SUMMARY = "short test summary info"
SECTIONS = ("ERRORS", "FAILURES", "warnings summary", "PASSES", "XFAILURES", "XPASSES", SUMMARY)
"""The sections of a report, in the order in which pytest prints them."""

_COUNTED = (
    r"(?:no tests (?:ran|collected)|no tests collected \([^()\n]*+\)"
    r"|\d++ [a-z]++(?: (?!in )[a-z]++)?(?:, \d++ [a-z]++(?: (?!in )[a-z]++)?)*+)"
    r" in \d++\.\d++ ?s(?:econds)?(?: \(\d[\d:,. a-z]*+\))?"
)
_VERDICT = re.compile(f"{_COUNTED}$")
_STATUS = (
    r"PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN"
    r"|SUBPASS(?:ED)?|SUBFAIL(?:ED)?|SUBSKIP(?:PED)?"
)
_MARK = re.compile(
    r"^(?:=++ (?P<rule>[^\n]*?) =++ *+$"
    r"|_++ (?P<block>(?!_ )[^\n]*?) _++ *+$"
    r"|-++ (?P<dash>[^\n]*?) -++ *+$"
    r"|!++ (?P<bang>[^\n]*?) !++ *+$"
    rf"|(?P<quiet>{_COUNTED})$"
    r"|(?:\[gw\d++\] )?(?P<word>(?:FAILED|ERROR|FAIL|SUBFAIL(?:ED)?)(?=[ (\[<]))(?P<rest>[^\n]++)"
    r"|(?P<good>PASSED|SKIPPED|XFAIL|XPASS|RERUN) (?P<fine>\S[^\n]*+)"
    rf"|\[gw\d++\] \[ *+\d++%\] (?P<state>{_STATUS})(?P<test>[^\n]++)"
    rf"|(?P<id>[^\s:=_!>\[-][^:\n]*+::[^\n]*?) (?P<verb>{_STATUS})(?P<part>(?:[ (\[<][^\n]*)?)$"
    r"|(?P<dots>(?:\S++ )?[.FEsxXRruUyp,]++ *+\[ *+(?:\d++%|\d++/\d++|\d[\d.]*+m?s)\])$"
    r"|(?P<conftest>ImportError while loading conftest '[^'\n]++')"
    r"|(?P<stop>ERROR: (?!usage: |file or directory not found: )[^\n]++)"
    r"|(?P<usage>ERROR: usage: [^\n]*\[file_or_dir\]|ERROR: file or directory not found: )"
    r"|(?P<internal>INTERNALERROR> ?[^\n]*+))",
    re.MULTILINE,
)
IDLE = re.compile(
    r"^(?:(?:=++ (?:test session starts|short test summary info) =++ *+"
    r"|(?:\S++(?<=\.py|\.md|rst|txt|yml|pyx) ++)?[.FEsxXRruUyp,]++ *+(?:\[[ \d%/.ms]++\])? *+"
    r"|\[gw\d++\] \[ *+\d++%\] [A-Z][^\n]*+"
    rf"|(?:{_STATUS}) *+(?:\[ *+\d++%\])? *+|PASSED \S[^\n]*+"
    r"|[^\s:=_!>\[-][^:\n]*+::[^\n]*? (?:(?:SKIPPED|XFAIL|XPASS) *+(?:\[ *+\d++%\])? *+"
    r"|(?:PASSED|FAILED|ERROR|RERUN|SUB[A-Z]{4,10})(?:[ (\[<][^\n]*+)?)"
    r"|[^\s:]++(?<=\.py)::\S++ ++|(?:\S++(?<=\.py) ++)"
    r"|scheduling tests via \w++|bringing up nodes\.\.\.)(?:\n|\Z))++",
    re.MULTILINE,
)
"""Progress, tests that passed and titles: lines that say nothing beside the failures."""
_KINDS = {"rest": "word", "fine": "good", "test": "state", "part": "id"}
"""The kind of a line by the last group that matched in it, where that is not the kind itself."""
_ASIDE = re.compile(
    r"warnings summary(?: \(final\))?|slowest (?:\d++ )?(?:test )?durations|rerun test summary info"
)
_COUNT = re.compile(r"(?<!\d)(\d++) ([a-z]++(?: (?!in )[a-z]++)?)")
_OUTCOMES = frozenset(
    (
        "failed",
        "passed",
        "skipped",
        "deselected",
        "xfailed",
        "xpassed",
        "warning",
        "warnings",
        "error",
        "errors",
        "rerun",
        "reruns",
        "selected",
        "subtests passed",
        "subtests failed",
        "subtests skipped",
    )
)
_PLURAL = {"error": "errors", "warning": "warnings", "reruns": "rerun"}


@dataclass(frozen=True, slots=True)
class Mark:
    """One line of a report: *kind* says what it is, *text* what it says, *rest* what follows."""

    line: int
    kind: str
    text: str
    rest: str = ""


def marks(log: Log) -> Iterator[Mark]:
    """Yield the marks of *log* in order.

    Kinds: ``header`` of a session, ``rule`` (a section), ``verdict``, ``block`` (the title of one
    failure), ``dash`` (captured output), ``bang`` (why it stopped), ``word`` (a line of the
    summary), ``ran`` (a test that failed while the session ran), ``good`` (the first and the last
    of a run of tests that did not), ``dots``, ``conftest``, ``usage``, ``internal``, ``stop`` (an
    error that a plugin tells).
    """
    good = -1
    for match in _MARK.finditer(log.text):
        kind = match.lastgroup or ""
        kind = _KINDS.get(kind, kind)
        if kind == "good" or (kind in ("state", "id") and not _is_bad(match)):
            if good < 0:
                yield Mark(log.line_at(match.start()), "good", "", _test(match))
            good = match.start()
            continue
        if good >= 0:
            yield Mark(log.line_at(good), "good", "")
            good = -1
        line, text = log.line_at(match.start()), match[kind]
        if kind == "rule":
            kind, text = _rule(text)
        elif kind == "quiet":
            kind = "verdict" if verdict_counts(text) is not None else ""
        elif kind == "block":
            kind = "block" if text.strip("_ ") else ""
        elif kind in ("state", "id"):
            yield Mark(line, "ran", match["state"] or match["verb"], _test(match))
            continue
        if kind:
            yield Mark(line, kind, text, match["rest"] or "")
    if good >= 0:
        yield Mark(log.line_at(good), "good", "")


def _is_bad(match: re.Match[str]) -> bool:
    """Whether the outcome of a test, printed while the session ran, is a failure."""
    return (match["state"] or match["verb"]).startswith(("FAIL", "ERROR", "SUBFAIL"))


def _test(match: re.Match[str]) -> str:
    """Return the id of the test in a line with its outcome."""
    return (match["fine"] or match["test"] or match["id"] or "").strip()


def _rule(title: str) -> tuple[str, str]:
    if title == "test session starts":
        return "header", title
    if _VERDICT.match(title) and verdict_counts(title) is not None:
        return "verdict", title
    if title in SECTIONS:
        return "rule", title
    return "rule" if _ASIDE.fullmatch(title) else "other", title


def verdict_counts(verdict: str) -> dict[str, int] | None:
    """Return what a session's last line counts, by noun; None if it is no such line."""
    counts: dict[str, int] = {}
    if verdict.startswith("no tests"):
        return counts
    for number, noun in _COUNT.findall(verdict.partition(" in ")[0]):
        if noun not in _OUTCOMES and not noun.startswith(("subtests", "snapshot")):
            return None
        counts[_PLURAL.get(noun, noun)] = int(number[:12])
    return counts or None
