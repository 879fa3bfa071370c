"""Prettier: the files that are not formatted, or cannot be."""

from __future__ import annotations

import re

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan
from policies.reducers.log import Log

__all__ = ["REDUCER", "Prettier"]

_LINE = re.compile(r"\[(?P<level>warn|error)\] (?P<rest>\S[^\n]*+)")
_BROKEN = re.compile(
    r"(?P<file>[^\n]*?): (?:SyntaxError|Error|TypeError|RangeError|[A-Z]\w*Error): "
)
_WORDS = re.compile(
    r"\[(?:warn|error)\] (?:Code style issues? |Forgot to run |All matched |No files matching "
    r"|Error occurred )"
    r"|Error occurred when checking code style in |All matched files use Prettier code style!"
    r"|Code style issues? found in |Checking formatting\.\.\."
)
_STARTS = ("[warn] ", "[error] ", "Error occurred when checking ", "Checking formatting...")


class Prettier(Checker):
    """``prettier --check``: a file a line under "Checking formatting..."."""

    name = "prettier"
    about = "each file that is not formatted"
    rank = 51
    hints = ("Checking formatting...",)

    def scan(self, log: Log) -> Scan:
        """Return the files, and what is said of all of them."""
        lines, scan = log.lines, Scan(alone=False)
        for number in lines_with(log, (*_STARTS, "Prettier code style!", "Code style issue")):
            line = lines[number]
            if _WORDS.match(line):
                scan.sure.add(number)
                if line != _STARTS[3]:
                    scan.verdicts.append(number)
                continue
            match = _LINE.match(line)
            if match is None:
                continue
            broken = _BROKEN.match(match["rest"]) if match["level"] == "error" else None
            if broken:
                scan.found.append(Diagnostic(number, broken["file"], line))
            elif match["level"] == "error":
                scan.own.append(number)
            else:
                scan.found.append(Diagnostic(number, match["rest"], line, error=False))
        return scan


REDUCER = Prettier()
