"""JUnit XML: each distinct failure once with its tests, its message and the last frames."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers import stacks
from policies.reducers.findings import plural
from policies.reducers.form import Form
from policies.reducers.junit import Case, Document, Problem, documents
from policies.reducers.log import Log, Span
from policies.reducers.testrun import Failure, TestRun

__all__ = ["REDUCER", "JUnit"]

_NOUNS = {"tests": "tests", "failures": "failed", "errors": "errors", "skipped": "skipped"}
"""The figures a suite declares, and how they are called here."""


class JUnit:
    """Reports in the XML of JUnit, as Ant, Maven, Gradle, pytest, Jest and many others write it.

    A failure is the innermost frame in the project and the type of the exception, from a stack of
    Python, the JVM or JavaScript; without one it is the test case. What a suite declares and what
    its cases say is compared. Of broken XML all test cases that can be read are.
    """

    name = "junit"
    kind = "tests"
    about = "each distinct failure once: its tests, its message, its last frames; the figures"
    rank = 90
    hints = ("<testsuite", "<testcase")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the documents, each from its declaration to the end of its root element."""
        for document in documents(log.text):
            last = max(document.start, document.stop - 1)
            yield Span(log.line_at(document.start), log.line_at(last) + 1)

    def read(self, log: Log) -> Form | None:
        """Return the failures of all documents in *log*; counts are of their elements."""
        found = list(documents(log.text))
        if not found:
            return None
        every = [f for number, document in enumerate(found) for f in _failures(document, number)]
        counts = _counts(found)
        said = [_sum(found, counts), *_mismatch(found, counts), *_breaks(log, found)]
        return TestRun(
            self.name, every, verdict="\n".join(said), counts=counts, lines=max(2, len(log))
        )


def _failures(document: Document, number: int) -> Iterator[Failure]:
    for case in document.cases:
        for problem in case.problems:
            yield _failure(case, problem, number)


def _failure(case: Case, problem: Problem, number: int) -> Failure:
    """Return *problem* as a failure; its message is the attribute's if the text has it not."""
    name = case.name
    if case.classname and not name.startswith(case.classname):
        name = f"{case.classname}.{name}" if name else case.classname
    also = (case.name,) if case.name and case.name != name else ()
    stack = stacks.read(problem.text)
    frame = stacks.own_frame(stack) if stack else None
    kind = (stack.type if stack else "") or problem.type
    key = (number, *(stacks.key_of(stack, frame) if stack and frame else (name, problem.kind)))
    message = stack.message if stack else ()
    if problem.message and problem.message.split("\n")[0].strip() not in "\n".join(message):
        message = (*problem.message.strip().split("\n"), *message)
    return Failure(
        name or "a test case without a name",
        key,
        message or (problem.message or problem.kind,),
        kind,
        frame.place if frame else "",
        stack.frames if stack else (),
        also,
    )


def _counts(found: list[Document]) -> dict[str, int]:
    cases = [case for document in found for case in document.cases]
    kinds = [problem.kind for case in cases for problem in case.problems]
    skipped = sum(case.skipped and not case.problems for case in cases)
    return {
        "tests": len(cases),
        "failed": kinds.count("failure"),
        "errors": kinds.count("error"),
        "skipped": skipped,
    }


def _sum(found: list[Document], counts: dict[str, int]) -> str:
    suites = sum(len(document.suites) for document in found)
    parts = [f"{counts[ours]:,} {declared}" for declared, ours in _NOUNS.items()]
    return f"{', '.join(parts)} in {suites:,} {plural('suite', suites)}"


def _mismatch(found: list[Document], counts: dict[str, int]) -> Iterator[str]:
    """Yield a line if the suites declare other figures than their test cases give."""
    said = []
    if any(document.outside for document in found):
        return
    for declared, ours in _NOUNS.items():
        figures = [each.get(declared, "") for document in found for each in document.declared]
        if not figures or not all(each.isdecimal() for each in figures):
            continue
        total = sum(int(each[:12]) for each in figures)
        if total != counts[ours]:
            said.append(f"{total:,} {declared}")
    if said:
        yield f"[the suites declare {', '.join(said)}]"


def _breaks(log: Log, found: list[Document]) -> Iterator[str]:
    """Yield what could not be read: where the XML breaks, ends or was left."""
    lines = [log.number(log.line_at(at)) for document in found for at in document.broken]
    if lines:
        more = f" and at {len(lines) - 1:,} more places" if len(lines) > 1 else ""
        yield f"[not well-formed XML at line {lines[0]:,}{more}: all readable test cases count]"
    if any(document.cut for document in found):
        yield "[the XML is cut off: the test cases up to there count]"
    if any(document.left for document in found):
        yield "[too many breaks: the rest of the XML was not read]"


REDUCER = JUnit()
