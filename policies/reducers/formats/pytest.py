"""pytest: each distinct failure once with its tests, its assertion and the last frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from policies.reducers.aside import aside
from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.pytest_failures import failures
from policies.reducers.pytest_marks import IDLE, verdict_counts
from policies.reducers.pytest_sessions import Session, sessions
from policies.reducers.room import clip
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "Pytest"]

_ERRORS = 3
"""Lines in which a plugin says that it failed that stand beside the verdict."""
_LINE = 240
"""Characters of such a line."""


class Pytest:
    """Sessions of pytest in any traceback style and verbosity, with or without workers.

    A failure is the innermost frame in the project and the type of the exception; without a
    traceback it is the test id. A session that a test runs belongs to that test.
    """

    name = "pytest"
    kind = "tests"
    about = "each distinct failure once: its tests, its assertion, its last frames; the verdict"
    rank = 80
    hints = (
        "test session starts",
        "short test summary info",
        "= FAILURES =",
        "= ERRORS =",
        ".py::",
        "%]",
        " passed in ",
        " passed, ",
        " failed in ",
        " failed, ",
        " error in ",
        " errors in ",
        " skipped in ",
        " deselected in ",
        "no tests ran in ",
        "loading conftest ",
    )

    def find(self, log: Log) -> Iterator[Span]:
        """Yield each session from its header, or its first line of progress, to its verdict."""
        for session in sessions(log):
            yield Span(session.start, session.stop)

    def read(self, log: Log) -> Form | None:
        """Return the failures of all sessions in *log*, in order; counts are the verdicts'."""
        runs = sessions(log)
        found = [failures(log, session, number) for number, session in enumerate(runs)]
        every = [failure for each in found for failure in each]
        verdicts = [line for session in runs for line in _ends(log, session)]
        if not every and not verdicts:
            return None
        counts: Counter[str] = Counter()
        for session, own in zip(runs, found, strict=True):
            counts.update(_counts(session, own))
        return TestRun(
            self.name,
            every,
            verdict="\n".join(verdicts),
            counts=dict(counts),
            lines=len(log),
            other=partial(_other, log, runs),
        )


def _other(log: Log, runs: Sequence[Session]) -> Log:
    """Return what stands in *runs* beside failures, progress and verdicts."""
    told = [Span(*lines) for session in runs for lines in session.told]
    told += [Span(line, line + 1) for session in runs for line in _errors(log, session)]
    return aside(log, (Span(session.start, session.stop) for session in runs), told, IDLE)


def _errors(log: Log, session: Session) -> list[int]:
    """Return the lines, the last of those that differ, in which a plugin says that it failed."""
    lines = {log.lines[line]: line for line in session.errors}
    return sorted(lines.values())[-_ERRORS:]


def _ends(log: Log, session: Session) -> Iterator[str]:
    yield from session.stops
    yield from (clip(log.lines[line], _LINE) for line in _errors(log, session))
    if session.end:
        yield session.end


def _counts(session: Session, own: Sequence[Failure]) -> dict[str, int]:
    """Return what the verdict counts; of a session without one, what was read of it."""
    counts = verdict_counts(session.verdict) if session.verdict else None
    if counts is not None:
        return counts
    listed = session.summary or session.ran
    errors = sum(word.startswith("ERROR") for word, _ in listed) or sum(
        block.section == "ERRORS" for block in session.blocks
    )
    counts = {"failed": max(0, len(own) - errors), "errors": errors}
    return {noun: count for noun, count in counts.items() if count}


REDUCER = Pytest()
