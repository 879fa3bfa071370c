"""golangci-lint: the first issue of each file, and how many of each linter."""

from __future__ import annotations

import re

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan, below
from policies.reducers.log import Log

__all__ = ["REDUCER", "GolangciLint"]

_LINE = re.compile(r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+):\d++(?::\d++)?: \S")
_LINTER = re.compile(r" \((?:[a-z][a-z0-9-]*+|[A-Z]{1,3}\d{4})\)$")
_TOTAL = re.compile(r"\d{1,6} issues[:.]$|\* [a-z][a-z0-9-]*+: \d{1,6}$")


class GolangciLint(Checker):
    """The default text output, and staticcheck's, which ends with its code in the same way."""

    name = "golangci-lint"
    about = "the first issue of each file, and counts of the rest"
    rank = 53
    hints = (".go:",)

    def scan(self, log: Log) -> Scan:
        """Return the issues with their source lines, and the totals."""
        lines, scan = log.lines, Scan()
        for number in lines_with(log, (".go:",)):
            line = lines[number]
            match = _LINE.match(line)
            named = match is not None and match["file"].endswith(".go")
            if match and named and _LINTER.search(line, max(0, len(line) - 60)):
                detail = below(lines, number, lambda under: under[:1] in ("\t", " "))
                scan.found.append(Diagnostic(number, match["file"], line, detail=detail))
        if scan.found:
            for number in lines_with(log, (" issues", "* ")):
                if _TOTAL.match(lines[number]):
                    scan.verdicts.append(number)
        return scan


REDUCER = GolangciLint()
