"""What plain shell commands do with files, where command and result alone make that certain.

Read is what ``cat``, ``sed -n``, ``head``, ``tail`` or ``nl`` print of one file. Written is what
``sed -i``, ``rm``, ``mv``, ``cp``, ``tee``, ``git checkout --`` and a redirection name. In front
may stand ``cd DIR &&``, between writes ``&&``: behind a command that may fail without a word, only
what a tool calls a success was surely run. A word that the shell expands names no file, and
neither does a relative path in a folder that nothing tells.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scenarios.transcripts.shell_line import HOLE, Line, Simple, parsed
from scenarios.transcripts.shell_tools import (
    AFRESH,
    command_of,
    ended_in,
    folder,
    is_elsewhere,
    said_failure,
    said_success,
)

__all__ = ["Shelled", "moved", "shelled"]

_RANGES = re.compile(r"\d+(?:,(?:\d+|\$))?p(?:;\d+(?:,(?:\d+|\$))?p)*")
_COUNT = re.compile(r"-n?\d+|-n|[+-]?\d+")
_PATTERN = re.compile(r"[*?\[:]")
"""What git itself expands in the name of a file, however the shell was told to leave it."""
_FLAGS = {
    "rm": re.compile(r"-[frRv]+"),
    "mv": re.compile(r"-[fv]+"),
    "cp": re.compile(r"-[fpv]+"),
    "tee": re.compile(r"-a"),
}
_TELLS = frozenset({"cat", "cd", "chmod", "echo", "mkdir", "printf", "tee", "touch"})
"""Programs that do not fail without a word, besides those whose arguments name what they write."""
_EDITS = frozenset({"cat", "cd", "cp", "echo", "git", "mv", "printf", "rm", "sed", "tee"})
"""Programs whose output, if they have any, is that of an edit."""
_MOVES = frozenset({".", "builtin", "cd", "command", "eval", "popd", "pushd", "source"})
"""Programs behind which the shell may be in another folder."""
_PRINTED = 3
"""Lines in which a program that prints a file complains, if it does: what follows is the file."""


@dataclass(frozen=True, slots=True)
class Shelled:
    """What a command does with files: it *reads* the one of *paths*, or writes them all.

    *content* is the whole new text where the command holds it. *aside*: something besides the
    writes was run, and what came back is what that printed.
    """

    paths: tuple[str, ...]
    reads: bool
    content: str | None = None
    aside: bool = False


def shelled(plain: str, arguments: Any, result: str, cwd: str | None) -> Shelled | None:
    """Return what a call of the tool *plain* certainly did with files, None if nothing.

    *plain* is the tool's name without case and separators, *cwd* the folder it was called in, None
    where the record does not say it.
    """
    command = command_of(plain, arguments)
    line = None if command is None else parsed(command.strip())
    if line is None:
        return None
    bases = list(_bases(line.pipelines, _start(plain, arguments, cwd)))
    if (ended := ended_in(result)) is not None:
        last = max((n for n, p in enumerate(line.pipelines) if _moves(p)), default=-1)
        bases[last + 1 :] = [base or ended for base in bases[last + 1 :]]
    programs = {each.name for p in line.pipelines for each in p if each.name}
    if (read := _read(line, bases)) is not None:
        return None if said_failure(result, programs, _PRINTED) else read
    if said_failure(result, programs):
        return None
    return _written(line, bases, said_success(result))


def moved(plain: str, arguments: Any, cwd: str | None, program: str) -> str | None:
    """Return the folder in which a call of a shell runs *program*, None if that cannot be told.

    *cwd* is the folder of the call; in front of the program may stand ``cd DIR &&``.
    """
    start = _start(plain, arguments, cwd)
    before = (command_of(plain, arguments) or "").partition(program)[0].strip()
    if _MOVES.isdisjoint(before.split()):
        return start
    line = parsed(before.removesuffix("&&")) if before.endswith("&&") else None
    if line is None:
        return None
    *_, base = _bases([*line.pipelines, []], start)
    return base


def _start(plain: str, arguments: Any, cwd: str | None) -> str | None:
    """Return the folder in which a call begins, None if that is unknown.

    A tool that starts a shell afresh begins in the same folder each time: unknown, it is ``.``.
    """
    start = folder(arguments, cwd)
    if start is not None and (start.startswith("/") or plain not in AFRESH):
        return start if start.startswith("/") else None
    if plain not in AFRESH:
        return None
    return "." if start is None or is_elsewhere(start) else start


def _moves(pipeline: list[Simple]) -> bool:
    """Whether what follows a pipeline may run in another folder."""
    return any(simple.name is None or simple.name in _MOVES for simple in pipeline)


def _bases(pipelines: list[list[Simple]], base: str | None) -> Iterator[str | None]:
    """Yield the folder that each pipeline runs in, from *base* on, None if that is unknown."""
    for pipeline in pipelines:
        yield base
        if _moves(pipeline):
            words = pipeline[0].words
            to = words[1] if len(pipeline) == 1 and words[0] == "cd" and len(words) == 2 else None
            if not to or to.startswith("-") or HOLE in to:
                base = None
            elif to.startswith("/") or base is not None:
                base = posixpath.normpath(posixpath.join(base or "", to))


def _at(path: str | None, base: str | None) -> str | None:
    """Return *path* as seen from *base*, None if it is no file or cannot be told."""
    if not path or path in (".", "..") or path.startswith("-") or HOLE in path:
        return None
    if base is None and not path.startswith("/"):
        return None
    path = posixpath.normpath(posixpath.join(base or "", path))
    none = path in (".", "..", "/") or path.startswith(("/dev/", "/proc/", "/sys/"))
    return None if none else path


# -- reads ---------------------------------------------------------------------------------


def _read(line: Line, bases: list[str | None]) -> Shelled | None:
    *before, last = line.pipelines
    if len(last) > 1 or any(len(each) > 1 or each[0].name != "cd" for each in before):
        return None
    if any(simple.outputs for pipeline in line.pipelines for simple in pipeline):
        return None
    words = [word for word in last[0].words if word is not None]
    if len(words) < len(last[0].words) or len(words) < 2 or not _prints(words[0], words[1:-1]):
        return None
    path = _at(words[-1], bases[-1])
    return None if path is None else Shelled((path,), True)


def _prints(name: str, options: list[str]) -> bool:
    """Whether a program with these options prints a file, or lines of it."""
    match name:
        case "cat":
            return options in ([], ["-n"])
        case "nl":
            return options in ([], ["-ba"], ["-b", "a"])
        case "sed":
            return len(options) == 2 and options[0] == "-n" and bool(_RANGES.fullmatch(options[1]))
        case "head" | "tail":
            one = len(options) == 1 and options[0] != "-n" and options[0].startswith("-")
            two = len(options) == 2 and options[0] == "-n" and not options[1].startswith("-n")
            return not options or ((one or two) and all(map(_COUNT.fullmatch, options)))
    return False


# -- writes --------------------------------------------------------------------------------


def _written(line: Line, bases: list[str | None], succeeded: bool) -> Shelled | None:
    """Return what a line writes; *succeeded* if all of it is known to have been run."""
    paths: list[str | None] = []
    latest: list[str | None] = []
    aside, reached = False, True
    for pipeline, base in zip(line.pipelines, bases, strict=True):
        named = [each for simple in pipeline for each in _named(simple)]
        redirected = [each for simple in pipeline for each in _redirected(simple)]
        last, silent = pipeline[-1], any(map(_is_silent, pipeline))
        surely = redirected if silent and not succeeded else [*named, *redirected]
        latest = [_at(each, base) for each in surely] if reached or succeeded else []
        paths += latest
        tells = last.name in _TELLS or bool(_named(last))
        reached = reached and tells and not silent
        edits = all(simple.name in _EDITS for simple in pipeline)
        aside = aside or not edits or not (named or redirected or last.name == "cd")
    files = tuple(dict.fromkeys(path for path in paths if path is not None))
    if not files:
        return None
    whole = line.content if _is_whole(line.pipelines[-1]) and paths == latest else None
    return Shelled(files, False, whole, aside)


def _is_silent(simple: Simple) -> bool:
    """Whether the complaints of a command go anywhere but into its result."""
    operators = [operator for operator, _ in simple.outputs]
    elsewhere = any(each[0] in "2&" and each[-1] != "&" for each in operators)
    joined = any(each.endswith(">&") for each in operators)
    return elsewhere or (joined and any(each[0] == ">" and each != ">&" for each in operators))


def _is_whole(pipeline: list[Simple]) -> bool:
    """Whether a pipeline makes of its here-document a file, and of nothing else."""
    (first, *more) = pipeline
    return not more and first.words == ["cat"] and [each[0] for each in first.outputs] == [">"]


def _redirected(simple: Simple) -> list[str | None]:
    return [to for operator, to in simple.outputs if ">" in operator and operator[-1] != "&"]


def _named(simple: Simple) -> list[str | None]:
    """Return the files that a command writes by its arguments."""
    name, *words = simple.words
    if name == "sed":
        return _edited(words)
    if name == "git":
        return _checked_out(words)
    flags = _FLAGS.get(name or "")
    if flags is None:
        return []
    while words and words[0] is not None and words[0].startswith("-"):
        if flags.fullmatch(words[0]) is None:
            return []
        words = words[1:]
    if any(word and word.startswith("-") for word in words):
        return []
    return words if name in ("rm", "tee") else _moved(words, name == "mv")


def _moved(words: list[str | None], gone: bool) -> list[str | None]:
    """Return what ``mv`` or ``cp`` writes: what is *gone*, and what is there now."""
    known = [word for word in words if word is not None]
    if len(known) < len(words) or len(known) < 2:
        return []
    *sources, to = known
    written: list[str | None] = [*sources] if gone else []
    if len(sources) == 1 and to not in (".", "..") and not to.endswith(("/", "/.", "/..")):
        return [*written, to]
    return [*written, *(posixpath.join(to, posixpath.basename(s.rstrip("/"))) for s in sources)]


def _checked_out(words: list[str | None]) -> list[str | None]:
    """Return the files that ``git checkout [REVISION] -- FILE…`` writes."""
    if words[:1] != ["checkout"] or "--" not in words:
        return []
    at = words.index("--")
    revision = words[1:at]
    if len(revision) > 1 or any(word is None or word.startswith("-") for word in revision):
        return []
    return [word and (None if _PATTERN.search(word) else word) for word in words[at + 1 :]]


def _edited(words: list[str | None]) -> list[str | None]:
    """Return the files that ``sed`` edits in place."""
    in_place = False
    scripts: list[str | None] = []
    while words and words[0] is not None and words[0].startswith("-"):
        option, words = words[0], words[1:]
        if option == "-i" or option.startswith("-i."):
            in_place = True
            words = words[1:] if words[:1] == [""] else words
        elif option == "-e":
            scripts, words = [*scripts, *words[:1]], words[1:]
        elif option not in ("-E", "-r", "-n"):
            return []
    if not scripts:
        scripts, words = words[:1], words[1:]
    odd = None in scripts or any(word is not None and word.startswith("-") for word in words)
    return words if in_place and not odd else []
