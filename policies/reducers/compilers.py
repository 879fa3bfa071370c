"""Compilers' diagnostics of the form ``path:line:column: error: message``, and the linker's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from policies.reducers.build import Diagnostic
from policies.reducers.log import Span

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = [
    "ANCHORS",
    "LEVELS",
    "clusters",
    "context",
    "diagnostics",
    "is_closing",
    "lines_with",
    "listed",
    "noted",
    "widened",
]

LEVELS = {
    "error": True,
    "fatal error": True,
    "internal compiler error": True,
    "Error": True,
    "Fatal Error": True,
    "sorry, unimplemented": True,
    "Fehler": True,
    "schwerwiegender Fehler": True,
    "erreur": True,
    "erreur fatale": True,
    "errore": True,
    "ошибка": True,
    "エラー": True,
    "致命的エラー": True,
    "错误": True,
    "致命错误": True,
    "오류": True,
    "warning": False,
    "Warning": False,
    "Warnung": False,
    "attention": False,
    "avertissement": False,
    "aviso": False,
    "advertencia": False,
    "предупреждение": False,
    "警告": False,
    "경고": False,
}
"""Words of a level, in the languages compilers speak, and whether one is an error."""

_WORD = "|".join(sorted(map(re.escape, LEVELS), key=len, reverse=True))
_LINKS = ("undefined reference to ", "multiple definition of ", "more undefined references to ")
ANCHORS = (
    *dict.fromkeys(f"{word.rpartition(' ')[2]}:" for word in LEVELS),
    *(f"{word}：" for word in ("错误", "警告")),
    *_LINKS,
    "Undefined symbols for architecture ",
    "ld: ",
)
"""Strings of which every line with a diagnostic has one."""

_AT = re.compile(
    r"[ \t]*+(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+)"
    r"(?P<where>:\d++(?:[:.]\d++)?(?:-\d++)?): ?"
    rf"(?P<level>{_WORD})(?::|：)(?P<more>  )?"
)
_CUDA = re.compile(rf"[ \t]*+(?P<file>[^\s:(][^(:\n]*+)(?P<where>\(\d++\)): (?P<level>{_WORD})")
_QUOTED = re.compile(
    rf"[ \t]*+\"(?P<file>[^\"\n]++)\", line (?P<where>\d++)(?:\.\d++)?: (?P<level>{_WORD})"
)
_NAMES = (
    r"gcc|g\+\+|cc|c\+\+|cc1|cc1plus|cc1obj|cpp|clang|clang\+\+|clang-tidy|clang-cl|collect2|ld|lld"
    r"|ld64|as|ar|nvcc|nvlink|ptxas|lto1|lto-wrapper|gfortran|f951|flang|emcc|swiftc|rustc|nasm|yasm"
)
_PROGRAM = re.compile(
    rf"[ \t]*+(?>[^\s:]*[/\\])?(?:[\w.]++-)*+(?:{_NAMES})(?:\.\w++|-[\d.]++)*+: "
    rf"(?:(?P<level>{_WORD}): )?"
)
_LINKER = re.compile(r"[ \t]*+(?>[^\s:]*[/\\])?(?:[\w.]++-)*+(?:ld|lld)(?:\.\w++)*+: ")
_UNRESOLVED = re.compile(
    r"cannot find |cannot open |library not found|framework not found|duplicate symbol"
    r"|undefined symbol|relocation |unrecogni[sz]ed |file not recogni[sz]ed|undefined reference"
)
_CLOSING = re.compile(
    r"[ \t]*+(?:compilation terminated\.|collect2: |\d++ (?:error|warning)s? (?:and \d++ errors? )?"
    r"generated|(?:[\w.]++-)*+clang(?:\+\+)?(?:-[\d.]++)?: error: linker command failed"
    r"|(?>[^\s:]*[/\\])?cc1(?:plus|obj)?: (?:all|some) warnings being treated as errors"
    r"|ld: symbol\(s\) not found|Suppressed \d++ warnings|Found compiler error)"
)
_SOURCES = (
    "c cc cp cpp cxx c++ h hh hp hpp hxx h++ i ii ipp inl inc ixx cppm tcc tpp txx m mm s asm nasm "
    "l ll y yy lex f for ftn f77 f90 f95 f03 f08 f18 cu cuh cl d swift ino pde def rc proto v sv "
    "vhd vhdl ld lds o a so obj pyx pxd pxi"
)
_ENDINGS = frozenset(_SOURCES.split())
_NO_ENDING = re.compile(
    r"(?:[/\\]include[/\\].*[/\\][\w+-]++|<command-line>|<built-in>|\{standard input\}|\.[ch]\.in)$"
)
_SOME = re.compile(r"[./\\<{]")
_BEFORE = re.compile(
    r"[ \t]*+(?:In (?:file|module) (?:included|imported) from |from |[^\n:]++: (?:In |At |in )"
    r"|[^\n:]++:\d++:(?:\d++:)? {2,})"
)
_COMMAND = re.compile(r"\S++ -\S++ ")
_NOTE = re.compile(
    r"[ \t]*+(?P<file>(?:[A-Za-z]:(?=[\\/]))?[^\s:][^:\n]*+)"
    r"(?:(?::\d++){1,2}+:(?: note: | {2,}\S)|: In (?:instantiation|substitution) of )"
)
"""What a compiler tells about an error: a candidate, or the template it was made from."""
_NOTES = (
    ": note: ", ":   required ", ":   recursively ", ":   instantiated ", ":   by ", ":   in ",
    ": In instantiation of ", ": In substitution of ",
)  # fmt: skip
_TAIL = 12
"""How many lines below an error belong to it."""


def lines_with(log: Log, strings: Iterable[str]) -> list[int]:
    """Return the numbers of the lines in which any of *strings* occurs, in order."""
    text = log.text
    found: set[int] = set()
    for string in strings:
        at = text.find(string)
        while at >= 0:
            found.add(log.line_at(at))
            end = text.find("\n", at)
            at = text.find(string, end) if end >= 0 else -1
    return sorted(found)


def clusters(numbers: Sequence[int], gap: int) -> Iterator[list[int]]:
    """Yield *numbers*, sorted, in groups with at most *gap* others between two of one group."""
    group: list[int] = []
    for number in numbers:
        if group and number - group[-1] > gap + 1:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def diagnostics(
    log: Log, *, anywhere: bool = False, numbers: Sequence[int] | None = None
) -> list[Diagnostic]:
    """Return what the C family's compilers and linkers said, in the order printed.

    With *anywhere* a file may have any ending; without it those of other languages are left to
    the readers that know them. *numbers* are the lines to look at, if they are known. Details
    stand at the first error of each file.
    """
    if numbers is None:
        numbers = lines_with(log, ANCHORS)
    found, seen = [], set()
    known = set(numbers)
    for number in numbers:
        each = _read(log.lines[number], number, anywhere)
        if each is None:
            continue
        if (each.file, each.error) not in seen:
            seen.add((each.file, each.error))
            below = context(log.lines, number, known)
            each = Diagnostic(number, each.file, each.text, each.error, below, each.where)
        found.append(each)
    return found


def listed(log: Log) -> list[int]:
    """Return the numbers of the lines that hold a diagnostic of the C family or a closing line."""
    return [
        number
        for number in lines_with(log, ANCHORS)
        if _read(log.lines[number], number, False) is not None or _CLOSING.match(log.lines[number])
    ]


def noted(log: Log) -> list[int]:
    """Return the numbers of the lines that tell more of a diagnostic of the C family."""
    found = []
    for number in lines_with(log, _NOTES):
        match = _NOTE.match(log.lines[number])
        if match and _is_own(match["file"]):
            found.append(number)
    return found


def is_closing(line: str) -> bool:
    """Whether *line* closes what a compiler said and is no error of its own."""
    return _CLOSING.match(line) is not None


def _read(line: str, number: int, anywhere: bool) -> Diagnostic | None:
    match = _AT.match(line) or _CUDA.match(line) or _QUOTED.match(line)
    if match:
        file = match["file"]
        if not (_SOME.search(file[-200:]) if anywhere else _is_own(file)):
            return None
        if match.groupdict().get("more"):
            return None
        if _COMMAND.match(file):
            file = file.rpartition(" ")[2]
        return Diagnostic(number, file, line.strip(), LEVELS[match["level"]], "", match["where"])
    for link in _LINKS:
        at = line.find(link)
        if at > 0 and not line[at + len(link) : at + len(link) + 1].isalnum():
            return _link(line, line[:at], number)
    if line.startswith("Undefined symbols for architecture "):
        return Diagnostic(number, "", line)
    match = _PROGRAM.match(line)
    if match and not _CLOSING.match(line):
        if match["level"]:
            return Diagnostic(number, "", line.strip(), LEVELS[match["level"]])
        if _LINKER.match(line) and _UNRESOLVED.match(line, match.end()):
            return Diagnostic(number, "", line.strip())
    return None


def _is_own(file: str) -> bool:
    """Whether *file* is named as sources and objects of the C family are."""
    _, dot, ending = file[-8:].rpartition(".")
    if dot and ending.isalnum() and ending != "in":
        return ending.lower() in _ENDINGS
    return ending.lower() in _ENDINGS or _NO_ENDING.search(file[-200:]) is not None


def _link(line: str, before: str, number: int) -> Diagnostic | None:
    """Return the linker's error whose place is *before* the message, if it names one."""
    if not before.endswith(": "):
        return None
    place = before[:-2].strip()
    match = _LINKER.match(place + " ") or _LINKER.match(place)
    if match:
        place = place[match.end() :]
    if place.endswith(")") and ":(" in place:
        place = place[: place.rfind(":(")]
    head, colon, tail = place.rpartition(":")
    where = ""
    if colon and tail.isdigit():
        place, where = head, f":{tail}"
    head, colon, tail = place.rpartition(":")
    if colon and len(head) > 1:
        place = tail
    if not place or (" " in place and "/" not in place and "\\" not in place):
        return None
    return Diagnostic(number, place, line.strip(), True, "", where)


