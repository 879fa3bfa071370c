"""From the paths a user gives to the sessions that stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path

from scenarios.scripts import is_script
from scenarios.transcripts.builder import Builder
from scenarios.transcripts.declared import Declared
from scenarios.transcripts.findings import Findings, counted, named, told
from scenarios.transcripts.formats import Found, get_format, recognise
from scenarios.transcripts.formats.format import Thread
from scenarios.transcripts.recording import Recording
from scenarios.transcripts.session import Session, clean
from sim.errors import InputError
from sim.tokens import Tokenizer

__all__ = ["EMPTY", "SCRIPT", "Source", "find", "read", "recorded_format"]

EMPTY = "a path is empty and names no file; is it a variable of the shell that is not set?"
"""What is said of an empty path, which would else be the current folder."""

SCRIPT = "script"
"""What stands for the format of a source that is a script already."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of recorded sessions, or the files of one in the order of their calls.

    *name* is what its sessions are called, *format* the name of its format. *given* is whether the
    user named the file itself.
    """

    name: str
    format: str
    files: tuple[Path, ...]
    given: bool = True

    @property
    def place(self) -> Path:
        """What messages call it: the file, or the directory of a series."""
        return self.files[0] if len(self.files) == 1 else self.files[0].parent


def recorded_format(path: Path) -> str | None:
    """Return the name of the format in which the file *path* is recorded, None if in none."""
    try:
        return recognise(path).format.name if path.is_file() and not is_script(path) else None
    except InputError:
        return None


def find(
    paths: Sequence[str | PathLike[str]], strict: bool, warn: Callable[[str], object]
) -> list[Source]:
    """Return the sources in *paths*, sorted by path, each with a name of its own.

    A path may be a pattern; a directory is searched whole. A file that is given must be a
    recording, or the script of one; one that is only met in a directory or by a pattern is passed
    over with a warning, or under *strict* raises InputError, too. A file that several paths lead to
    is one source; a warning counts the others.
    """
    found: list[Found] = []

    def pass_over(error: InputError) -> None:
        if strict:
            raise error
        warn(f"{told(error)} (passed over)")

    met = _Files(pass_over)
    for given in paths:
        met.take(fspath(given))
    for doubled in met.doubled():
        warn(doubled)
    files = dict(sorted(met.given.items(), key=lambda item: str(item[0])))
    scripts = [path for path in files if is_script(path)]
    for path, given_itself in files.items():
        if path in scripts:
            continue
        try:
            found.append(recognise(path))
        except InputError as error:
            if given_itself:
                raise
            pass_over(error)
    if not found and not scripts:
        where = ", ".join(named(fspath(path)) for path in paths)
        raise InputError("there is no recorded session in it", file=where or None)
    sources: list[tuple[str, tuple[Path, ...]]]
    sources = [(f.format.name, (f.path,)) for f in found if f.format.series is None]
    sources += [(SCRIPT, (path,)) for path in scripts]
    for format in dict.fromkeys(f.format for f in found if f.format.series is not None):
        assert format.series is not None
        outlines = [f.outline for f in found if f.format is format]
        sources += [(format.name, tuple(run)) for run in format.series.runs(outlines)]
    sources.sort(key=lambda source: [str(p) for p in source[1]])
    return _named(sources, files)


class _Files:
    """The files that the paths of a user lead to, each once, under the first path that does.

    *given* says of each whether it was given itself. What is met and is no regular file goes to
    *pass_over*.
    """

    def __init__(self, pass_over: Callable[[InputError], object]) -> None:
        self.given: dict[Path, bool] = {}
        self._pass_over = pass_over
        self._paths: dict[tuple[int, int], Path] = {}
        self._entries: set[tuple[int, int]] = set()
        self._doubles: dict[Path, Path] = {}

    def take(self, given: str) -> None:
        """Take in the files that a path or a pattern leads to; raises InputError for none."""
        if not given:
            raise InputError(EMPTY)
        path = Path(given)
        try:
            if path.is_dir():
                self._search(path)
            elif path.is_file():
                self._put(_settled(path), True)
            elif path.exists():
                raise InputError("it is no regular file; write it to one first", file=path)
            elif has_magic(given):
                self._match(given)
            elif given == "-":
                raise InputError("standard input is not read; write it to a file first", file=given)
            else:
                raise InputError("there is no such file", file=path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"cannot read it: {why}", file=path) from None

    def doubled(self) -> Iterator[str]:
        """Yield a sentence if several paths lead to one file."""
        for path, first in self._doubles.items():
            more = len(self._doubles) - 1
            others = f"; {counted(more, 'more path', 'more paths')} to files read already"
            same = f"{named(path)} is the same file as {named(first)}, which is read once"
            yield same + (others if more else "")
            return

    def _match(self, pattern: str) -> None:
        matches = [Path(name) for name in glob(pattern, recursive=True)]
        for path in sorted(matches, key=lambda path: (len(path.parts), str(path))):
            if path.is_dir():
                self._search(path)
            else:
                self._meet(path)
        if not matches:
            raise InputError("no file matches it", file=pattern)

    def _search(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if not _hidden(path.relative_to(folder)) and not path.is_dir():
                self._meet(path)

    def _meet(self, path: Path) -> None:
        entry = path.lstat()
        known = (entry.st_dev, entry.st_ino) in self._entries
        self._entries.add((entry.st_dev, entry.st_ino))
        if path.is_file():
            self._put(path, False)
        elif not known:
            there = "it is no regular file" if path.exists() else "it is a link to no file"
            self._pass_over(InputError(there, file=path))

    def _put(self, path: Path, given: bool) -> None:
        found = path.stat()
        first = self._paths.setdefault((found.st_dev, found.st_ino), path)
        if first != path and path not in self.given:
            self._doubles.setdefault(path, first)
        self.given[first] = self.given.get(first, False) or given


def _settled(path: Path) -> Path:
    """Return what a name of a stream, which means another file in another process, leads to."""
    leads = path.resolve() if path.parts[:2] == ("/", "dev") else path
    return leads if leads.is_file() else path


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _named(
    sources: Iterable[tuple[str, tuple[Path, ...]]], given: dict[Path, bool]
) -> list[Source]:
    found: dict[str, Source] = {}
    for format, files in sources:
        stem = files[0].stem if len(files) == 1 else files[0].resolve().parent.name
        stem = name = clean(stem) or "session"
        number = 1
        while name in found:
            number += 1
            name = f"{stem}-{number}"
        found[name] = Source(name, format, files, any(given[file] for file in files))
    return list(found.values())


def read(
    source: Source,
    tokenizer: Tokenizer,
    findings: Findings,
    declared: Declared | None = None,
) -> Iterator[tuple[str, Session]]:
    """Yield the name and the session of each thread of *source*, *declared* tools at their budgets.

    One session is held at a time. Threads without a model call are counted in a note; raises
    InputError if none has one.
    """
    format = get_format(source.format)
    recording = Recording(source.files[0], source.files[1:])
    several, empty = 0, 0
    for thread in format.threads(recording, findings):
        session = _build(thread, tokenizer, findings, declared)
        if session.turns:
            several += 1
            yield f"{source.name}/{clean(thread.name)}" if thread.name else source.name, session
        else:
            empty += 1
    if not several:
        why = findings.first()
        raise InputError(f"there is no model call in it{why and '; '}{why}", file=source.place)
    if empty:
        findings.note(f"{counted(empty, 'thread', 'threads')} without a model call, left out")


def _build(
    thread: Thread, tokenizer: Tokenizer, findings: Findings, declared: Declared | None
) -> Session:
    builder = Builder(tokenizer, findings, declared)
    for event in thread.events:
        builder.take(event)
    return builder.finish()
