"""Biome: the first error of each file, and what it says it found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log

__all__ = ["REDUCER", "Biome"]

_TITLE = re.compile(
    r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:━][^:\n━]*?)(?P<place>:\d++:\d++)?"
    r" (?P<rule>(?:lint|assist|syntax|parse|format|check|organizeImports|suppressions|plugin"
    r"|internalError)(?:/[\w/]++)?) [ A-Z]*+━"
)
_SAID = re.compile(r"  (?P<mark>[×✖!⚠i]) (?P<message>\S[^\n]*+)$")
_VERDICT = re.compile(
    r"(?:Found \d++ (?:errors?|warnings?|infos?)|Checked \d++ files? in |The number of diagnostics "
    r"exceeds|Diagnostics not shown: )"
)
_RULED = re.compile(r"(?:check|lint|format|ci) ━")
_INSIDE = re.compile(r"\s|$|(?:check|lint|format|ci) ━|━")
_TITLED = 4
"""Lines under a title in which its message stands."""


class Biome(Checker):
    """The default reporter of ``biome check``, ``lint``, ``format`` and ``ci``."""

    name = "biome"
    hints = (" ━━",)
    filler = _INSIDE
    bridge = 2_000

    def scan(self, log: Log) -> Scan:
        """Return titles with the message under each, and the closing figures."""
        lines, scan = log.lines, Scan()
        for number in lines_with(log, (" ━━",)):
            match = _TITLE.match(lines[number])
            if match is None:
                if _RULED.match(lines[number]):
                    scan.own.append(number)
                continue
            at, mark, message = _message(lines, number)
            place = match["place"] or ""
            text = f"{match['file']}{place} {match['rule']}: {message}"
            detail = below(lines, at, lambda line: line.startswith("  "))
            error = mark in ("×", "✖", "")
            scan.found.append(Diagnostic(number, match["file"], text, error, detail))
        for number in lines_with(log, ("Found ", "Checked ", "iagnostics ")):
            if _VERDICT.match(lines[number]):
                scan.verdicts.append(number)
        return scan


def _message(lines: Sequence[str], number: int) -> tuple[int, str, str]:
    """Return where the message under the title at *number* stands, its mark, and its words."""
    for at in range(number + 1, min(number + 1 + _TITLED, len(lines))):
        match = _SAID.match(lines[at])
        if match:
            return at, match["mark"], match["message"]
    return number, "", ""


REDUCER = Biome()
