"""javac, Eclipse's compiler and ant: the first error of each file, then the compiler's count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import build, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.form import Form
from policies.reducers.java import is_summary, java_diagnostics
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Javac"]

_WORDS = (" error", " warning", " problem", "BUILD ")
_ANT = re.compile(r"BUILD (?:FAILED|SUCCESSFUL)$")
_TARGET = re.compile(r"(?P<name>[\w.-]++):$")
_GAP = 20


class Javac:
    """javac in any language, with ant's prefix or without, and the ``ecj`` batch compiler."""

    name = "javac"
    about = "the first error of each file and its target, warnings counted"
    kind = "build"
    rank = 50
    hints = (".java:", "(at line ", "[javac]")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of diagnostics with their source lines and the count at the end."""
        own = [each.line for each in java_diagnostics(log)]
        own += [n for n in lines_with(log, ("[javac] ",)) if "[javac] " in log.lines[n][:60]]
        for group in clusters(sorted(set(own)), _GAP):
            yield Span(_start(log.lines, group[0]), _stop(log.lines, group[-1]))

    def read(self, log: Log) -> Form | None:
        """Return the errors by file, or the warnings where there is no error."""
        found = java_diagnostics(log)
        said = [n for n in lines_with(log, _WORDS) if _is_last(log.lines[n])]
        if not found and not said and not log.has("[javac] "):
            return None
        errors = [each for each in found if each.error]
        head = _target(log.lines, errors[0].line) if errors else ""
        verdict = last_words(log.lines[n] for n in said)
        return build(self.name, log, found, head=head, verdict=verdict)


def _is_last(line: str) -> bool:
    return is_summary(line) or _ANT.match(line) is not None


def _start(lines: Sequence[str], first: int) -> int:
    """Return the line of ant's target, if it stands right above line *first*."""
    return (
        first - 1
        if first and (_TARGET.match(lines[first - 1]) or _rule(lines[first - 1]))
        else first
    )


def _rule(line: str) -> bool:
    return len(line) > 4 and set(line) == {"-"}


def _stop(lines: Sequence[str], last: int) -> int:
    """Return the line after the source lines, notes and counts below line *last*."""
    stop = last + 1
    until = min(len(lines), last + 30)
    for number in range(last + 1, until):
        line = lines[number]
        if (
            line.startswith(("Note: ", "Total time: "))
            or _is_last(line)
            or _rule(line)
            or (
                number == stop
                and line.strip()
                and (line[0].isspace() or number <= last + 3)
                and number <= last + 8
            )
        ):
            stop = number + 1
    return stop


def _target(lines: Sequence[str], line: int) -> str:
    """Return ant's target above *line*, at most some hundred lines up."""
    if "[javac]" not in lines[line][:60]:
        return ""
    for number in range(line - 1, max(-1, line - 400), -1):
        if _TARGET.match(lines[number]):
            return f"target {lines[number]}"
    return ""


REDUCER = Javac()
