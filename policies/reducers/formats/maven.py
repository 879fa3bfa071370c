"""Maven: the first error and its goal and module, failed tests, the reactor's and the last word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, distinct, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.findings import Item
from policies.reducers.form import Form
from policies.reducers.java import java_diagnostics
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Maven"]

_LEVELS = ("[INFO]", "[ERROR]", "[WARNING]", "[WARN]", "[FATAL]", "[DEBUG]")
_LINE = re.compile(
    r"(?:\[[\w .:-]{1,40}\] |[\d:.,TZ/-]{5,30} )?"
    r"\[(?P<level>INFO|ERROR|WARNING|WARN|FATAL|DEBUG)\](?: (?P<text>.*)|\s*$)"
)
_SIGN = re.compile(
    r"Scanning for projects|BUILD (?:SUCCESS|FAILURE|ERROR|FAILED)|Reactor (?:Summary|Build Order)"
    r"|Failed to execute goal|COMPILATION (?:ERROR|WARNING)|-{2,3} \S++:\S*+ ?[:(@]"
    r"|\[[\w-]++:[\w-]++(?: \{[^}\n]*+\})?\]$|Total time: |Changes detected - recompiling"
    r"|Compiling \d++ source files? |Tests run: \d|For more information about the errors and "
    r"|\S[^\n]*?\.(?:java|kt|scala|groovy):\[\d|Building .* \[\d++/\d++\]$|-{3,}< "
)
_PLACE = re.compile(
    r"(?P<file>(?:[A-Za-z]:(?=[\\/])|/[A-Za-z]:(?=/))?[^\s:\[][^:\n\[]*+)"
    r"(?P<where>:\[\d++(?:,\d++)?\]|(?:(?<=\.java)|(?<=\.kt)|(?<=\.xml)|(?<=\.scala)|(?<=\.groovy)"
    r"|(?<=\.properties)):\d++(?::\d++)?:) ?(?P<message>.*)"
)
_GOAL = re.compile(r"Failed to execute goal (?:on project )?(?P<what>.*)")
_ELAPSED = "Time elapsed: "
_FAILURE = re.compile(r"[\d.,]{1,20} s(?:ec)?\s{1,4}<<< (?:FAILURE|ERROR)!")
_SUMMARY_ITEM = re.compile(
    r" {2,}(?P<name>(?:[\w$.-]++(?:->[\w$.:\d-]++)*+(?::\d++)?|[\w$]++\([\w$.]++\)))[: ]"
)
_RAN = re.compile(
    r"Tests run: (?P<run>\d++), Failures: (?P<failures>\d++), Errors: (?P<errors>\d++)"
    r"(?P<rest>.*)"
)
_MODULE = re.compile(r".* \.{2,} (?:FAILURE|SKIPPED)")
_FRAME = re.compile(r"\s*+(?:\[\w++\] )?\s*+at (?P<frame>\S.*)")
_ANCHORS = ("[ERROR]", "[FATAL]", "[WARNING]", "[WARN]", "Tests run: ", "<<< ")
_GAP = 400
_FRAMES = 4
_SKIP = ("java.", "javax.", "jdk.", "sun.", "junit.", "org.junit", "org.opentest4j", "org.assertj",
         "org.hamcrest", "org.mockito", "org.apache.maven", "org.testng", "kotlin.",
         "scala.")  # fmt: skip


class Maven:
    """A Maven build of one or many modules, with javac's, Kotlin's and Surefire's output inside."""

    name = "maven"
    about = "the first error and its goal, each failed test, the modules that failed"
    kind = "build"
    rank = 60
    hints = _LEVELS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the builds; lines with a level alone are other programs' too."""
        own, signs = [], set()
        for number in lines_with(log, _LEVELS):
            match = _LINE.match(log.lines[number])
            if match:
                own.append(number)
                if _SIGN.match(match["text"] or ""):
                    signs.add(number)
        for group in clusters(own, _GAP):
            if not signs.isdisjoint(group):
                yield Span(group[0], _stop(log.lines, group[-1]))

    def read(self, log: Log) -> Form | None:
        """Return the errors by file and the failed tests by assertion."""
        texts = _texts(log)
        if not texts:
            return None
        found = sorted([*_placed(log, texts), *_foreign(log, texts)], key=lambda each: each.line)
        found = distinct(found)
        tests, failed = _tests(log, texts)
        goals = [t for level, t in texts.values() if level == "ERROR" and _GOAL.match(t)]
        if not tests and not any(each.error for each in found):
            found += _other(texts)
        head = goals[0][:400] if goals else ""
        if not goals and not any(each.error for each in found):
            head = ""
        return build(
            self.name, log, found, head=head, verdict=_verdict(texts), tests=tests, failed=failed
        )


def _texts(log: Log) -> dict[int, tuple[str, str]]:
    """Return the level and the text of each line that has a level."""
    texts = {}
    for number in lines_with(log, _LEVELS):
        match = _LINE.match(log.lines[number])
        if match:
            texts[number] = (match["level"], match["text"] or "")
    return texts


