"""ShellCheck: the first problem of each script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policies.reducers.build import Diagnostic
from policies.reducers.compilers import lines_with
from policies.reducers.diagnostics import Checker, Scan
from policies.reducers.log import Log

__all__ = ["REDUCER", "Shellcheck"]

_PLACE = re.compile(r"In (?P<file>\S[^\n]*) line (?P<line>\d++):$")
_SAID = re.compile(
    r" *+\^[-^]*+ (?P<said>(?:SC)?\d{4}(?: \((?P<level>error|warning|info|style)\))?: \S[^\n]*+)"
)
_GCC = re.compile(
    r"(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+):\d++:\d++: (?P<level>error|warning|note): "
)
_END = re.compile(r"\[SC\d{4}\]$")
_MORE = re.compile(r"For more information:$|Did you mean:$")


class Shellcheck(Checker):
    """The formats ``tty`` and ``gcc``; information and style are warnings here."""

    name = "shellcheck"
    rank = 53
    hints = ("-- SC", "^ SC", "^- SC", "[SC", "--^ SC")

    def scan(self, log: Log) -> Scan:
        """Return places, what is said under each, and the list of further information."""
        lines, scan = log.lines, Scan()
        scan.found += _under_places(log, scan)
        for number in lines_with(log, ("[SC",)):
            match = _GCC.match(lines[number])
            if match and _END.search(lines[number], max(0, len(lines[number]) - 12)):
                error = match["level"] == "error"
                scan.found.append(Diagnostic(number, match["file"], lines[number], error))
        scan.found.sort(key=lambda each: each.line)
        for number in lines_with(log, ("For more information:", "Did you mean:")):
            if _MORE.match(lines[number]):
                scan.own.append(number)
        return scan


def _under_places(log: Log, scan: Scan) -> Iterator[Diagnostic]:
    """Yield what stands under a place and its line of source."""
    lines, file, place, last = log.lines, "", "", -1
    for number in lines_with(log, (" SC", "In ")):
        line = lines[number]
        start = _PLACE.match(line)
        if start:
            file, place, last = start["file"], start["line"], number
            scan.own.append(number)
        elif file and number - last <= 5 and (said := _SAID.match(line)):
            last = number
            text = f"{file}:{place}: {said['said']}"
            yield Diagnostic(number, file, text, said["level"] == "error")


REDUCER = Shellcheck()
