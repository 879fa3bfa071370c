"""tsc, the TypeScript compiler: the first error of each file, then how many were dropped."""

from __future__ import annotations

import re
from dataclasses import replace

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log

__all__ = ["REDUCER", "Tsc"]

_PLAIN = re.compile(r"(?P<file>\S[^\n]*)\(\d++,\d++\): (?P<level>error|warning) TS\d++: ")
_PRETTY = re.compile(r"(?P<file>\S[^\n]*?):\d++:\d++ - (?P<level>error|warning) TS\d++: ")
_GLOBAL = re.compile(
    r"(?:[@\w./-]++:[\w:-]*+ |\[\w++\] |Error: )*+(?P<level>error|warning) TS\d++: "
)
_BEFORE = re.compile(
    r"(?:##\[error\]|(?:Error|ERROR|WARNING|Warning): |\[\w++\] "
    r"|[@\w./-]++(?: \w++)?(?::[\w-]++)*+: (?=\S))++"
)
_FOUND = re.compile(r"(?:[^\n]{0,80}?[-:\]] )?Found \d++ errors?\b")
_WATCH = re.compile(
    r"[\[ ]?\d++:\d\d:\d\d(?: [AP]M)?\]? (?:- )?"
    r"(?:Starting |File change|Projects? |Building |Found |Updating |Skipping )"
)
_FRAME = re.compile(r"\s|$|\d{1,7}(?: |$)|Errors  Files$")


class Tsc(Checker):
    """Plain and pretty reports, of projects and builds, and what watching prints.

    The layouts are those of the compiler options ``pretty``, ``build`` and ``watch``.
    """

    name = "tsc"
    kind = "typecheck"
    rank = 54
    hints = ("error TS", "warning TS", "Found 0 errors")
    filler = _FRAME
    tail = 20_000

    def scan(self, log: Log) -> Scan:
        """Return the errors, what watching and building say of themselves, and the summary."""
        lines, scan = log.lines, Scan()
        seen: set[str] = set()
        for number in lines_with(log, ("error TS", "warning TS")):
            each = _diagnostic(lines[number], number)
            if each is None:
                continue
            if each.file not in seen:
                seen.add(each.file)
                each = replace(each, detail=below(lines, number, _belongs))
            scan.found.append(each)
        for number in lines_with(log, ("Found ", "Errors  Files")):
            if _FOUND.match(lines[number]):
                scan.verdicts.append(number)
            elif lines[number] == "Errors  Files":
                scan.own.append(number)
        clocks = (" AM", " PM", " - Building ", " - Project")
        scan.own += [n for n in lines_with(log, clocks) if _WATCH.match(lines[n])]
        scan.sure |= {n for n in scan.verdicts if "Watching for file changes" in lines[n]}
        return scan


def _diagnostic(line: str, number: int) -> Diagnostic | None:
    match = _PLAIN.match(line) or _PRETTY.match(line)
    if match is None:
        plain = _GLOBAL.match(line)
        return Diagnostic(number, "", line, plain["level"] == "error") if plain else None
    file = match["file"]
    before = _BEFORE.match(file)
    if before and before.end() < len(file):
        file = file[before.end() :]
    return Diagnostic(number, file, line, match["level"] == "error")


def _belongs(line: str) -> bool:
    """Whether *line* goes on with the message above it, or shows its source."""
    return not line or line[0] == " " or line[0].isdigit()


REDUCER = Tsc()
