"""Failures of a session of pytest: each with its id, what was raised and the last frames."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from policies.reducers.pytest_sessions import Block, Session, node, title_of
from policies.reducers.testrun import Failure
from policies.reducers.tracebacks import (
    Frame,
    Link,
    chain,
    in_project,
    innermost,
    pytest_frames,
    raised_type,
    read,
)

if TYPE_CHECKING:
    from policies.reducers.log import Log

__all__ = ["failures"]

_ERRORS = re.compile(r"^E(?: {3}|$)(?P<text>[^\n]*+)", re.MULTILINE)
_NATIVE = re.compile(r'^[ |]*+File "[^"\n]++", line \d++, in ', re.MULTILINE)
_WORKER = re.compile(r"^\[gw\d++\] [^\n]*-- Python [^\n]*\n?")
_CRASH = re.compile(
    r"^(?P<file>(?:[A-Za-z]:[\\/])?[^\s:>][^:\n]*+):(?P<line>\d++): (?P<text>[^\n]++)$",
    re.MULTILINE,
)
_ROOT = re.compile(
    r"^rootdir: (?P<root>[^\n]+?)"
    r"(?:, (?:inifile|configfile|testpaths): [^\n]*)?$",
    re.MULTILINE,
)
_WHOLE = re.compile(r"^(?P<title>ERROR (?:at \w+ of|collecting) |\[doctest\] )?(?P<test>.*)$")
_SHORT = 5
"""Characters a title must have to stand for a test by itself."""
_TAIL = 30
"""Lines of a failure without a traceback, or of a doctest, that are kept."""


class _Names:
    """The test ids of a session by the titles of their failures, in the order of the summary."""

    def __init__(self, session: Session) -> None:
        self.listed = session.summary or session.ran
        self.waiting: dict[tuple[bool, str], deque[int]] = defaultdict(deque)
        self.nodes = [node(rest) for _, rest in self.listed]
        for number, (word, _) in enumerate(self.listed):
            name = self.nodes[number][0]
            for title in {name, title_of(name)}:
                self.waiting[word.startswith("ERROR"), title].append(number)
        self.used: set[int] = set()

    def take(self, block: Block) -> tuple[str, str]:
        """Return the id and the title of the test of *block*; the title alone if none is listed."""
        found = _WHOLE.match(block.title)
        title = found["test"] if found else block.title
        error = block.section == "ERRORS"
        waiting = self.waiting.get((error, title))
        while waiting:
            number = waiting.popleft()
            if number not in self.used:
                self.used.add(number)
                return self.nodes[number][0], title
        return title, title

    def rest(self) -> Iterator[tuple[str, str]]:
        """Yield the id and message of each that no block took."""
        for number, pair in enumerate(self.nodes):
            if number not in self.used:
                yield pair


def failures(log: Log, session: Session, number: int) -> list[Failure]:
    """Return the failures of *session*, the *number*-th of its log, in the order printed.

    Those of one key have the innermost frame in the project and the type in common; where there
    is no such frame, the test id is the key.
    """
    root = _root(log, session)
    names = _Names(session)
    found = [_of_block(log, block, names, number, root) for block in session.blocks]
    if session.loose:
        found += _loose(log, session.loose, names, number, root)
    for name, message in names.rest():
        said = [message] if message else []
        found.append(Failure(name, (number, name), said, raised_type(said)))
    if session.internal:
        lines = [line.removeprefix("INTERNALERROR>").strip() for line in session.internal[-3:]]
        found.append(Failure("INTERNALERROR", (number, "INTERNALERROR"), lines[::-1]))
    titles = Counter(name for failure in found for name in failure.also)
    return [_known_as(failure, titles) for failure in found]


def _known_as(failure: Failure, titles: Counter[str]) -> Failure:
    """Return *failure* with those of its other names that no other failure has."""
    also = tuple(name for name in failure.also if titles[name] == 1)
    return failure if also == failure.also else replace(failure, also=also)


def _root(log: Log, session: Session) -> str:
    head = "\n".join(log.lines[session.start : session.start + 12])
    found = _ROOT.search(head)
    return found["root"].rstrip("/\\") if found else ""


def _of_block(log: Log, block: Block, names: _Names, number: int, root: str) -> Failure:
    name, title = names.take(block)
    text = "\n".join(log.lines[block.start : block.stop])
    text = _WORKER.sub("", text, count=1)
    frames, kind, message, links = _chain(text)
    if not frames and not message:
        message = tuple(line for line in text.strip("\n").split("\n") if line.strip())[:_TAIL]
    message += tuple(
        line
        for about, start, stop in block.notes
        if about == "Hypothesis"
        for line in log.lines[start:stop]
    )
    also = (title,) if len(title) >= _SHORT and title != name and re.search("[._]", title) else ()
    return _failure(name, number, root, frames, kind, message, also, links)


def _failure(
    name: str,
    number: int,
    root: str,
    frames: Sequence[Frame],
    kind: str,
    message: Sequence[str],
    also: tuple[str, ...] = (),
    links: tuple[Link, ...] = (),
) -> Failure:
    frame = innermost(frames)
    place = frame.place if frame else ""
    key: tuple[Hashable, ...] = (number, name)
    if frame and in_project(frame.file):
        key = (number, _below(frame.file, root), frame.line, kind.rpartition(".")[2])
    return Failure(name, key, message, kind, place, frames, also, links)


def _below(file: str, root: str) -> str:
    """Return *file* without the *root* folder, so that both ways to print it are one."""
    if root and file.startswith(root) and file[len(root) : len(root) + 1] in ("/", "\\"):
        return file[len(root) + 1 :]
    return file


_Told = tuple[tuple[Frame, ...], str, tuple[str, ...], tuple[Link, ...]]


def _chain(text: str) -> _Told:
    """Return the frames, the type and the message of a failure, and the links of its chain."""
    parts = chain(text)
    last = parts[-1][0]
    if len(parts) == 1 or not (_ERRORS.search(last) or _NATIVE.search(last)):
        return _traceback(text)
    frames, kind, message, members = _traceback(last)
    earlier = (_link(how, *_traceback(part)) for part, how in parts[:-1])
    return frames, kind, message, (*(link for link in earlier if link), *members)


def _link(
    how: str, frames: Sequence[Frame], kind: str, message: Sequence[str], _: Sequence[Link]
) -> Link | None:
    """Return an exception as it is told in a chain; None if nothing was raised."""
    said = next((line.strip() for line in message if line.strip()), "")
    if kind and kind not in said:
        said = f"{kind}: {said}" if said else kind
    frame = innermost(frames)
    return Link(how, said, frame.place if frame else "") if said else None


def _traceback(text: str) -> _Told:
    """Return the frames, the type and the message of one exception in any style of pytest."""
    errors = list(_ERRORS.finditer(text))
    if not errors and _NATIVE.search(text):
        native = read(text)
        if native:
            return native.frames, native.type, native.message, native.links
    frames, kind = pytest_frames(text)
    message = _last_run(errors)
    if kind == "DocTestFailure":
        lines = text.split("\n")
        message = tuple(line for line in lines if line.strip())[-_TAIL:-1]
        wanted = next((at for at, line in enumerate(message) if line == "Expected:"), 0)
        message = ("DocTestFailure", *message[max(0, wanted - 1) :])
    located = _located(message)
    kind = kind or raised_type(message)
    if located and kind.endswith(("SyntaxError", "IndentationError", "TabError")):
        frames = (*frames, located)
    return frames, kind, message, ()


def _located(message: Sequence[str]) -> Frame | None:
    """Return where a syntax error is, which pytest prints as a part of its message."""
    found = read("\n".join(message[:4])) if message and 'File "' in message[0] else None
    return found.frames[0] if found else None


def _last_run(errors: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """Return the texts of the last adjacent lines of *errors*, their common indent taken off."""
    start = len(errors) - 1
    while start > 0 and errors[start - 1].end() + 1 == errors[start].start():
        start -= 1
    lines = [match["text"].rstrip() for match in errors[max(0, start) :]]
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return tuple(line[indent:] for line in lines)


def _loose(
    log: Log, lines: tuple[int, int], names: _Names, number: int, root: str
) -> Iterator[Failure]:
    """Yield the failures of a section in which each has one line, ``path:line: message``."""
    text = "\n".join(log.lines[lines[0] : lines[1]])
    crashes = list(_CRASH.finditer(text))
    wanted = [
        at
        for at, (word, _) in enumerate(names.listed)
        if at not in names.used and not word.startswith("ERROR")
    ]
    position = 0
    for crash in crashes:
        frame = Frame(crash["file"], int(crash["line"][:9]))
        said = crash["text"]
        name = frame.place
        for at in range(position, len(wanted)):
            if len(wanted) == len(crashes) or _agrees(names.nodes[wanted[at]][1], said):
                names.used.add(wanted[at])
                name, position = names.nodes[wanted[at]][0], at + 1
                break
        yield _failure(name, number, root, (frame,), raised_type((said,)), (said,))


def _agrees(short: str, said: str) -> bool:
    """Whether *short*, the message in a summary that may be cut, is that of a crash."""
    return bool(short) and said.startswith(short.removesuffix("..."))