def context(lines: Sequence[str], number: int, others: set[int], most: int = _TAIL) -> str:
    """Return the lines that belong to the diagnostic at line *number*: those below, then above.

    Below: up to a blank line or the next of *others*; notes belong to the error before them.
    """
    below = []
    for at in range(number + 1, min(number + 1 + most, len(lines))):
        line = lines[at]
        if not line.strip() or _CLOSING.match(line) or _BEFORE.match(line):
            break
        if at in others and ": note: " not in line:
            break
        if not (line[0].isspace() or ": note: " in line or line[0] in "^~|" or _excerpt(line)):
            break
        below.append(line[:300])
    above = []
    for at in range(number - 1, max(number - 9, -1), -1):
        if not _BEFORE.match(lines[at]) or at in others:
            break
        above.append(lines[at][:300])
    return "\n".join([*below, *reversed(above)])


def _excerpt(line: str) -> bool:
    """Whether *line* may be a line of source: not a path with a place, not a command."""
    return line.endswith((";", "{", "}", ")", ",", "^", "~"))


def widened(log: Log, group: Sequence[int]) -> Span:
    """Return the lines of *group* with the context above its first and below its last."""
    lines = log.lines
    start = group[0]
    while start > 0 and group[0] - start < 40 and _BEFORE.match(lines[start - 1]):
        start -= 1
    stop = group[-1] + 1
    while stop < len(lines) and stop - group[-1] < 40:
        line = lines[stop]
        if not line or not (line[0].isspace() or line[0] in "^~" or _CLOSING.match(line)):
            break
        stop += 1
    return Span(start, stop)
