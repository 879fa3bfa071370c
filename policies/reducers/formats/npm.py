"""npm, and yarn and pnpm in short: each error with its code and command, and the last word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from policies.reducers.build import Diagnostic, build, last_words
from policies.reducers.compilers import clusters, lines_with
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Npm"]

_LINE = re.compile(
    r"npm (?P<level>ERR!|error|warn|WARN|info|verb|verbose|sill|silly|http|timing|notice)"
    r"(?: (?P<text>.*)|$)"
)
_SUMMARY = re.compile(
    r"(?:added|changed|removed|audited|up to date)[ ,][^\n]{0,120}$"
    r"|found 0 vulnerabilities$|\d++ (?:\w++ )?(?:severity )?vulnerabilit(?:y|ies)"
    r"|\d++ packages? (?:are|is) looking for funding"
)
_WORDS = (
    "added ", "changed ", "removed ", "audited ", "up to date", "vulnerabilit", "npm fund",
    "looking for funding", "npm audit",
)  # fmt: skip
_SCRIPT = re.compile(r"> (?P<package>@?[\w./-]++@\S++|[\w-]++@) \S++(?: \S++)?$|> \S")
_PNPM = re.compile(r"\s?(?P<code>ERR_PNPM_\w++|ELIFECYCLE)\s(?P<text>.*)")
_YARN = re.compile(r"(?:error Command failed with exit code|error An unexpected error|yarn error )")
_OTHERS = ("ERR_PNPM_", "ELIFECYCLE", "error Command failed", "error An unexpected error")
_HTTP = re.compile(r"fetch \w++ (?P<status>[45]\d\d) \S++")
_EXIT = re.compile(r"(?:exit|code) (?P<code>-?\d++)$")
_MINOR = (
    "A complete log of this run", "code ", "errno ", "syscall ", "path ", "workspace ", "location ",
    "command ", "dest ", "cwd ", "signal ", "Node ", "node ", "npm ", "argv ", "Linux ", "Darwin ",
    "Windows_NT ", "This is probably not a problem with npm", "in workspace:",
)  # fmt: skip
_BELOW = 12


class Npm:
    """What npm says itself, with any log level; the scripts' own output belongs to their tools."""

    name = "npm"
    about = "each error with its code, package and command, warnings counted, the last word"
    kind = "build"
    rank = 60
    hints = ("npm ", *_OTHERS)

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of npm's lines, with the script's name above and the summary below."""
        own = {n for n in lines_with(log, ("npm ",)) if _LINE.match(log.lines[n])}
        own |= {n for n in lines_with(log, _OTHERS) if _other(log.lines[n])}
        if not own:
            return
        near = {n for n in lines_with(log, _WORDS) if _SUMMARY.match(log.lines[n])}
        near |= {n for n in lines_with(log, ("> ",)) if _script(log.lines, n)}
        for group in clusters(sorted(own | near), 4):
            if not own.isdisjoint(group):
                yield Span(group[0], group[-1] + 1)
            else:
                yield from (Span(run[0], run[-1] + 1) for run in clusters(group, 0))

    def read(self, log: Log) -> Form | None:
        """Return each block of error lines once; npm's files are none of the code's."""
        own = {n: match for n in lines_with(log, ("npm ",)) if (match := _LINE.match(log.lines[n]))}
        others = [n for n in lines_with(log, _OTHERS) if _other(log.lines[n])]
        scripts = [n for n in lines_with(log, ("> ",)) if _script(log.lines, n)]
        words = [n for n in lines_with(log, _WORDS) if _SUMMARY.match(log.lines[n])]
        if not (own or others or scripts):
            return None
        found = [*_errors(log.lines, own), *_warnings(log.lines, own)]
        found += [Diagnostic(n, "", log.lines[n].strip()) for n in others]
        code = _exit_code(own)
        if code not in ("", "0") and not any(each.error for each in found):
            found += _refused(log.lines, own)
        found.sort(key=lambda each: each.line)
        said = [log.lines[n] for n in words]
        if code:
            said.append(f"npm verbose exit {code}")
        if not said and scripts and not found:
            said = [log.lines[n] for n in scripts]
        return build(
            self.name,
            log,
            found,
            head=_script_of(log.lines, scripts, found),
            verdict=last_words(said),
            nouns=("npm error", "npm warning"),
            by="key",
        )


def _other(line: str) -> bool:
    return _PNPM.match(line) is not None or _YARN.match(line) is not None


def _script(lines: Sequence[str], number: int) -> bool:
    """Whether line *number* is one of the two with which npm begins a script."""
    line = lines[number]
    if not line.startswith("> "):
        return False
    match = _SCRIPT.match(line)
    if match and match["package"]:
        return number + 1 < len(lines) and lines[number + 1].startswith("> ")
    above = _SCRIPT.match(lines[number - 1]) if number else None
    return above is not None and above["package"] is not None


def _errors(lines: Sequence[str], own: dict[int, re.Match[str]]) -> Iterator[Diagnostic]:
    """Yield one diagnostic for each block of error lines; the log's path ends a block."""
    block: list[int] = []
    for number, match in own.items():
        if match["level"] not in ("ERR!", "error"):
            continue
        text = (match["text"] or "").strip()
        if block and (number - block[-1] > 3 or _opens(text, lines, own, block)):
            yield _block(block, own)
            block = []
        block.append(number)
    if block:
        yield _block(block, own)


