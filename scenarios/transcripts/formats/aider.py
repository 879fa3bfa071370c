"""aider chat history, Markdown: the user's lines after ``####``, aider's after ``>``, and answers.

``.aider.chat.history.md`` gathers every chat of a directory; each begins with a line that says when
it was started and is a thread of its own. aider ends its own lines with two spaces, which tells
them from a heading or a quotation that the model wrote; a message of several lines has the mark on
its first and the spaces on its last. The chats that aider publishes as examples stand in a ``div``
and have lost the spaces.

Not in the record: the system prompt, the repository map, the files in the chat, and what aider
sums up of a long history. Of aider's own lines a prompt holds only what it passes on: an edit
that failed, the output of a command that the user adds. ``/clear`` and ``/reset`` empty the chat,
which is a compaction to nothing. Sizes above a thousand are rounded by aider itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scenarios.transcripts.events import Compaction, Event, Message, Model, Usage
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.recording import Recording
from sim.errors import InputError
from sim.segments import Kind

__all__ = ["FORMAT"]

_START = re.compile(r"# aider chat started at (.*)")
_STARTED = re.compile(r"^# aider chat started at \d", re.MULTILINE)
_DIV = '<div class="chat-transcript"'
_OWN = re.compile(r"^> (?:Aider v\d|Tokens: \S+ sent|Applied edit to |\$ aider\b)", re.MULTILINE)
_ASKED = re.compile(r"^#### ", re.MULTILINE)
_EDITOR = re.compile(r"-\*-.*-\*-\s*")
"""A line that tells an editor its mode."""
_ANALYTICS = frozenset({"event", "properties", "user_id", "time"})

_TOKENS = re.compile(r"Tokens: ([\d.,]+[kM]?) sent(.{0,99}?) ([\d.,]+[kM]?) received")
_MODEL = re.compile(r"(?:Main model|Models?): ([^\s⚡,]+)\S* with ")
_CACHED = re.compile(r"([\d.,]+[kM]?) (cached|cache hit|cache write)")
_ADDED = re.compile(r"Add(?:ed \d+ lines of|.*) (?:command )?output to the chat(\?|\.)(.*)")
_BOOKS = (
    *("Added ", "Aider v", "Allow ", "Applied edit", "Architect model", "Attempt to", "Commit "),
    *("Committing ", "Cost:", "Costs do", "Create ", "Did not apply", "Dropp", "Edit the files"),
    *("Editor model", "Fix ", "Git repo", "Initial repo", "Loaded ", "Main model", "Model:"),
    *("Models:", "No changes", "No more changes", "Removed ", "Repo-map", "Restored", "Retrying "),
    *("Run ", "Scraping", "Skipp", "Tokens:", "Too soon", "Use --", "Use /", "Warning"),
    *(
        "Weak model",
        "You can use",
        "$ ",
        "^C",
        "(Y)es/",
        "(y/n",
        "[Y/n",
        "[Yes",
        "http",
        "... done",
    ),
)
"""How the lines begin with which aider tells the user what it does; the model reads none."""
_QUESTION = re.compile(r"Add .*\?")
_CLEARS = frozenset({"/clear", "/reset"})
_ASKS = frozenset({"/architect", "/ask", "/code", "/context", "/help"})


@dataclass(slots=True)
class _Block:
    """Lines that belong together: of kind ``start``, ``user``, ``own`` (aider's) or ``model``."""

    place: int
    kind: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


class _Marks:
    """Tells whose a line is; in a *spaced* file an answer begins behind an empty line."""

    def __init__(self, spaced: bool) -> None:
        self._spaced = spaced
        self._open = False
        """A message of aider's goes on until a line that ends with two spaces."""
        self._fence = False
        self._marked = False
        """The line before was the user's or aider's."""

    def mark(self, line: str) -> tuple[str, str]:
        """Return the kind of a line and its text; the kind of an empty one is empty."""
        kind, text = self._kind(line)
        self._marked = kind in ("user", "own")
        return kind, text

    def _kind(self, line: str) -> tuple[str, str]:
        ended = not self._spaced or (line.endswith("  ") and bool(line.strip()))
        if _EDITOR.fullmatch(line):
            return "", ""
        if start := _START.fullmatch(line.rstrip()):
            self._open = self._fence = False
            return "start", start[1]
        if not self._fence and ended and (line + " ").startswith("#### "):
            self._open = False
            return "user", line[5:].rstrip()
        if not self._fence and (line + " ").startswith("> "):
            if ended or self._marked or line.startswith("> Tokens: "):
                self._open = not ended
                return "own", line[2:].rstrip()
        elif self._open or (self._spaced and self._marked and line.strip()):
            self._open = not ended
            return "own", line.rstrip()
        if not self._spaced and line.lstrip().startswith("```"):
            self._fence = not self._fence
        return ("model", line) if line.strip() else ("", line)


def _blocks(lines: Iterable[tuple[int, str]], spaced: bool) -> Iterator[_Block]:
    """Yield the blocks of a file; an empty line parts two messages of the user."""
    marks, block = _Marks(spaced), None
    for place, line in lines:
        kind, text = marks.mark(line)
        if not kind:
            if block is not None and block.kind == "user":
                yield block
                block = None
            elif block is not None:
                block.lines.append("")
            continue
        if block is not None and (block.kind != kind or kind == "start"):
            yield block
            block = None
        if block is None:
            block = _Block(place, kind)
        block.lines.append(text)
    if block is not None:
        yield block


def _inside(lines: Iterable[tuple[int, str]], findings: Findings) -> Iterator[tuple[int, str]]:
    """Yield the lines of a published example that stand inside its chat."""
    inside, left = False, 0
    for place, line in lines:
        if line.lstrip().startswith("<div"):
            inside = _DIV in line
        elif line.strip() == "</div>":
            inside = False
        elif inside:
            yield place, line
        elif line.strip():
            left += 1
    if left:
        findings.note(f"{counted(left, 'line', 'lines')} of the page around the chat, left out")


class _Chat:
    """Makes events of the blocks of one chat."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._calls = 0
        self._used = True
        """The current call has its usage, or there is none yet."""
        self._heard = False
        """Since the last answer something reached the model."""
        self._passed: _Block | None = None
        """What aider said since, and so may have passed on."""
        self._command: _Block | None = None
        self._own = 0
        self._commands = 0

    def take(self, block: _Block) -> Iterator[Event]:
        """Yield the events of one block."""
        if block.kind == "user":
            yield from self._user(block)
        elif block.kind == "own":
            yield from self._said(block)
        elif block.kind == "model":
            yield from self._answer(block)

    def _user(self, block: _Block) -> Iterator[Event]:
        text = block.text
        word, _, rest = text.partition(" ")
        word = word.partition("\n")[0]
        if not text.startswith(("/", "!")) or "/" in word[1:]:
            yield self._hear(block.place, text, injected=False)
        elif word in _ASKS and rest.strip():
            yield self._hear(block.place, rest.strip(), injected=False)
        else:
            self._commands += 1
            self._command, self._passed = block, None
            if word in _CLEARS and self._calls:
                yield Compaction(block.place, None, "manual", 1)

    def _hear(self, place: int, text: str, injected: bool = True) -> Message:
        self._heard, self._command, self._passed = True, None, None
        return Message(place, None, Kind.USER, text, injected=injected)

    def _said(self, block: _Block) -> Iterator[Event]:
        """Take in aider's own lines: usage, output the user adds, and what may be passed on."""
        self._own += len([line for line in block.lines if line])
        for number, line in enumerate(block.lines):
            if found := _MODEL.match(line):
                yield Model(block.place + number, None, found[1])
            if found := _TOKENS.match(line):
                yield self._usage(block.place + number, found)
        added = self._output(block)
        if added:
            self._own -= len(added)
            yield self._hear(block.place, "\n".join(added).strip())
            return
        kept = [line for line in block.lines if line.strip() and not _is_book(line)]
        if kept:
            self._passed = self._passed or _Block(block.place, "own")
            self._passed.lines.extend(kept)

    def _output(self, block: _Block) -> list[str]:
        """Return the output of a command that the user added to the chat."""
        if self._command is None:
            return []
        for number, line in enumerate(block.lines):
            if not (asked := _ADDED.match(line)):
                continue
            before, after = block.lines[:number], block.lines[number + 1 :]
            answer = asked[2]
            if asked[1] == "?" and not answer.strip() and after:
                answer, after = after[0], after[1:]
            answer = re.sub(r"^\W*\(?[yY](?:es)?\)?/[^)\]]*[)\]][:\s]*", "", answer).strip()
            if asked[1] == "?" and answer.lower()[:1] in ("", "n"):
                return []
            return next(([*part] for part in (after, before) if any(map(str.strip, part))), [])
        return []

    def _usage(self, place: int, found: re.Match[str]) -> Usage:
        """Return the usage of the last answer; where none came, of a call that wrote nothing."""
        if self._used:
            self._calls += 1
            self._heard, self._command, self._passed = False, None, None
        self._used = True
        sent, received = _number(found[1]), _number(found[3])
        held = {what: _number(text) for text, what in _CACHED.findall(found[2])}
        cached = held.get("cache hit", held.get("cached"))
        if cached is not None and sent is not None and cached > sent:
            sent += cached
        written = held.get("cache write")
        if written is not None and sent is not None and written > sent:
            sent += written
        return Usage(place, None, f"call {self._calls}", sent, cached, written, received)

    def _answer(self, block: _Block) -> Iterator[Event]:
        if not self._heard:
            cause = self._passed or self._command
            if cause is not None and cause.text:
                self._own -= len(cause.lines) if cause is self._passed else 0
                yield self._hear(cause.place, cause.text)
        self._heard, self._command, self._passed = False, None, None
        self._calls += 1
        self._used = False
        yield Message(block.place, None, Kind.ASSISTANT, block.text, 0, f"call {self._calls}")

    def notes(self) -> None:
        """Say what the chat holds that no prompt held."""
        if self._calls and (self._own or self._commands):
            own = counted(self._own, "line", "lines")
            commands = counted(self._commands, "command", "commands")
            self._findings.note(f"{own} of aider's own and {commands} to it that no prompt held")


def _is_book(line: str) -> bool:
    return line.startswith(_BOOKS) or _QUESTION.match(line) is not None


def _number(text: str) -> int | None:
    """Return a size as aider prints it: with commas, or rounded, with k or M."""
    scale = {"k": 1e3, "M": 1e6}.get(text[-1:], 1.0)
    try:
        number = float(text.rstrip("kM").replace(",", "")) * scale
    except ValueError:
        return None
    return round(number) if number < 1 << 53 else None


def _events(chat: Iterable[_Block], findings: Findings) -> Iterator[Event]:
    reader = _Chat(findings)
    for block in chat:
        yield from reader.take(block)
    reader.notes()


class _Names:
    """Gives each chat the name of its start, and a number where two started together."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def name(self, start: str) -> str:
        stem = re.sub(r"[^0-9A-Za-z]+", "-", start[:32]).strip("-") or "chat"
        number = self._seen[stem] = self._seen.get(stem, 0) + 1
        return stem if number == 1 else f"{stem}-{number}"


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    head = recording.head()
    if not _is_chat(head):
        raise InputError(
            "it is a log of aider's analytics: counts of tokens by event, no message of a session",
            file=recording.path,
        )
    lines = recording.lines(findings)
    if _STARTED.search(head) is None and _DIV in head:
        yield Thread(_events(_blocks(_inside(lines, findings), spaced=False), findings))
        return
    names, chat, name = _Names(), list[_Block](), ""
    for block in _blocks(lines, spaced=True):
        if block.kind != "start":
            chat.append(block)
            continue
        if name or chat:
            yield Thread(_events(chat, findings), name or names.name("before the first start"))
        chat, name = [], names.name(block.text)
    yield Thread(_events(chat, findings), name)


def _is_chat(head: str) -> bool:
    if _STARTED.search(head):
        return True
    return bool(_ASKED.search(head)) and (_DIV in head or bool(_OWN.search(head)))


def _fits(seen: Seen) -> bool:
    head = seen.head
    if head.lstrip().startswith(("{", "[")):
        found = objects(seen)
        return bool(found) and all(record.keys() >= _ANALYTICS for record in found)
    return not head.startswith("<!-- Generated by SpecStory") and _is_chat(head)


FORMAT = Format(
    "aider",
    "aider chat history, Markdown",
    _fits,
    _threads,
    usage="input and output, where a chat shows them, rounded",
    unheld="the files of the chat and the map of the repository",
)
