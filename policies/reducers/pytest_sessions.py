"""Sessions of pytest: where each begins and ends, also where tests run pytest themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.reducers.pytest_marks import SECTIONS, SUMMARY, Mark, marks, verdict_counts

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["Block", "Session", "node", "sessions", "title_of"]

_DOTS = re.compile(r"(?:\S+\.\w+ )?[.FEsxXRruUyp,]+|bringing up nodes\.\.\.|\s*")
_AT = re.compile(r"ERROR (?:at (?:setup|teardown) of|collecting) |\[doctest\] ")
_SUBTEST = re.compile(r"(?P<about>[(\[].*?[\])]) (?P<rest>[^\s:]+::.*)")
_ID = re.compile(r"\s*\S+\.\w+::\w")
_PLUGIN = re.compile(
    r"(?:tests? )?coverage\b.*|.*\bsummary|.*\b(?:test )?durations|Hypothesis Statistics"
    r"|.*\b[Rr]eport|generated \w+ .*|benchmark\b.*: \d+ tests?\b.*|.*\bLegend:?"
)
_COVERAGE = "Required test coverage of "
_FAILING = ("ERRORS", "FAILURES", "CONFTEST")


@dataclass(slots=True)
class Block:
    """What was printed of one failure: *section* and *title*, and its lines without captures."""

    section: str
    title: str
    start: int
    stop: int = 0
    notes: list[tuple[str, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Session:
    """One run: its lines, its verdict, what was printed of each failure, the tests it names.

    *end* is the line in which the verdict stands, *summary* are the (word, rest) of
    the short summary, *ran* those of tests that failed while it ran, *stops* the reasons why it
    ended, *loose* the lines of a section without titles. *told* are the spans of lines that are
    the report of its failures, *errors* the lines in which a plugin says that it failed. It is
    *certain* once a line of it can be of nothing else.
    """

    start: int
    stop: int = 0
    verdict: str = ""
    end: str = ""
    blocks: list[Block] = field(default_factory=list)
    summary: list[tuple[str, str]] = field(default_factory=list)
    ran: list[tuple[str, str]] = field(default_factory=list)
    stops: list[str] = field(default_factory=list)
    loose: tuple[int, int] | None = None
    internal: list[str] = field(default_factory=list)
    told: list[tuple[int, int]] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    certain: bool = False


def node(rest: str) -> tuple[str, str]:
    """Return the test id and the message of the *rest* of a line of the summary.

    A parameter may hold the `` - `` that stands before the message.
    """
    rest = rest.strip()
    if rest.startswith(("[", "(")):
        said = _SUBTEST.match(rest)
        if said:
            name, message = node(said["rest"])
            return f"{name} {said['about']}", message
    dash, bracket = rest.find(" - "), rest.find("[")
    if bracket >= 0 and (dash < 0 or bracket < dash):
        close = rest.find("] - ", bracket)
        if close >= 0:
            return rest[: close + 1], rest[close + 4 :]
        if rest.endswith("]") or dash < 0:
            return rest, ""
    return (rest[:dash], rest[dash + 3 :]) if dash >= 0 else (rest, "")


def sessions(log: Log) -> list[Session]:
    """Return the sessions of *log* in order; one inside the captured output of a test is none."""
    found = list(marks(log))
    first = _Reader(log, found, mends=False)
    done = first.read()
    return _Reader(log, found, mends=True).read() if first.unsure else done


class _Reader:
    """Goes through the marks with the session that is open and how many are nested in it.

    It is *unsure* if a nested session seems not to end. If it *mends*, the title of a failure
    that the last summary names ends it.
    """

    def __init__(self, log: Log, found: Sequence[Mark], *, mends: bool) -> None:
        self.log = log
        self.marks = found
        self.done: list[Session] = []
        self.open: Session | None = None
        self.depth = 0
        self.section = ""
        self.captured = False
        self.last = 0
        self.skip = -1
        self.reported = 0
        self.mends = mends
        self.unsure = False
        self.alone = sum(mark.kind == "header" for mark in found) == 1
        self.final, self.known = _final_summary(found)
        self.followed = _followed(found)
        self.failed = -1

    def read(self) -> list[Session]:
        for at, mark in enumerate(self.marks):
            if self.depth > 1:
                self._nested(at, mark)
            if self.depth <= 1:
                self._take(at, mark)
        self.unsure = self.unsure or self.depth > 1
        if self.open:
            self._close(self.open, self._cut(len(self.log)))
        return [session for session in self.done if session.certain]

    def _nested(self, at: int, mark: Mark) -> None:
        """Take a mark inside a nested session: it may end that, or show that it ended unseen."""
        if mark.kind == "header":
            self.depth += 1
        elif mark.kind == "verdict":
            self.depth -= 1
            self.skip = at
        elif at == self.final:
            self.depth, self.unsure = 1, True
        elif self.mends and mark.kind == "block" and _titled(mark.text) in self.known:
            self.depth = 1

    def _take(self, at: int, mark: Mark) -> None:
        if at == self.skip:
            return
        if mark.kind == "header":
            self._header(mark)
            return
        if mark.kind == "verdict" and self._inner_verdict(at):
            return
        if self.open and not self.open.certain and mark.kind in ("dots", "ran", "good"):
            self.open = None
        session = self.open or self._begin(mark)
        if session is None:
            return
        self._end_word(session, mark.line)
        getattr(self, f"_{mark.kind}")(session, mark)
        self.last = mark.line

    def _header(self, mark: Mark) -> None:
        if self.open and self.captured:
            self.depth += 1
            return
        if self.open:
            self._close(self.open, self._cut(mark.line))
        session = self._start(mark.line)
        session.certain = True
        session.told.append((mark.line, mark.line + 1))
        self.last = mark.line

    def _start(self, line: int) -> Session:
        self.open = Session(line)
        self.depth, self.section, self.captured = 1, "", False
        return self.open

    def _begin(self, mark: Mark) -> Session | None:
        """Open a session without a header at *mark*, if it is one by which a session is known."""
        if not _begins(mark):
            return None
        start = mark.line
        floor = self.done[-1].stop if self.done else 0
        while start > floor and _DOTS.fullmatch(self.log.lines[start - 1][:400]):
            start -= 1
        while start < mark.line and not self.log.lines[start].strip():
            start += 1
        return self._start(start)

    def _inner_verdict(self, at: int) -> bool:
        """Whether a verdict stands in captured output: the report of the session goes on after."""
        if not (self.open and self.captured):
            return False
        for following in range(at + 1, len(self.marks)):
            kind = self.marks[following].kind
            if kind not in ("dash", "other", "stop"):
                return kind in ("block", "rule", "word", "verdict", "bang")
        return False

    def _cut(self, limit: int) -> int:
        """Return where a session without a verdict ends: with its last failure, or paragraph."""
        if self.section in ("ERRORS", "FAILURES"):
            return limit
        stop = self.last + 1
        while stop < limit and self.log.lines[stop].strip():
            stop += 1
        return stop

    def _end_word(self, session: Session, line: int) -> None:
        """End the last line of the summary, whose message may have several, at *line*."""
        if self.failed >= 0:
            session.told.append((self.failed, line))
        self.failed = -1

    def _close(self, session: Session, stop: int) -> None:
        self._end_word(session, stop)
        self._end_block(session, stop)
        for block in session.blocks:
            block.stop = block.stop or stop
        session.stop = stop
        self.done.append(session)
        self.open, self.depth, self.section, self.captured = None, 0, "", False

    def _end_block(self, session: Session, line: int) -> None:
        """End what is open at *line*: the section without titles, the last failure."""
        if self.section in _FAILING:
            session.told.append((self.reported, line))
            self.reported = line
        if session.loose and not session.loose[1]:
            session.loose = (session.loose[0], line)
        elif self.section in ("ERRORS", "FAILURES") and session.blocks:
            self._end_text(session.blocks[-1], line)

    def _end_text(self, block: Block, line: int) -> None:
        block.stop = block.stop or line
        if block.notes and not block.notes[-1][2]:
            block.notes[-1] = (*block.notes[-1][:2], line)

    def _verdict(self, session: Session, mark: Mark) -> None:
        session.verdict = mark.text
        session.end = self.log.lines[mark.line].strip()
        session.certain = True
        session.told.append((mark.line, mark.line + 1))
        self._end_block(session, mark.line)
        self.section = ""
        self._close(session, mark.line + 1)

    def _rule(self, session: Session, mark: Mark) -> None:
        if self.captured and (self._foreign(mark) or _earlier(mark.text, self.section)):
            return
        self._end_block(session, mark.line)
        self.section, self.captured, self.reported = mark.text, False, mark.line
        if mark.text == "FAILURES":
            session.loose = (mark.line + 1, 0)

    def _foreign(self, mark: Mark) -> bool:
        """Whether a short summary is not the last one, where there is but one session."""
        final = self.marks[self.final] if self.alone and self.final >= 0 else None
        return final is not None and mark.text == SUMMARY and mark is not final

    def _block(self, session: Session, mark: Mark) -> None:
        if self.section not in ("ERRORS", "FAILURES"):
            return
        if self.captured and self.alone and self.known and _titled(mark.text) not in self.known:
            return
        self._end_block(session, mark.line)
        if self.section == "FAILURES":
            session.loose = None
        self.captured = False
        session.certain = True
        session.blocks.append(Block(self.section, mark.text, mark.line + 1))

    def _dash(self, session: Session, mark: Mark) -> None:
        if self.section not in SECTIONS or self.section == SUMMARY:
            return
        captures = mark.text.startswith("Captured ")
        if self.section in _FAILING and self._is_over(mark):
            self._other(session, mark)
            return
        if self.section in ("ERRORS", "FAILURES") and session.blocks and not session.loose:
            if captures or not self.captured:
                self._end_text(session.blocks[-1], mark.line)
            if not captures and not self.captured:
                session.blocks[-1].notes.append((mark.text, mark.line + 1, 0))
        self.captured = self.captured or captures

    def _bang(self, session: Session, mark: Mark) -> None:
        if self.section != "PASSES" and not self.captured:
            self._end_block(session, mark.line)
            self.section = "" if self.section != SUMMARY else SUMMARY
            session.stops.append(self.log.lines[mark.line])
            session.told.append((mark.line, mark.line + 1))

    def _word(self, session: Session, mark: Mark) -> None:
        if self.section == SUMMARY or (self.section == "" and _ID.match(mark.rest)):
            session.certain = True
            session.summary.append((mark.text, mark.rest))
            session.told.append((mark.line, mark.line + 1))
            self.failed = mark.line if self.section == SUMMARY else -1
        elif mark.text == "FAIL":
            self._stop(session, mark)

    def _stop(self, session: Session, mark: Mark) -> None:
        """Take a line in which a plugin says that it failed, unless it was captured."""
        last = _COVERAGE in mark.rest[:80] and mark.line not in self.followed
        if last or not (self.captured or self.section in (*_FAILING, "PASSES")):
            session.errors.append(mark.line)

    def _ran(self, session: Session, mark: Mark) -> None:
        if self.section == "":
            session.certain = True
            session.ran.append((mark.text, mark.rest))

    def _usage(self, session: Session, mark: Mark) -> None:
        if self.section == "":
            session.certain = True
            session.stops.append(self.log.lines[mark.line])
            session.told.append((mark.line, mark.line + 1))

    def _internal(self, session: Session, mark: Mark) -> None:
        session.certain = True
        session.internal.append(mark.text)

    def _conftest(self, session: Session, mark: Mark) -> None:
        if self.section == "":
            session.certain = True
            self.section, self.reported = "CONFTEST", mark.line
            session.blocks.append(Block("ERRORS", mark.text, mark.line))

    def _dots(self, session: Session, mark: Mark) -> None:
        session.certain = True

    def _good(self, session: Session, mark: Mark) -> None:
        """A test that did not fail."""

    def _other(self, session: Session, mark: Mark) -> None:
        """A rule of a plugin: what stands above it is over."""
        failing = self.section in ("ERRORS", "FAILURES")
        known = not failing or _PLUGIN.fullmatch(mark.text)
        if self._is_over(mark) or (not self.captured and known):
            self._end_block(session, mark.line)
            self.section, self.captured = mark.text, False

    def _is_over(self, mark: Mark) -> bool:
        """Whether a plugin reports below the last failure, whose captured output has no end."""
        return mark.line not in self.followed and _PLUGIN.fullmatch(mark.text) is not None


def _begins(mark: Mark) -> bool:
    """Whether a session without a header may begin at *mark*."""
    if mark.kind in ("word", "ran", "good"):
        return _ID.match(mark.rest) is not None
    if mark.kind == "dots":
        return "%" in mark.text or ".py " in mark.text
    return mark.kind not in ("dash", "bang", "other", "block", "stop")


def _followed(found: Sequence[Mark]) -> frozenset[int]:
    """Return the lines of marks below which the title of a failure of the same session stands."""
    lines: set[int] = set()
    follows = False
    for mark in reversed(found):
        if mark.kind == "header":
            follows = False
        elif follows:
            lines.add(mark.line)
        follows = follows or mark.kind == "block"
    return frozenset(lines)


def _earlier(title: str, section: str) -> bool:
    """Whether the section *title* stands before *section* in a report, or is the same."""
    if title not in SECTIONS or section not in SECTIONS:
        return False
    return SECTIONS.index(title) <= SECTIONS.index(section)


def _titled(title: str) -> str:
    found = _AT.match(title)
    return title[found.end() :] if found else title


def _final_summary(found: Sequence[Mark]) -> tuple[int, frozenset[str]]:
    """Return the position of the last short summary, and the titles of the tests it names.

    Without a title, or where it does not name all that the verdict counts, nothing is known.
    """
    nothing = -1, frozenset[str]()
    stop = next((at for at in range(len(found) - 1, -1, -1) if found[at].kind == "verdict"), -1)
    if stop < 0:
        return nothing
    counts = verdict_counts(found[stop].text) or {}
    expected = counts.get("failed", 0) + counts.get("errors", 0)
    known: set[str] = set()
    named = 0
    for at in range(stop - 1, -1, -1):
        mark = found[at]
        if mark.kind == "rule" and mark.text == SUMMARY:
            return (at, frozenset(known)) if named == expected else nothing
        if mark.kind in ("rule", "verdict", "header"):
            return nothing
        if mark.kind == "word":
            named += 1
            name = node(mark.rest)[0]
            known.update((name, title_of(name)))
    return nothing


def title_of(name: str) -> str:
    """Return the title under which pytest prints the failure of the test *name*."""
    bracket = name.find("[")
    plain, rest = (name[:bracket], name[bracket:]) if bracket >= 0 else (name, "")
    parts = plain.split("::")
    return ".".join(parts[1:] or parts) + rest