def _opens(
    text: str, lines: Sequence[str], own: dict[int, re.Match[str]], block: Sequence[int]
) -> bool:
    """Whether *text* begins another error right below *block*."""
    if text.startswith("Lifecycle script "):
        return True
    ended = any("A complete log of this run" in lines[number] for number in block[-3:])
    return ended or (
        text.startswith("code ")
        and any(_text(own, number).startswith("code ") for number in block)
        and not any(_text(own, number).startswith("Lifecycle script ") for number in block)
    )


def _text(own: dict[int, re.Match[str]], number: int) -> str:
    return (own[number]["text"] or "").strip()


def _block(block: Sequence[int], own: dict[int, re.Match[str]]) -> Diagnostic:
    """Return a block as one error: its code, what it says first, and where."""
    texts = [_text(own, number) for number in block]
    code = next((text for text in texts if text.startswith("code ")), "")
    said = [text for text in texts if text and not text.startswith(_MINOR)]
    where = [text for text in texts if text.startswith(("workspace ", "path ", "command "))]
    where = [text for text in where if text != "command failed"]
    parts = [part for part in (code, *said[:1], *where[:1], *where[-1:]) if part]
    text = f"npm {own[block[0]]['level']} {'; '.join(dict.fromkeys(parts))}"
    rest = [line for line in texts if line and line not in text][:_BELOW]
    return Diagnostic(block[0], "", text, True, "\n".join(rest))


def _warnings(lines: Sequence[str], own: dict[int, re.Match[str]]) -> Iterator[Diagnostic]:
    """Yield the warnings; lines that go on with the one above are not counted."""
    last, subject = -2, ""
    for number, match in own.items():
        if match["level"] not in ("warn", "WARN"):
            continue
        text = match["text"] or ""
        word, _, rest = text.partition(" ")
        goes_on = (
            number == last + 1
            and word == subject
            and (
                not rest or rest[0] in " ]})" or word not in ("deprecated", "EBADENGINE", "config")
            )
        )
        last, subject = number, word
        if text.strip() and not goes_on and rest[:1] not in ("}", "]"):
            yield Diagnostic(number, "", lines[number].strip(), False)


def _refused(lines: Sequence[str], own: dict[int, re.Match[str]]) -> list[Diagnostic]:
    """Return the requests that a registry refused: what failed where npm names no error."""
    return [
        Diagnostic(number, "", lines[number].strip())
        for number, match in own.items()
        if match["level"] == "http" and _HTTP.match(match["text"] or "")
    ]


def _exit_code(own: dict[int, re.Match[str]]) -> str:
    for number in reversed(own):
        if own[number]["level"] in ("verb", "verbose"):
            match = _EXIT.match((own[number]["text"] or "").strip())
            if match:
                return match["code"]
    return ""


def _script_of(lines: Sequence[str], scripts: Sequence[int], found: Sequence[Diagnostic]) -> str:
    """Return the script that was running when the first error came."""
    errors = [each.line for each in found if each.error]
    if not errors:
        return ""
    above = [n for n in scripts if n < errors[0]]
    return "\n".join(lines[n] for n in above[-2:])


REDUCER = Npm()
