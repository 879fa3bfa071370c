"""oxlint: the first problem of each file."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log

__all__ = ["REDUCER", "Oxlint"]

_PLACE = re.compile(r" {1,9}(?:,-|╭─)\[(?P<place>(?P<file>[^\n\]]*?):\d++:\d++)\]")
_SAID = re.compile(r"  (?P<mark>[x×!⚠]) (?P<said>\S[^\n]*+)$")
_VERDICT = re.compile(
    r"Found \d++ (?:warnings?|errors?) and \d++ (?:errors?|warnings?)\.|Finished in "
)
_INSIDE = re.compile(r"\s|$")


class Oxlint(Checker):
    """The default format: a message, a frame of source with its place, and help."""

    name = "oxlint"
    rank = 51
    hints = (" ,-[", " ╭─[")
    filler = _INSIDE

    def scan(self, log: Log) -> Scan:
        """Return the messages and the closing figures."""
        lines, scan = log.lines, Scan()
        for number in lines_with(log, self.hints):
            place = _PLACE.match(lines[number])
            said = _above(lines, number) if place else None
            if place is None or said is None:
                continue
            text = f"{place['place']}: {said['said']}"
            error = said["mark"] in "x×"
            detail = below(lines, number, lambda line: line.startswith(" "))
            scan.own.append(number)
            scan.found.append(Diagnostic(number, place["file"], text, error, detail))
        if scan.found:
            candidates = lines_with(log, ("Found ", "Finished in "))
            scan.verdicts = [number for number in candidates if _VERDICT.match(lines[number])]
        return scan

    def above(self, lines: Sequence[str], first: int) -> int:
        """Return the line with the message over the first frame."""
        start = first
        while start > 0 and first - start < 5 and lines[start - 1].strip():
            start -= 1
        return start


def _above(lines: Sequence[str], number: int) -> re.Match[str] | None:
    """Return the message over the frame at line *number*."""
    for at in range(number - 1, max(-1, number - 5), -1):
        match = _SAID.match(lines[at])
        if match:
            return match
    return None


REDUCER = Oxlint()