def _placed(log: Log, texts: dict[int, tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield the diagnostics with Maven's own ``path:[line,column]``."""
    seen: set[str] = set()
    for number, (level, text) in texts.items():
        match = _PLACE.match(text) if "." in text else None
        if not match or level in ("INFO", "DEBUG"):
            continue
        error = level in ("ERROR", "FATAL")
        detail = ""
        if match["file"] not in seen:
            seen.add(match["file"])
            detail = _below(log.lines, number, texts)
        said = f"[{level}] {text.strip()}"
        yield Diagnostic(number, match["file"], said, error, detail, match["where"])


def _below(lines: Sequence[str], number: int, texts: dict[int, tuple[str, str]]) -> str:
    """Return the symbol and the location that follow an error, with Maven's level or without."""
    below: list[str] = []
    for at in range(number + 1, min(number + 7, len(lines))):
        line = texts[at][1] if at in texts else lines[at]
        if not line.startswith("  ") or (at in texts and texts[at][0] == "INFO"):
            break
        below.append(line[:300])
    return "\n".join(below)


def _foreign(log: Log, texts: dict[int, tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield what compilers print below a level of Maven's, or without one."""
    for each in java_diagnostics(log):
        level, text = texts.get(each.line, ("", ""))
        if not _PLACE.match(text):
            error = each.error if level in ("", "ERROR", "FATAL") else False
            text = text.strip() or each.text
            yield Diagnostic(each.line, each.file, text, error, each.detail, each.where)


def _other(texts: dict[int, tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield the errors that name no file: the goals that failed, or what is printed instead."""
    errors = [
        (number, text.strip())
        for number, (level, text) in texts.items()
        if level in ("ERROR", "FATAL") and text.strip() and not text.startswith(("->", "[Help"))
    ]
    goals = [pair for pair in errors if _GOAL.match(pair[1])]
    for number, text in goals or errors[:1]:
        rest = [t for at, t in errors if at > number and t != text][:6]
        yield Diagnostic(number, "", text, detail="\n".join(t[:300] for t in rest))


def _tests(log: Log, texts: dict[int, tuple[str, str]]) -> tuple[list[Item], int | None]:
    """Return the failed tests and the number that Surefire's last totals give."""
    lines = log.lines
    items: dict[str, Item] = {}
    for number in lines_with(log, ("<<< FAILURE!", "<<< ERROR!")):
        text = texts[number][1] if number in texts else lines[number]
        name, elapsed, rest = text.partition(_ELAPSED)
        name = name.strip(" \t-")
        if not (name and elapsed) or not _FAILURE.match(rest) or "Tests run:" in text:
            continue
        message, key, frames = _trace(lines, number, texts)
        items.setdefault(
            name,
            Item(f"{name}: {message}".rstrip(": "), key=key or name, detail=frames, names=(name,)),
        )
    total = None
    for number in lines_with(log, ("Tests run: ",)):
        text = texts[number][1] if number in texts else lines[number]
        ran = _RAN.match(text.strip())
        if ran and "Time elapsed" not in ran["rest"]:
            total = (total or 0) + int(ran["failures"][:9]) + int(ran["errors"][:9])
    if not items:
        items = _listed(log, texts)
    return list(items.values()), total


def _trace(
    lines: Sequence[str], number: int, texts: dict[int, tuple[str, str]]
) -> tuple[str, str, str]:
    """Return the exception below line *number*, the place of the assertion, and the last frames."""
    message, frames, own = "", [], ""
    for line in lines[number + 1 : number + 60]:
        frame = _FRAME.match(line)
        if frame:
            name = frame["frame"].rpartition("/")[2] or frame["frame"]
            frames.append(line.rstrip()[:300])
            if not own and not name.startswith(_SKIP):
                own = frame["frame"]
        elif frames and not line[:1].isspace():
            break
        elif line.strip() and not frames:
            if "<<< " in line or "Tests run: " in line:
                break
            message = f"{message} {line.strip()}" if message else line.strip()
        elif not line.strip() and message:
            break
    exception = message.partition(":")[0]
    kept = [line for line in frames if own and own in line] + frames
    return message[:600], f"{exception} {own}" if own else "", "\n".join(kept[:_FRAMES])


def _listed(log: Log, texts: dict[int, tuple[str, str]]) -> dict[str, Item]:
    """Return the tests that the summary under ``Failures:`` and ``Errors:`` names."""
    items: dict[str, Item] = {}
    for number in lines_with(log, ("Failures:", "Errors:", "Failed tests:", "Tests in error:")):
        text = texts[number][1] if number in texts else log.lines[number]
        if "Tests run:" in text:
            continue
        first = text.partition("Failed tests:")[2] or text.partition("Tests in error:")[2]
        for at in range(number, min(number + 2000, len(log.lines))):
            line = texts[at][1] if at in texts else log.lines[at]
            line = f"  {first.strip()}" if at == number else line
            if not line.strip() and at > number:
                break
            match = _SUMMARY_ITEM.match(f"{line} ")
            if match:
                items.setdefault(
                    match["name"], Item(line.strip(), key=match["name"], names=(match["name"],))
                )
    return items


def _verdict(texts: dict[int, tuple[str, str]]) -> str:
    """Return the tests' totals, the modules that failed, and whether the build did."""
    said = []
    for _, text in texts.values():
        bare = text.strip()
        ran = _RAN.match(bare)
        if (ran and "Time elapsed" not in bare) or _MODULE.match(bare) or bare.startswith("BUILD "):
            said.append(bare)
    return last_words(said)


def _stop(lines: Sequence[str], last: int) -> int:
    """Return the line after the indented lines below line *last*."""
    stop = last + 1
    while stop < len(lines) and stop < last + 40 and lines[stop].startswith(("  ", "\t")):
        stop += 1
    return stop


REDUCER = Maven()
