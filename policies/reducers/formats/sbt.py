"""sbt and scalac: the first error of each file, failed tests, and the task that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.findings import Item
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Sbt"]

_LEVELS = ("[error]", "[warn]", "[info]", "[success]")
_LINE = re.compile(r"\[(?P<level>error|warn|info|success)\](?: (?P<text>.*)|\s*$)")
_PLACE = re.compile(
    r"(?:-- (?:\[E\d++\] )?[\w ]*?(?:Error"
    r"|Warning): )?(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*?"
    r"\.(?:scala|java|sbt|sc))(?P<where>:\d++(?::\d++)?)(?:: | -*$)"
)
_SIGN = re.compile(
    r"\[(?:error|warn)\] [^\n]*\.(?:scala|sbt|java):\d|\[success\] Total time: "
    r"|\[error\] (?:Total time: |\([^)\n]*\) )|\[info\] (?:[Cc]ompiling \d|loading (?:settings"
    r"|project)"
    r"|welcome to sbt|set current project|Loading |Done compiling|Run completed in )"
)
_FAILED = re.compile(r"(?P<name>\S.*) \*\*\* FAILED \*\*\*")
_TASK = re.compile(r"\((?P<task>[^)\n]*+)\) ")
_ENDS = re.compile(
    r"(?:Total time: |\d++ errors? found|\d++ warnings? found|Failed: Total |Passed: Total )"
)
_TESTED = re.compile(r"Failed: Total \d++, Failed (?P<failed>\d++), Errors (?P<errors>\d++)")
_GAP = 100


class Sbt:
    """sbt's log with Scala 2 and 3 diagnostics, ScalaTest's and munit's failures."""

    name = "sbt"
    about = "the first error of each file and its task, each failed test, warnings counted"
    kind = "build"
    rank = 59
    hints = _LEVELS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of lines with a level; those of other programs have no sign of sbt."""
        own, signs = [], set()
        for number in lines_with(log, _LEVELS):
            line = log.lines[number]
            if _LINE.match(line):
                own.append(number)
                if _SIGN.match(line):
                    signs.add(number)
        for group in clusters(own, _GAP):
            if not signs.isdisjoint(group):
                yield Span(group[0], group[-1] + 1)

    def read(self, log: Log) -> Form | None:
        """Return the errors by file and the failed tests."""
        texts = {
            n: (match["level"], match["text"] or "")
            for n in lines_with(log, _LEVELS)
            if (match := _LINE.match(log.lines[n]))
        }
        if not texts:
            return None
        found = _diagnostics(log.lines, texts)
        tests = _tests(texts)
        tasks = [
            text
            for level, text in texts.values()
            if level == "error" and _TASK.match(text) and "otal time" not in text
        ]
        if not tests and not any(each.error for each in found):
            found += _other(texts)
        said = [text for _, text in texts.values() if _ENDS.match(text)]
        counted = [_TESTED.match(text) for text in said]
        failed = sum(int(m["failed"][:9]) + int(m["errors"][:9]) for m in counted if m)
        return build(
            self.name,
            log,
            found,
            head=tasks[0][:400] if tasks else "",
            verdict=last_words(said),
            tests=tests,
            failed=failed or None,
        )


def _diagnostics(lines: Sequence[str], texts: dict[int, tuple[str, str]]) -> list[Diagnostic]:
    found, seen = [], set()
    for number, (level, text) in texts.items():
        match = _PLACE.match(text) if level in ("error", "warn") else None
        if not match:
            continue
        error = level == "error"
        detail = ""
        if (match["file"], error) not in seen:
            seen.add((match["file"], error))
            detail = "\n".join(_below(number, level, texts))
        found.append(
            Diagnostic(number, match["file"], lines[number].strip(), error, detail, match["where"])
        )
    return found


def _below(number: int, level: str, texts: dict[int, tuple[str, str]]) -> list[str]:
    """Return what follows at the same level: the rest of the message, the source, the caret."""
    below: list[str] = []
    for at in range(number + 1, number + 7):
        if at not in texts or texts[at][0] != level or _PLACE.match(texts[at][1]):
            break
        if _ENDS.match(texts[at][1]) or _TASK.match(texts[at][1]):
            break
        below.append(texts[at][1][:300])
    return below


def _other(texts: dict[int, tuple[str, str]]) -> Iterator[Diagnostic]:
    """Yield the first error that names no file, with those below it."""
    errors = [
        (n, text)
        for n, (level, text) in texts.items()
        if level == "error" and text.strip() and not _ENDS.match(text)
    ]
    if errors:
        detail = "\n".join(text[:300] for _, text in errors[1:10])
        yield Diagnostic(errors[0][0], "", f"[error] {errors[0][1].strip()}", detail=detail)


def _tests(texts: dict[int, tuple[str, str]]) -> list[Item]:
    """Return the failed tests of ScalaTest with the place each of them names."""
    items: dict[str, Item] = {}
    for number, (_, text) in texts.items():
        match = _FAILED.match(text.strip()) if "*** FAILED ***" in text else None
        if not match:
            continue
        name = match["name"].removeprefix("- ")
        below = [texts[at][1].strip() for at in range(number + 1, number + 5) if at in texts]
        message = below[0] if below else ""
        place = message[message.rfind("(") :] if message.endswith(")") else ""
        key = place if ".scala:" in place else name
        items.setdefault(name, Item(f"{text.strip()}: {message}", key=key, names=(name,)))
    return list(items.values())


REDUCER = Sbt()
