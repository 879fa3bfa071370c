"""Gradle: the task that failed and its first error, failed tests, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, distinct, last_words
from policies.reducers.compilers import ANCHORS, clusters, diagnostics, lines_with
from policies.reducers.findings import Item
from policies.reducers.form import Form
from policies.reducers.java import java_diagnostics
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Gradle"]

_SIGNS = (
    "> Task :", "> Configure project", "FAILURE: Build ", "BUILD FAILED in ",
    "BUILD SUCCESSFUL in ",
    "* What went wrong:", "* Where:", "* Try:", "* Exception is:", "Gradle Daemon",
    " actionable task",
    "Execution failed for task", "> Transform ", "UP-TO-DATE", "NO-SOURCE", "FROM-CACHE",
    "Welcome to Gradle", "Deprecated Gradle features", " tests completed, ", " FAILED", "> IDLE",
    "BUILD FAILED", "BUILD SUCCESSFUL",
)  # fmt: skip
_LINE = re.compile(
    r"> (?:Task :|Configure project|Transform |IDLE)|FAILURE: Build |BUILD (?:FAILED"
    r"|SUCCESSFUL)(?:$| in)"
    r"|\* (?:What went wrong|Where|Try|Exception is):|(?:Starting a|To honour the JVM)[^\n]*Gradle"
    r"|\d++ actionable tasks?|> ?Execution failed|Execution failed for task|Welcome to Gradle"
    r"|Deprecated Gradle features|\d++ tests? completed, |:[\w:.-]++ (?:UP-TO-DATE|NO-SOURCE"
    r"|FROM-CACHE|FAILED|SKIPPED)$"
)
_STRONG = re.compile(
    r"> (?:Task :|Configure project)|FAILURE: Build |BUILD (?:FAILED|SUCCESSFUL) in"
    r"|\* What went wrong:|Execution failed for task|:[\w:.-]++ (?:UP-TO-DATE|NO-SOURCE|FAILED)$"
)
_TASK = re.compile(r"> Task (?P<name>:\S++)|(?P<old>:[\w:.-]++)(?: FAILED)?$")
_TEST = re.compile(r"(?P<name>[^\s>:][^>\n]*+(?<= )> [^\n]*\S) FAILED$")
_RAN = re.compile(r"\d++ tests? completed, (?P<failed>\d++) failed")
_VERDICT = re.compile(
    r"BUILD (?:FAILED|SUCCESSFUL)(?:$| in)|FAILURE: Build completed with|\d++ tests? completed, "
    r"|\d++ actionable tasks?"
)
_PLACE = re.compile(r"\((?P<place>[\w$.-]++:\d++)\)")
_ANDROID = re.compile(
    r"(?:ERROR|AAPT): ?(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+)(?P<where>:\d++(?::\d++)?): "
)
_BELOW = 10
_GAP = 300


class Gradle:
    """A Gradle build: Java, Kotlin, Groovy, Android and native, with its test reports."""

    name = "gradle"
    about = "the failed task and its first error, each failed test, what went wrong"
    kind = "build"
    rank = 60
    hints = _SIGNS[:9]

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the builds, from the first line of Gradle or a compiler below it to the last."""
        own = {n for n in lines_with(log, _SIGNS) if _LINE.match(log.lines[n])}
        if not any(_STRONG.match(log.lines[n]) for n in own):
            return
        inside = {each.line for each in java_diagnostics(log)}
        inside |= {n for n in lines_with(log, (" FAILED",)) if _TEST.match(log.lines[n])}
        for group in clusters(sorted(own | inside), _GAP):
            if any(_STRONG.match(log.lines[n]) for n in group if n in own):
                yield Span(group[0], _stop(log.lines, group[-1]))

    def read(self, log: Log) -> Form | None:
        """Return the errors by file and the failed tests by assertion."""
        own = [n for n in lines_with(log, _SIGNS) if _LINE.match(log.lines[n])]
        found = _diagnostics(log)
        tests = _tests(log)
        if not own and not found and not tests:
            return None
        if not tests and not any(each.error for each in found):
            found += _wrong(log, own)
        errors = [each for each in found if each.error]
        said = [n for n in own if _VERDICT.match(log.lines[n])]
        ran = [_RAN.match(log.lines[n]) for n in said]
        failed = sum(int(match["failed"][:9]) for match in ran if match)
        verdict = [log.lines[n] for n in said]
        first = errors[0].line if errors else None
        return build(
            self.name,
            log,
            found,
            head=_head(log, own, first) if errors or tests else "",
            verdict=last_words(verdict),
            tests=tests,
            failed=failed or None,
        )


