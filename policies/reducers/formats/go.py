"""go build, vet and test: the first error of each file and its package, each failed test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.findings import Item, plural
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Go"]

_PLACE = re.compile(
    r"(?:vet: )?(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+"
    r"(?:(?<=\.go)|(?<=\.s)))(?P<where>:\d++(?::\d++)?): (?P<text>.*)"
)
_PACKAGE = re.compile(r"# (?P<package>[\w.~/-]++)(?: \[[\w./-]++\])?$")
_RESULT = re.compile(
    r"(?:FAIL|ok  |---)\t(?P<package>\S++)|FAIL$|PASS$|\?   \t\S++\t\[no test files\]"
)
_FAIL = re.compile(r"(?P<indent> *+)--- FAIL: (?P<name>\S++) \([\d.]++s\)$")
_MESSAGE = re.compile(r"\s++(?P<place>[\w.-]++(?<=\.go):\d++): ?(?P<text>.*)")
_PANIC = re.compile(r"panic: (?P<text>.*)")
_FRAME = re.compile(r"\t(?P<place>(?:[A-Za-z]:)?[^\s:]++(?<=\.go):\d++)(?: \+0x[0-9a-f]++)?")
_NOISE = re.compile(r"=== (?:RUN|PAUSE|CONT|NAME)|--- (?:PASS|SKIP|FAIL): | ++--- (?:PASS|SKIP): ")
_MODULE = re.compile(r"go: (?!downloading|finding|extracting|added|upgraded|downgraded)\S")
_ANCHORS = (
    ".go:",
    "# ",
    "FAIL",
    "ok  \t",
    "--- ",
    "=== ",
    "PASS",
    "no test files",
    "go: ",
    "panic: ",
)
_SIGNS = ("--- FAIL: ", "FAIL\t", "ok  \t", "=== RUN", "no test files]", ".go:")
_GAP = 40
_FRAMES = 4


class Go:
    """The go command: compiler and vet errors below ``# package``, and ``go test``, -v or not."""

    name = "go"
    about = "the first error of each file and its package, each failed test once"
    kind = "build"
    rank = 80
    hints = _SIGNS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of packages, tests and errors."""
        lines = log.lines
        own = [n for n in lines_with(log, _ANCHORS) if _owns(lines, n)]
        for group in clusters(own, _GAP):
            if any(_strong(lines, n) for n in group):
                yield Span(group[0], _stop(lines, group[-1]))

    def read(self, log: Log) -> Form | None:
        """Return the compiler's errors by file and the failed tests by the place that failed."""
        lines = log.lines
        errors = _errors(lines, list(lines_with(log, (".go:", ".s:", "go: "))))
        tests = _tests(lines, lines_with(log, ("--- FAIL: ",)))
        results = [
            n for n in lines_with(log, ("FAIL", "ok  \t", "PASS")) if _RESULT.match(lines[n])
        ]
        if not errors and not tests and not results:
            return None
        failed = [lines[n] for n in results if lines[n].startswith("FAIL\t")]
        verdict = last_words(failed or [lines[n] for n in results])
        ok = sum(lines[n].startswith("ok  \t") for n in results)
        if failed and ok:
            packages = f"{len(failed):,} {plural('package', len(failed))}"
            verdict = f"{verdict}\n[{packages} failed, {ok:,} passed]"
        names = [n for n in lines_with(log, ("# ",)) if _PACKAGE.match(lines[n])]
        above = [n for n in names if errors and n < errors[0].line]
        return build(
            self.name,
            log,
            errors,
            head=lines[above[-1]] if above else "",
            verdict=verdict,
            tests=tests,
        )


def _owns(lines: Sequence[str], number: int) -> bool:
    line = lines[number]
    if line.startswith("# "):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        return bool(_PACKAGE.match(line) and (_PLACE.match(below) or below.startswith("# ")))
    if line.startswith("panic: "):
        return any(each.startswith("goroutine ") for each in lines[number + 1 : number + 8])
    return bool(
        _RESULT.match(line)
        or _FAIL.match(line)
        or _NOISE.match(line)
        or _MODULE.match(line)
        or (_PLACE.match(line) and _compiled(lines, number))
    )


