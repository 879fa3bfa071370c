"""pytest: each distinct failure once with its tests, its assertion and the last frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.pytest_failures import failures
from policies.reducers.pytest_marks import verdict_counts
from policies.reducers.pytest_sessions import Session, sessions
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "Pytest"]


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
        verdicts = [line for session in runs for line in _ends(session)]
        if not every and not verdicts:
            return None
        counts: Counter[str] = Counter()
        for session, own in zip(runs, found, strict=True):
            counts.update(_counts(session, own))
        return TestRun(
            self.name, every, verdict="\n".join(verdicts), counts=dict(counts), lines=len(log)
        )


def _ends(session: Session) -> Iterator[str]:
    yield from session.stops
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
