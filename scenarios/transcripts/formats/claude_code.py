"""Claude Code session JSONL: one line a record, the main thread and its side chains in one file.

One model call stands on several lines that share ``message.id`` and repeat its usage; the output
tokens of a line without ``stop_reason`` are a placeholder of the stream and are left out. The
system prompt and the tools are not recorded. A side chain is the thread of a sub-agent, with a
window of its own: its lines bear its ``agentId``, or hang by ``parentUuid`` on its first one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import compact, tokens_of, unknown_kind
from scenarios.transcripts.events import Compaction, Edited, Event, Message, ToolCall
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats.anthropic import parts, usage
from scenarios.transcripts.formats.claude_attachments import attached, is_kept_back
from scenarios.transcripts.formats.format import Format, Seen, Thread
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording

__all__ = ["FORMAT", "is_claude_code", "read"]

_TALK = ("user", "assistant")
_BOOKS = (
    "agent-name",
    "ai-title",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
)
_MARKS = frozenset({"isSidechain", "parentUuid", "sessionId", "uuid"})
_ATTACHMENT = "attachment"
_SYNTHETIC = "<synthetic>"
_LEAVES = re.compile(r"\b(?:cd|pushd|popd|source|eval)\b")


def is_claude_code(sample: list[Any]) -> bool:
    """Whether one of the first records is a line of a Claude Code session."""
    return any(
        isinstance(record, dict)
        and record.get("type") in _TALK
        and isinstance(message := record.get("message"), dict)
        and "content" in message
        and not _MARKS.isdisjoint(record)
        for record in sample
    )


def read(recording: Recording, findings: Findings, side: str | None = None) -> Iterator[Event]:
    """Yield the events of the main thread, or those of the side chain *side*."""
    thread = _Thread(findings, side)
    silent = Findings(findings.file) if side else findings
    for place, record in recording.records(silent):
        yield from thread.take(place, record)
    thread.notes()


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    """Yield the main thread, then each side chain in the order of their first lines."""
    main, sides = _survey(recording)
    if main or not sides:
        yield Thread(read(recording, findings))
    else:
        findings.note("it holds only the side chains of sub-agents, which are replayed")
    for number, side in enumerate(sides, 1):
        name = "" if number == 1 and not main else f"agent-{number}"
        yield Thread(read(recording, findings, side), name)


def _survey(recording: Recording) -> tuple[bool, list[str]]:
    """Return whether a file has a main thread with a model call, and the names of its sides."""
    if not recording.holds(b'"isSidechain":true', b'"isSidechain": true'):
        return True, []
    sides, main = _Sides(), False
    for place, record in recording.records(Findings(str(recording.path))):
        if isinstance(record, dict) and record.get("type") in _TALK:
            if record.get("isSidechain") is True:
                sides.name(record, place)
            else:
                main = main or record["type"] == "assistant"
    return main, list(sides.seen)


class _Sides:
    """Tells the side chains of a file apart."""

    def __init__(self) -> None:
        self.seen: dict[str, None] = {}
        self._by_uuid: dict[str, str] = {}

    def name(self, record: dict[str, Any], place: int) -> str:
        """Return the name of the side chain that the record at *place* is of."""
        name = record.get("agentId")
        if not isinstance(name, str) or not name:
            name = self._hung(record.get("parentUuid", ...)) or f"line {place}"
        if isinstance(uuid := record.get("uuid"), str):
            self._by_uuid[uuid] = name
        self.seen[name] = None
        return name

    def _hung(self, parent: Any) -> str | None:
        """Return the chain of the line *parent*; a line that names none goes on with the last."""
        if parent is ...:
            return next(reversed(self.seen), None)
        return self._by_uuid.get(parent) if isinstance(parent, str) else None


class _Thread:
    """Reads one thread of a session, line by line."""

    def __init__(self, findings: Findings, side: str | None) -> None:
        self._findings = findings
        self._side = side
        self._sides = _Sides()
        self._uuids: set[str] = set()
        self._left: Counter[str] = Counter()
        self._unheld: Counter[str] = Counter()
        """Attachments whose text the record does not hold, by their type."""
        self._leaves = ""
        """The last model call in which a command may have changed the folder."""
        self._synthetic = 0
        self._aside = 0

    def take(self, place: int, record: Any) -> Iterator[Event]:
        """Yield the events of one record."""
        if not isinstance(record, dict):
            self._amiss("a record that is not an object", place)
            return
        kind = record.get("type")
        if kind not in _TALK and kind not in _BOOKS and kind != _ATTACHMENT:
            self._amiss(unknown_kind(kind, "record"), place)
            return
        if self._repeated(record, place):
            return
        if kind in _BOOKS:
            yield from self._book(kind, record, place)
        elif self._thread(record, place) != self._side:
            self._aside += 1
        elif kind == _ATTACHMENT:
            yield from self._attachment(record, place)
        else:
            yield from self._talk(kind, record, place)

    def _thread(self, record: dict[str, Any], place: int) -> str | None:
        """Return the side chain that a record is of, None for the main thread."""
        aside = record.get("isSidechain") is True
        return self._sides.name(record, place) if aside else None

    def _amiss(self, what: str, place: int) -> None:
        """Name what is of no thread; it was named when the main thread was read."""
        if self._side is None:
            self._findings.breaks(what, place)

    def _repeated(self, record: dict[str, Any], place: int) -> bool:
        uuid = record.get("uuid")
        if not isinstance(uuid, str):
            return False
        if uuid in self._uuids:
            self._amiss("a record whose uuid was used before", place)
            return True
        self._uuids.add(uuid)
        return False

    def _book(self, kind: str, record: dict[str, Any], place: int) -> Iterator[Event]:
        subtype = record.get("subtype")
        if kind == "system" and subtype == "compact_boundary":
            if self._thread(record, place) == self._side:
                data = record.get("compactMetadata")
                data = data if isinstance(data, dict) else {}
                before = tokens_of(data, "preTokens", place, self._findings)
                trigger = str(data.get("trigger"))
                yield Compaction(place, self._time(record, place), trigger, before=before)
            return
        self._left[kind] += 1

    def _attachment(self, record: dict[str, Any], place: int) -> Iterator[Event]:
        data = record.get(_ATTACHMENT)
        if not isinstance(data, dict) or not isinstance(kind := data.get("type"), str):
            self._findings.breaks("an attachment without a type", place)
        elif is_kept_back(data):
            self._left[_ATTACHMENT] += 1
        elif (found := attached(data)) is None:
            self._unheld[shown(kind)] += 1
        else:
            time = self._time(record, place)
            if found.edited is not None:
                yield Edited(place, time, found.edited)
            yield from parts(found.content, place, time, None, self._findings, found.injected)

    def _talk(self, kind: str, record: dict[str, Any], place: int) -> Iterator[Event]:
        message = record.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), str | list):
            self._findings.breaks(f"a record of type {kind!r} without content", place)
            return
        time = self._time(record, place)
        if kind == "user":
            injected = record.get("isMeta") is True
            summary = record.get("isCompactSummary") is True
            for event in parts(message["content"], place, time, None, self._findings, injected):
                if summary and isinstance(event, Message):
                    event = replace(event, summary=True)
                yield event
            return
        if message.get("model") == _SYNTHETIC or record.get("isApiErrorMessage") is True:
            self._synthetic += 1
            return
        names = (message.get("id"), record.get("requestId"), record.get("uuid"))
        call = next((n for n in names if isinstance(n, str) and n), f"line {place}")
        yield from model_of(message, place, time)
        for event in parts(message["content"], place, time, call, self._findings):
            yield self._placed(event, record) if isinstance(event, ToolCall) else event
        used = usage(message.get("usage"), place, time, call, self._findings)
        final = message.get("stop_reason") is not None
        yield used if final else replace(used, output_tokens=None)

    def _placed(self, event: ToolCall, record: dict[str, Any]) -> ToolCall:
        """Return a call with the folder that its record says.

        The calls of one message run one after the other, and in one shell: where an earlier one
        may have left the folder, the record, written before that, does not tell it.
        """
        cwd = record.get("cwd")
        left = self._leaves == event.call
        if _LEAVES.search(compact(event.arguments)):
            self._leaves = event.call
        return replace(event, cwd=cwd if isinstance(cwd, str) and not left else None)

    def _time(self, record: dict[str, Any], place: int) -> float | None:
        return stamp(record, ("timestamp",), place, self._findings)

    def notes(self) -> None:
        """Say what the session holds besides its thread."""
        note = self._findings.note
        if self._side is not None:
            return
        if self._aside:
            count = counted(self._aside, "line", "lines")
            agents = counted(len(self._sides.seen), "sub-agent", "sub-agents")
            note(
                f"{count} of side chains, the threads of {agents}, are replayed as sessions of "
                "their own: the main thread holds the result of the call that started each"
            )
        if self._synthetic:
            count = counted(self._synthetic, "message", "messages")
            note(f"{count} in the model's name that the harness wrote, left out: no model call")
        if self._unheld:
            count = counted(sum(self._unheld.values()), "attachment", "attachments")
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self._unheld.items()))
            note(f"{count} whose text is not recorded, left out: {kinds}")
        if self._left:
            books = ", ".join(f"{n} {kind}" for kind, n in sorted(self._left.items()))
            note(f"lines that are no part of a prompt: {books}")


def _fits(seen: Seen) -> bool:
    return is_claude_code(seen.sample)


FORMAT = Format(
    "claude-code",
    "Claude Code session, JSONL",
    _fits,
    _threads,
    usage="input, cached, written, output",
)
