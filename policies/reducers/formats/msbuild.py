"""MSBuild, dotnet and Visual C++: the first error of each file and its project, failed tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, distinct, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.findings import Item
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Msbuild"]

_LINE = re.compile(
    r"\s*+(?:\d++(?::\d++)?>)?\s*+(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\n:(>]++(?:\((?!\d++[,)-])"
    r"[^\n:()]*+\)[^\n:(>]*+)*+)"
    r"(?P<where>\(\d++(?:,\d++){0,3}(?:-\d++)?\)) ?: {1,3}(?P<level>fatal error|error|warning)"
    r"(?: (?P<code>[A-Z]{1,10}\d{0,6}))? ?: "
)
_PLACELESS = re.compile(
    r"\s*+(?:\d++(?::\d++)?>)?\s*+(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\n:(>]++) ?: "
    r"(?P<level>fatal error|error|warning) (?P<code>(?:MSB|NU|NETSDK|LNK|CSC|CS|BC|FS|U|D|TRK|RC"
    r"|C)\d++) ?: "
)
_PROJECT = re.compile(r" \[(?P<project>[^\[\]\n]*+)\]$")
_OTHERS = re.compile(r"\.(?:ts|tsx|mts|cts|js|jsx|vue|cu|cuh)$", re.IGNORECASE)
_END = re.compile(
    r"\s*+(?:Build (?:FAILED|succeeded)|\d{1,9} (?:Warning|Error)\(s\)|(?:Passed|Failed)!  - "
    r"|Total tests: \d|Test Run (?:Failed|Successful|Aborted)|Build (?:failed|succeeded) with \d)"
)
_TESTED = re.compile(
    r"\s*+(?:(?:Passed|Failed)!  - Failed: ++(?P<failed>\d++),|Failed: (?P<old>\d++)$)"
)
_TEST = re.compile(r" {2,4}(?:X|Failed) (?P<name>[^\s:]\S*(?:[^\n]*?\))?) \[[^\]\n]*+\]$")
_ANCHORS = ("): error", "): warning", ") : error", ") : warning", "): fatal error",
            ") : fatal error",
            "):  error", "):  warning", " : error ", " : warning ", " : fatal error ",
            ": error MSB", ": error NU", ": error NETSDK", ": warning MSB", ": warning NU",
            ": warning NETSDK", ": error CS", ": warning CS")  # fmt: skip
_WORDS = ("Build FAILED", "Build succeeded", " Warning(s)", " Error(s)", "ed!  - ", "Total tests: ",
          "Test Run ", "Build failed with ", "Build succeeded with ", " Failed: ")  # fmt: skip
_GAP = 60


class Msbuild:
    """The canonical error format of MSBuild, and the compilers and linkers that write it.

    The format is the one of "MSBuild and Visual Studio format for diagnostic messages".
    """

    name = "msbuild"
    about = "the first error of each file and its project, each failed test, warnings counted"
    kind = "build"
    rank = 58
    hints = (*_ANCHORS, *_WORDS[:2], "ed!  - ")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of diagnostics, tests and totals."""
        own = {n for n in lines_with(log, _ANCHORS) if _read(log.lines[n], n)}
        near = {n for n in lines_with(log, _WORDS) if _END.match(log.lines[n])}
        near |= {n for n in lines_with(log, ("Failed ", "X ")) if _TEST.match(log.lines[n])}
        for group in clusters(sorted(own | near), _GAP):
            if not own.isdisjoint(group) or _signed(log.lines, group):
                yield Span(group[0], group[-1] + 1)

    def read(self, log: Log) -> Form | None:
        """Return the errors by file, each once: the summary at the end prints them again."""
        numbers = lines_with(log, _ANCHORS)
        found = distinct(d for n in numbers if (d := _read(log.lines[n], n)))
        ends = [n for n in lines_with(log, _WORDS) if _END.match(log.lines[n])]
        tests = _tests(log.lines, lines_with(log, ("Failed ", "X ")))
        if not found and not ends and not tests:
            return None
        errors = [each for each in found if each.error]
        project = _PROJECT.search(errors[0].text) if errors else None
        counted = [_TESTED.match(log.lines[n]) for n in ends]
        failed = sum(int((m["failed"] or m["old"])[:9]) for m in counted if m)
        return build(
            self.name,
            log,
            found,
            head=f"project {project['project']}" if project and "proj" in project[0] else "",
            verdict=last_words(log.lines[n] for n in ends),
            tests=tests,
            failed=failed or None,
        )


def _read(line: str, number: int) -> Diagnostic | None:
    match = _LINE.match(line)
    if match:
        file = match["file"].strip()
        if not file or _OTHERS.search(file[-12:]) or (match["code"] or "").startswith("TS"):
            return None
        return Diagnostic(
            number, file, line.strip(), match["level"] != "warning", "", match["where"]
        )
    match = _PLACELESS.match(line)
    if match:
        file = match["file"].strip()
        if "." not in file and "/" not in file and "\\" not in file:
            file = ""
        return Diagnostic(
            number, file, line.strip(), match["level"] != "warning", "", match["code"]
        )
    return None


def _signed(lines: Sequence[str], group: Sequence[int]) -> bool:
    """Whether one of *group* is a total that only these tools print."""
    return any(
        lines[n]
        .lstrip()
        .startswith(("Build FAILED", "Build succeeded", "Failed!  - ", "Passed!  - "))
        for n in group
    )


def _tests(lines: Sequence[str], numbers: Sequence[int]) -> list[Item]:
    """Return the failed tests, those with one message at one place under one key."""
    items: dict[str, Item] = {}
    for number in numbers:
        match = _TEST.match(lines[number])
        if not match or match["name"] in items:
            continue
        message: list[str] = []
        frames: list[str] = []
        place = ""
        for line in lines[number + 1 : number + 30]:
            if _TEST.match(line) or _END.match(line) or not line.startswith(" "):
                break
            bare = line.strip()
            if bare.startswith("at "):
                place = place or (bare.rpartition(" in ")[2] if ":line " in bare else "")
                frames.append(line[:300])
            elif (
                not bare.startswith(("Error Message:", "Stack Trace:", "Standard ")) and not frames
            ):
                message.append(bare)
        text = f"{match['name']}: {' '.join(message)[:600]}"
        key = f"{message[0] if message else ''} {place}" if place else match["name"]
        items[match["name"]] = Item(
            text, key=key, detail="\n".join(frames[:4]), names=(match["name"],)
        )
    return list(items.values())


REDUCER = Msbuild()
