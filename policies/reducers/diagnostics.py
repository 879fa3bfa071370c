"""What checkers report: diagnostics by file, the lines they stand in, the tool's last word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from policies.reducers.build import Diagnostic
from policies.reducers.by_file import ByFile
from policies.reducers.findings import Findings, Item
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["Checker", "Scan", "below", "checked", "joined", "lines_of"]

_GAP = 3
"""Lines of something else that may stand between two lines of one run."""
_DETAIL = 8
"""Lines below a diagnostic that are kept as its detail."""
_CLIP = 300
"""Characters of a line of detail that are kept."""


@dataclass(slots=True)
class Scan:
    """The lines of one tool in a log, by number from 0.

    *found* are its diagnostics; *verdicts* its last words; *own* other lines of it. A run of such
    lines is the tool's only if a line of *sure* is in it, or where *alone* a diagnostic.
    """

    found: list[Diagnostic] = field(default_factory=list)
    verdicts: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    sure: set[int] = field(default_factory=set)
    alone: bool = True

    def lines(self) -> list[int]:
        """Return the numbers of all lines, sorted, each once."""
        return sorted({d.line for d in self.found} | {*self.verdicts, *self.own, *self.sure})


class Checker:
    """A reducer of what a type checker or a linter prints: the first error of each file.

    A subclass says in :meth:`scan` which lines are its own. *filler* matches the start of a line
    that may stand between them, up to *bridge* lines: blank or indented ones unless it says
    otherwise. At most *tail* of them belong to the last line of a run.
    """

    name: str = ""
    about: str = "the first error of each file, and counts of the rest"
    kind: str = "lint"
    rank: int = 52
    hints: tuple[str, ...] = ()
    filler: ClassVar[re.Pattern[str]] = re.compile(r"\s|$")
    bridge: ClassVar[int] = 400
    tail: ClassVar[int] = 40

    def scan(self, log: Log) -> Scan:
        """Return the tool's lines in *log*."""
        raise NotImplementedError

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of the tool's lines with what stands between them."""
        scan = self.scan(log)
        sure = scan.sure | ({each.line for each in scan.found} if scan.alone else set())
        for group in self._groups(log.lines, scan):
            if sure.isdisjoint(group):
                continue
            span = Span(self.above(log.lines, group[0]), self.below(log.lines, group[-1]))
            if self.claims(log, span):
                yield span

    def read(self, log: Log) -> Form | None:
        """Return the diagnostics by file; None if there is no line of the tool's own."""
        scan = self.scan(log)
        if not scan.found and not scan.sure:
            return None
        words = joined(log.lines[number] for number in sorted(scan.verdicts))
        return checked(self.name, scan.found, verdict=words)

    def claims(self, log: Log, span: Span) -> bool:
        """Whether the run at *span* is this tool's, where another prints such lines, too."""
        return True

    def bridged(self, lines: Sequence[str], start: int, stop: int) -> bool:
        """Whether lines *start* to *stop*, between two of the tool's, are a part of its run."""
        if stop - start > self.bridge:
            return False
        foreign = sum(not self.filler.match(line) for line in lines[start:stop])
        return foreign <= _GAP

    def ends(self, lines: Sequence[str], last: int, number: int) -> bool:
        """Whether the verdict at line *last* ends a run, so that line *number* begins another."""
        return False

    def above(self, lines: Sequence[str], first: int) -> int:
        """Return the line at which a run begins whose first own line is *first*."""
        return first

    def below(self, lines: Sequence[str], last: int) -> int:
        """Return the line after a run whose last own line is *last*: past the source below it."""
        stop = last + 1
        while (
            stop < len(lines)
            and stop - last <= self.tail
            and lines[stop].strip()
            and self.filler.match(lines[stop])
        ):
            stop += 1
        return stop

    def _groups(self, lines: Sequence[str], scan: Scan) -> Iterator[list[int]]:
        group: list[int] = []
        verdicts = set(scan.verdicts)
        for number in scan.lines():
            if group and (
                (number - group[-1] > 1 and not self.bridged(lines, group[-1] + 1, number))
                or (group[-1] in verdicts and self.ends(lines, group[-1], number))
            ):
                yield group
                group = []
            group.append(number)
        if group:
            yield group


def checked(
    tool: str,
    diagnostics: Iterable[Diagnostic],
    *,
    verdict: str = "",
    noun: str = "",
    counts: Mapping[str, int] | None = None,
) -> ByFile:
    """Return the form of what a checker reported: each file by its first error.

    A file that has warnings alone stands with the first of them, after those with errors. *noun*
    names one of what is counted: without it an error or a warning, and a problem where there are
    both. *counts* come before the number of files: without them errors, and warnings if any.
    """
    known = list(diagnostics)
    errors = [each for each in known if each.error]
    warnings = [each for each in known if not each.error]
    noun = noun or ("error" if not warnings else "problem" if errors else "warning")
    items = [Item(each.text, each.file, detail=each.detail) for each in (*errors, *warnings)]
    if counts is None:
        counts = {"errors": len(errors), **({"warnings": len(warnings)} if warnings else {})}
    files = len({each.file for each in known if each.file})
    counts = {**counts, "files": files}
    return ByFile(Findings(tool, items, noun=noun, verdict=verdict, counts=counts))


def lines_of(log: Log, pattern: re.Pattern[str]) -> list[int]:
    """Return the numbers of the lines in which *pattern* matches, in order, each once."""
    return list(dict.fromkeys(number for number, _ in log.matching(pattern)))


def joined(lines: Iterable[str]) -> str:
    """Return *lines* as one text, each once, without the blank ones."""
    return "\n".join(dict.fromkeys(line.strip() for line in lines if line.strip()))


def below(
    lines: Sequence[str], number: int, belongs: Callable[[str], object], most: int = _DETAIL
) -> str:
    """Return the lines under line *number* that belong to it, at most *most* of them."""
    got = []
    for line in lines[number + 1 : number + 1 + most]:
        if not belongs(line):
            break
        got.append(line[:_CLIP])
    return "\n".join(got).rstrip()
