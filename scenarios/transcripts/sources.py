"""From the paths a user gives to the sessions that stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from scenarios.scripts import is_script
from scenarios.transcripts.builder import Builder
from scenarios.transcripts.declared import Declared
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats import Found, get_format, recognise
from scenarios.transcripts.formats.format import Thread
from scenarios.transcripts.recording import Recording
from scenarios.transcripts.session import Session, clean
from sim.errors import InputError
from sim.tokens import Tokenizer

__all__ = ["SCRIPT", "Source", "find", "read"]

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


def find(paths: Sequence[str | Path], strict: bool, warn: Callable[[str], object]) -> list[Source]:
    """Return the sources in *paths*, sorted by path, each with a name of its own.

    A path may be a pattern; a directory is searched whole. A file that is given must be a
    recording, or the script of one; one that is only met in a directory or by a pattern is passed
    over with a warning, or under *strict* raises InputError, too.
    """
    found: list[Found] = []
    files = dict(_files(paths))
    scripts = [path for path in files if is_script(path)]
    for path, given in files.items():
        if path in scripts:
            continue
        try:
            found.append(recognise(path))
        except InputError as error:
            if given or strict:
                raise
            warn(f"{error} (passed over)")
    if not found and not scripts:
        where = ", ".join(str(p) for p in paths)
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


def _files(paths: Sequence[str | Path]) -> list[tuple[Path, bool]]:
    """Return each file once, with whether it was given itself."""
    files: dict[Path, bool] = {}
    for path in map(Path, paths):
        try:
            if path.is_dir():
                for file in sorted(path.rglob("*")):
                    if file.is_file() and not _hidden(file.relative_to(path)):
                        files.setdefault(file, False)
            elif path.is_file():
                files[path] = True
            elif has_magic(str(path)):
                met = [Path(name) for name in glob(str(path), recursive=True)]
                for file, _ in _files(met) if met else ():
                    files.setdefault(file, False)
            else:
                raise InputError("there is no such file", file=path)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read it: {error}", file=path) from None
    return sorted(files.items(), key=lambda item: str(item[0]))


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _named(
    sources: Iterable[tuple[str, tuple[Path, ...]]], given: dict[Path, bool]
) -> list[Source]:
    named: dict[str, Source] = {}
    for format, files in sources:
        stem = files[0].stem if len(files) == 1 else files[0].resolve().parent.name
        stem = name = clean(stem) or "session"
        number = 1
        while name in named:
            number += 1
            name = f"{stem}-{number}"
        named[name] = Source(name, format, files, any(given[file] for file in files))
    return list(named.values())


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
        why = "".join(f"; {text}" for text in findings.warnings()[:1])
        raise InputError(f"there is no model call in it{why}", file=source.place)
    if empty:
        findings.note(f"{counted(empty, 'thread', 'threads')} without a model call, left out")


def _build(
    thread: Thread, tokenizer: Tokenizer, findings: Findings, declared: Declared | None
) -> Session:
    builder = Builder(tokenizer, findings, declared)
    for event in thread.events:
        builder.take(event)
    return builder.finish()