def _compiled(lines: Sequence[str], number: int) -> bool:
    """Whether line *number* is below the name of its package, or of vet."""
    if lines[number].startswith("vet: "):
        return True
    for at in range(number - 1, max(-1, number - 15), -1):
        if _PACKAGE.match(lines[at]):
            return True
        if not (_PLACE.match(lines[at]) or lines[at].startswith(("\t", "too many errors"))):
            return False
    return False


def _strong(lines: Sequence[str], number: int) -> bool:
    line = lines[number]
    if line.startswith("# "):
        return _owns(lines, number)
    return line.startswith(("FAIL\t", "ok  \t", "?   \t", "=== RUN", "vet: ")) or bool(
        _FAIL.match(line)
    )


def _errors(lines: Sequence[str], numbers: Sequence[int]) -> list[Diagnostic]:
    found = []
    for number in numbers:
        line = lines[number]
        match = _PLACE.match(line)
        if match and _compiled(lines, number):
            below = []
            for each in lines[number + 1 : number + 5]:
                if not each.startswith("\t"):
                    break
                below.append(each[:300])
            found.append(
                Diagnostic(number, match["file"], line, True, "\n".join(below), match["where"])
            )
        elif _MODULE.match(line) and ": " in line[4:]:
            found.append(Diagnostic(number, "", line))
    return found


def _tests(lines: Sequence[str], numbers: Sequence[int]) -> list[Item]:
    """Return the failed tests that have a message of their own; parents of subtests have none."""
    items: dict[str, Item] = {}
    known = {n: match for n in numbers if (match := _FAIL.match(lines[n]))}
    parents = {match["name"].rpartition("/")[0] for match in known.values()}
    for number, match in known.items():
        name = match["name"]
        said, place, detail = _said(lines, number)
        if not place:
            said, place, detail = _before(lines, number)
        if name in parents and not place:
            continue
        text = f"--- FAIL: {name}: {place}: {said}" if place else f"--- FAIL: {name}"
        key = (place, said) if place else name
        items.setdefault(name, Item(text, key=key, detail=detail, names=(name,)))
    return list(items.values())


def _said(lines: Sequence[str], number: int) -> tuple[str, str, str]:
    """Return message, place and detail below a failed test, as go test prints them without -v."""
    rest: list[str] = []
    said = place = ""
    for line in lines[number + 1 : number + 40]:
        message = _MESSAGE.match(line)
        if message and not place:
            said, place = message["text"], message["place"]
        elif _PANIC.match(line) and not place:
            said, place = line, "panic"
        elif _FAIL.match(line) or _NOISE.match(line) or not line.startswith((" ", "\t")):
            frame = _FRAME.match(line)
            if place != "panic" or not (
                frame or line.startswith(("goroutine", "\t")) or "(" in line
            ):
                break
        elif place:
            rest.append(line[:300])
    if not said and rest:
        said = rest.pop(0).strip()
    return said[:600], place, "\n".join(rest[: 2 * _FRAMES])


def _before(lines: Sequence[str], number: int) -> tuple[str, str, str]:
    """Return the first message above a failed test: with -v it stands below ``=== RUN``."""
    found = ("", "", "")
    for at in range(number - 1, max(-1, number - 60), -1):
        line = lines[at]
        if line.startswith("=== "):
            return found
        if _NOISE.match(line) or _FAIL.match(line) or _RESULT.match(line):
            break
        message = _MESSAGE.match(line)
        if message:
            following = [each[:300] for each in lines[at + 1 : min(number, at + 9)]]
            found = (message["text"][:600], message["place"], "\n".join(following))
    return "", "", ""


def _stop(lines: Sequence[str], last: int) -> int:
    stop = last + 1
    while stop < len(lines) and stop < last + 40 and lines[stop].startswith(("\t", "    ")):
        stop += 1
    return stop


REDUCER = Go()
