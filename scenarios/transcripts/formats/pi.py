"""pi session JSONL: a header, then an entry a line; messages, compactions, changes of the model.

Sessions of the first version are a list, those since a tree by ``id`` and ``parentId``: the path
from the last entry up is replayed. Assistant messages carry the usage of their call, in which
``input`` leaves out what the cache held. The system prompt and the tools are not recorded.

A compaction keeps what stands from ``firstKeptEntryId`` on, in the first version from
``firstKeptEntryIndex``, which counts the entries and the header from 0. What an aborted or failed
call had written stays in later prompts in the first version and is left out since.

Source of the shapes: pi's session format, versions 1 to 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import (
    text_and_images,
    tokens_of,
    unknown_kind,
    unknown_part,
    whole,
)
from scenarios.transcripts.events import Compaction, Event, Message, ToolCall, ToolResult, Usage
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.formats.sessions import Link, Record, Tree, sessions
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT"]

_BOOKS = frozenset({"custom", "label", "model_change", "session_info", "thinking_level_change"})
_INJECTED = frozenset({"custom", "hookMessage"})
_SUMMARIES = frozenset({"branchSummary", "compactionSummary"})
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution"}) | _INJECTED | _SUMMARIES
_TIMES = ("timestamp",)


def _session_of(record: Any) -> str | None:
    """Return the id of the session that a header begins."""
    if not isinstance(record, dict) or record.get("type") != "session":
        return None
    name = record.get("id")
    return name if isinstance(name, str) and name else None


def _link_of(record: Any) -> Link | None:
    if not isinstance(record, dict) or record.get("type") == "session":
        return None
    name = record.get("id")
    return Link(name, record.get("parentId", ...)) if isinstance(name, str) else None


class _Session:
    """Reads the entries of one session."""

    def __init__(self, findings: Findings, aside: set[int]) -> None:
        self._findings = findings
        self._aside = aside
        self._version = 1
        self._entries: list[int] = []
        """The place of each entry, the header the first."""
        self._ids: dict[str, int] = {}
        self._left: Counter[str] = Counter()
        self._cwd: str | None = None
        self._given_up = self._empty = self._unanswered = self._broken_off = self._private = 0

    def take(self, place: int, record: Any) -> Iterator[Event]:
        """Yield the events of one record."""
        if not isinstance(record, dict):
            self._findings.breaks("a record that is not an object", place)
            return
        self._entries.append(place)
        name = record.get("id")
        if isinstance(name, str) and record.get("type") != "session":
            if name in self._ids:
                self._findings.breaks("an entry whose id was used before", place)
                return
            self._ids[name] = place
        if place in self._aside:
            self._given_up += 1
            return
        yield from self._entry(record, place)

    def _entry(self, record: dict[str, Any], place: int) -> Iterator[Event]:
        kind = record.get("type")
        if kind == "session":
            self._version = whole(record.get("version")) or 1
            self._cwd = cwd if isinstance(cwd := record.get("cwd"), str) else None
        elif kind == "message":
            yield from self._message(record, place)
        elif kind == "compaction":
            yield from self._compaction(record, place)
        elif kind == "custom_message":
            yield from self._heard(record.get("content"), place, self._time(record, place), True)
        elif kind == "branch_summary":
            yield from self._summary(record, place, self._time(record, place))
        elif isinstance(kind, str) and kind in _BOOKS:
            self._left[kind] += 1
        else:
            self._findings.breaks(unknown_kind(kind, "session entry"), place)

    def _time(self, record: dict[str, Any], place: int) -> float | None:
        """Return when an entry was written; that of a message is when it was begun."""
        if "timestamp" in record:
            return stamp(record, _TIMES, place, self._findings)
        message = record.get("message")
        return stamp(message, _TIMES, place, self._findings) if isinstance(message, dict) else None

    # -- compactions -----------------------------------------------------------------------

    def _compaction(self, record: dict[str, Any], place: int) -> Iterator[Event]:
        time = self._time(record, place)
        before = tokens_of(record, "tokensBefore", place, self._findings)
        kept = self._kept_from(record, place)
        yield Compaction(place, time, "unknown", before=before, kept_from=kept)
        yield from self._summary(record, place, time, compacted=True)

    def _kept_from(self, record: dict[str, Any], place: int) -> int | None:
        name, index = record.get("firstKeptEntryId"), whole(record.get("firstKeptEntryIndex"))
        if isinstance(name, str) and name in self._ids:
            return self._ids[name]
        if name is None and index is not None and index < len(self._entries):
            return self._entries[index]
        if name is not None or "firstKeptEntryIndex" in record:
            what = "a compaction that keeps from an entry that is missing"
            self._findings.breaks(what, place, "taken to keep nothing")
        return None

    def _summary(
        self, record: dict[str, Any], place: int, time: float | None, compacted: bool = False
    ) -> Iterator[Event]:
        text = record.get("summary")
        if isinstance(text, str):
            if text:
                yield Message(place, time, Kind.USER, text, injected=True, summary=compacted)
        else:
            self._findings.breaks("a summary that is no text", place)

    # -- messages --------------------------------------------------------------------------

    def _message(self, record: dict[str, Any], place: int) -> Iterator[Event]:
        message = record.get("message")
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(role, str) or role not in _ROLES:
            what = (
                "no object" if not isinstance(message, dict) else f"of unknown role {shown(role)}"
            )
            self._findings.breaks(f"a message that is {what}", place)
            return
        time = self._time(record, place)
        if role == "assistant":
            yield from self._assistant(message, place, time)
        elif role == "toolResult":
            yield from self._result(message, place, time)
        elif role == "bashExecution":
            yield from self._bash(message, place, time)
        elif role in _SUMMARIES:
            yield from self._summary(message, place, time)
        else:
            yield from self._heard(message.get("content"), place, time, role in _INJECTED)

    def _heard(
        self, content: Any, place: int, time: float | None, injected: bool
    ) -> Iterator[Event]:
        text, images = text_and_images(content, place, self._findings)
        if text or images:
            yield Message(place, time, Kind.USER, text, images, injected=injected)

    def _bash(self, message: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        """Yield a command that the user ran, with its output, as the model is told of it."""
        if message.get("excludeFromContext") is True:
            self._private += 1
            return
        command, output = message.get("command"), message.get("output")
        if not isinstance(command, str) or not isinstance(output, str):
            self._findings.breaks("a command of the user's without command or output", place)
            return
        text = f"Ran `{command}`\n```\n{output}\n```"
        yield Message(place, time, Kind.USER, text, injected=True)

    def _result(self, message: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        identity = message.get("toolCallId")
        if not isinstance(identity, str):
            self._findings.breaks("a tool result that names no call", place)
            return
        text, images = text_and_images(message.get("content"), place, self._findings)
        failed = message.get("isError") is True
        yield ToolResult(place, time, identity, text, images, failed)

    def _assistant(
        self, message: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        call = f"call {place}"
        used = _usage(message.get("usage"), place, time, call, self._findings)
        content = message.get("content")
        broken_off = message.get("stopReason") in ("aborted", "error")
        if broken_off and not content and not used.input_tokens:
            self._empty += 1
            return
        yield from model_of(message, place, time)
        if broken_off and self._version > 1:
            self._broken_off += 1
        else:
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            if not isinstance(content, list):
                self._findings.breaks("an assistant message without content", place)
                return
            for block in content:
                yield from self._block(block, place, time, call, broken_off)
        yield used

    def _block(
        self, block: Any, place: int, time: float | None, call: str, last: bool
    ) -> Iterator[Event]:
        match block:
            case {"type": "text", "text": str(text)}:
                if text:
                    yield Message(place, time, Kind.ASSISTANT, text, 0, call)
            case {"type": "thinking", "redacted": True, "thinkingSignature": str(data)}:
                yield Message(place, time, Kind.THINKING, "", 0, call, len(data) * 3 // 4)
            case {"type": "thinking", "thinking": str(text)}:
                if text:
                    yield Message(place, time, Kind.THINKING, text, 0, call)
            case {"type": "toolCall", "id": str(identity), "name": str(name)}:
                self._unanswered += last
                arguments = block.get("arguments")
                cwd = self._cwd
                yield ToolCall(place, time, identity, name, arguments, call, last, cwd=cwd)
            case {"type": "toolCall"}:
                self._findings.breaks("a tool call without id or name", place)
            case {"type": _}:
                self._findings.breaks(unknown_part(block), place)
            case _:
                self._findings.breaks("a content part without a type", place)

    def notes(self) -> None:
        """Say what the session holds besides its prompts."""
        note = self._findings.note
        if self._given_up:
            count = counted(self._given_up, "entry", "entries")
            note(f"{count} of branches that the session gave up, left out")
        if self._unanswered:
            count = counted(self._unanswered, "tool call", "tool calls")
            note(f"{count} of answers that broke off, without results: no request holds them")
        if self._empty:
            count = counted(self._empty, "model call", "model calls")
            note(f"{count} that broke off before anything was written or counted, left out")
        if self._broken_off:
            count = counted(self._broken_off, "model call", "model calls")
            note(f"{count} that broke off: what was written by then is in no later prompt")
        if self._private:
            count = counted(self._private, "command", "commands")
            note(f"{count} that the user ran and kept from the model")
        if self._left:
            books = ", ".join(f"{n} {kind}" for kind, n in sorted(self._left.items()))
            note(f"entries that are no part of a prompt: {books}")


def _usage(data: Any, place: int, time: float | None, call: str, findings: Findings) -> Usage:
    """Return the usage of a call; 0 in all of the prompt's parts says nothing."""
    plain, cached, written, output = (
        tokens_of(data, key, place, findings)
        for key in ("input", "cacheRead", "cacheWrite", "output")
    )
    if plain is None or not plain + (cached or 0) + (written or 0):
        return Usage(place, time, call, None)
    prompt = plain + (cached or 0) + (written or 0)
    return Usage(place, time, call, prompt, cached, written, output)


def _events(records: Iterator[Record], findings: Findings, aside: set[int]) -> Iterator[Event]:
    session = _Session(findings, aside)
    for place, record in records:
        yield from session.take(place, record)
    session.notes()


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    aside: set[int] = set()
    if recording.holds(b'"parentId"'):
        silent = Findings(findings.file)
        aside = Tree.of(recording.records(silent), _session_of, _link_of).aside
    for name, records in sessions(recording.records(findings), _session_of):
        yield Thread(_events(records, findings, aside), name)


def _fits(seen: Seen) -> bool:
    return any(_is_header(record) or _is_message(record) for record in objects(seen))


def _is_header(record: dict[str, Any]) -> bool:
    return _session_of(record) is not None and {"timestamp", "cwd"} <= record.keys()


def _is_message(record: dict[str, Any]) -> bool:
    message = record.get("message")
    return (
        record.get("type") == "message"
        and isinstance(message, dict)
        and "timestamp" in record
        and isinstance(message.get("role"), str)
        and message["role"] in _ROLES
    )


FORMAT = Format(
    "pi",
    "pi session, JSONL",
    _fits,
    _threads,
    usage="input, cached, written, output",
)