def _diagnostics(log: Log) -> list[Diagnostic]:
    found = java_diagnostics(log)
    if log.has(*ANCHORS[:1], "warning:"):
        found += [d for d in diagnostics(log) if not d.file.endswith((".java", ".kt"))]
    for number in lines_with(log, ("ERROR:", "AAPT:")):
        match = _ANDROID.match(log.lines[number])
        if match:
            line = log.lines[number].strip()
            found.append(Diagnostic(number, match["file"], line, True, "", match["where"]))
    return distinct(sorted(found, key=lambda each: each.line))


def _wrong(log: Log, own: Sequence[int]) -> Iterator[Diagnostic]:
    """Yield what Gradle says went wrong, where no compiler and no test says it."""
    lines = log.lines
    for number in own:
        if not lines[number].startswith("* What went wrong:"):
            continue
        below = []
        for line in lines[number + 1 : number + 1 + _BELOW]:
            if line.startswith("* "):
                break
            if line.strip():
                below.append(line.rstrip()[:400])
        where = _where(lines, number)
        text = "; ".join([below[0], *where]) if below else lines[number]
        yield Diagnostic(number, "", text, detail="\n".join(below[1:]))


def _where(lines: Sequence[str], number: int) -> list[str]:
    """Return the place that stands under ``* Where:`` above line *number*."""
    for at in range(number - 1, max(-1, number - 5), -1):
        if lines[at].startswith("* Where:"):
            return [lines[at + 1].strip()[:400]]
    return []


def _head(log: Log, own: Sequence[int], error: int | None) -> str:
    """Return the task that emitted the error at line *error*, and how many more failed."""
    lines = log.lines
    failed = [n for n in own if _TASK.match(lines[n]) and lines[n].endswith(" FAILED")]
    executed = [n for n in own if lines[n].startswith(("Execution failed", "> Execution failed"))]
    above = [n for n in own if error is not None and n <= error and _TASK.match(lines[n])]
    chosen = failed[:1]
    if above:
        name = _TASK.match(lines[above[-1]])
        task = (name["name"] or name["old"]) if name else ""
        chosen = [n for n in failed if n == above[-1] or (task and task in lines[n])] or above[-1:]
    chosen = chosen or executed[:1]
    if not chosen:
        return ""
    more = f" (+{len(failed) - 1} more failed tasks)" if len(failed) > 1 else ""
    return lines[chosen[0]].strip()[:400] + more


def _tests(log: Log) -> list[Item]:
    """Return the failed tests; those with one exception at one place have one key."""
    items: dict[str, Item] = {}
    lines = log.lines
    for number in lines_with(log, (" FAILED",)):
        match = _TEST.match(lines[number])
        if not match or lines[number].startswith("> Task"):
            continue
        below = []
        for line in lines[number + 1 : number + 16]:
            if not line[:1].isspace():
                break
            below.append(line.rstrip()[:400])
        if not below:
            continue
        message = below[0].strip()
        place = next((_PLACE.search(line) for line in below[1:] if _PLACE.search(line)), None)
        at = (
            place["place"]
            if place
            else next((line.strip() for line in below[1:] if line.strip().startswith("at ")), "")
        )
        exception = message.partition(":")[0].partition(" at ")[0]
        key = f"{exception} {at or message}"
        text = f"{match['name']} FAILED: {message}"
        item = Item(text, key=key, detail="\n".join(below[1:6]), names=(match["name"],))
        items.setdefault(match["name"], item)
    return list(items.values())


def _stop(lines: Sequence[str], last: int) -> int:
    """Return the line after what stands below line *last* up to the first blank line."""
    stop = last + 1
    while stop < len(lines) and stop < last + 20 and lines[stop].strip():
        if not (lines[stop][0].isspace() or lines[stop].startswith((">", "* ", "w: ", "e: "))):
            break
        stop += 1
    return stop


REDUCER = Gradle()
