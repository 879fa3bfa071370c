"""From the paths a user gives to the sessions that stand in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scenarios.transcripts import anthropic, claude_code, openai, openhands
from scenarios.transcripts.builder import Builder
from scenarios.transcripts.declared import Declared
from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats import Found, recognise
from scenarios.transcripts.recording import Recording
from scenarios.transcripts.session import Session, clean
from sim.errors import InputError
from sim.tokens import Tokenizer

__all__ = ["Source", "find", "read"]

_DOCUMENTS = {"anthropic": anthropic.read, "openai": openai.read}


@dataclass(frozen=True, slots=True)
class Source:
    """One recorded session: its format, its files in the order of their calls, and a name."""

    name: str
    format: str
    files: tuple[Path, ...]

    @property
    def place(self) -> Path:
        """What messages call it: the file, or the directory of a series."""
        return self.files[0] if len(self.files) == 1 else self.files[0].parent


def find(paths: Sequence[str | Path], strict: bool, warn: Callable[[str], object]) -> list[Source]:
    """Return the sessions in *paths*, sorted by path, each with a name of its own.

    A directory is searched whole. A file that is given must be a recording; one that is only met
    in a directory is passed over with a warning, or under *strict* raises InputError, too.
    """
    found: list[Found] = []
    for path, given in _files(paths):
        try:
            found.append(recognise(path))
        except InputError as error:
            if given or strict:
                raise
            warn(f"{error} (passed over)")
    if not found:
        where = ", ".join(str(p) for p in paths)
        raise InputError("there is no recorded session in it", file=where or None)
    series = [f.outline for f in found if f.outline is not None]
    sources: list[tuple[str, tuple[Path, ...]]]
    sources = [(f.format, (f.path,)) for f in found if f.outline is None]
    sources += [("openhands", tuple(run)) for run in openhands.runs(series)]
    return _named(sorted(sources, key=lambda source: [str(p) for p in source[1]]))


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
            else:
                raise InputError("there is no such file", file=path)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read it: {error}", file=path) from None
    return sorted(files.items(), key=lambda item: str(item[0]))


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _named(sources: Iterable[tuple[str, tuple[Path, ...]]]) -> list[Source]:
    named: dict[str, Source] = {}
    for format, files in sources:
        stem = files[0].stem if len(files) == 1 else files[0].resolve().parent.name
        stem = name = clean(stem) or "session"
        number = 1
        while name in named:
            number += 1
            name = f"{stem}-{number}"
        named[name] = Source(name, format, files)
    return list(named.values())


def read(
    source: Source,
    tokenizer: Tokenizer,
    findings: Findings,
    declared: Declared | None = None,
) -> Session:
    """Read a session whole, *declared* tools at their budgets.

    Raises InputError if it holds no model call.
    """
    session = _build(_events(source, findings), tokenizer, findings, declared)
    if session.turns == 0 and source.format == "claude-code":
        session = _side_chain(source, tokenizer, findings, declared) or session
    if session.turns == 0:
        why = "".join(f"; {text}" for text in findings.warnings()[:1])
        raise InputError(f"there is no model call in it{why}", file=source.place)
    return session


def _side_chain(
    source: Source, tokenizer: Tokenizer, findings: Findings, declared: Declared | None
) -> Session | None:
    """Read a file that holds nothing but the side chain of a sub-agent."""
    findings.restart()
    events = claude_code.read(Recording(source.files[0]), findings, side_chain=True)
    session = _build(events, tokenizer, findings, declared)
    if session.turns == 0:
        return None
    findings.note("it holds only a side chain, the thread of a sub-agent, which is replayed")
    return session


def _build(
    events: Iterator[Event],
    tokenizer: Tokenizer,
    findings: Findings,
    declared: Declared | None,
) -> Session:
    builder = Builder(tokenizer, findings, declared)
    for event in events:
        builder.take(event)
    return builder.finish()


def _events(source: Source, findings: Findings) -> Iterator[Event]:
    if source.format == "claude-code":
        return claude_code.read(Recording(source.files[0]), findings)
    documents = (Recording(file).document() for file in source.files)
    if source.format == "openhands":
        return openhands.read(documents, findings)
    return _DOCUMENTS[source.format](next(documents), findings)
