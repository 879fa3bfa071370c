"""Claude Code session JSONL: one line a record, the main thread and its side chains in one file.

One model call stands on several lines that share ``message.id`` and repeat its usage; the output
tokens of a line without ``stop_reason`` are a placeholder of the stream and are left out. The
system prompt and the tools are not recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scenarios.transcripts.anthropic import parts, usage
from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import unknown_kind
from scenarios.transcripts.events import Compaction, Event
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.recording import Recording

__all__ = ["is_claude_code", "read"]

_TALK = ("user", "assistant")
_BOOKS = (
    "file-history-snapshot",
    "pr-link",
    "progress",
    "queue-operation",
    "summary",
    "system",
)
_MARKS = frozenset({"isSidechain", "parentUuid", "sessionId", "uuid"})
_SYNTHETIC = "<synthetic>"


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


def read(recording: Recording, findings: Findings, side_chain: bool = False) -> Iterator[Event]:
    """Yield the events of the main thread, or with *side_chain* of what stands beside it."""
    thread = _Thread(findings, side_chain)
    for place, record in recording.records(findings):
        yield from thread.take(place, record)
    thread.notes()


class _Thread:
    """Reads one thread of a session, line by line."""

    def __init__(self, findings: Findings, side_chain: bool) -> None:
        self._findings = findings
        self._side_chain = side_chain
        self._uuids: set[str] = set()
        self._left: Counter[str] = Counter()
        self._synthetic = 0
        self._aside = 0

    def take(self, place: int, record: Any) -> Iterator[Event]:
        """Yield the events of one record."""
        if not isinstance(record, dict):
            self._findings.breaks("a record that is not an object", place)
            return
        kind = record.get("type")
        if kind not in _TALK and kind not in _BOOKS:
            self._findings.breaks(unknown_kind(kind, "record"), place)
            return
        if self._repeated(record, place):
            return
        if kind in _BOOKS:
            yield from self._book(kind, record, place)
        elif (record.get("isSidechain") is True) is not self._side_chain:
            self._aside += 1
        else:
            yield from self._talk(kind, record, place)

    def _repeated(self, record: dict[str, Any], place: int) -> bool:
        uuid = record.get("uuid")
        if not isinstance(uuid, str):
            return False
        if uuid in self._uuids:
            self._findings.breaks("a record whose uuid was used before", place)
            return True
        self._uuids.add(uuid)
        return False

    def _book(self, kind: str, record: dict[str, Any], place: int) -> Iterator[Event]:
        subtype = record.get("subtype")
        if kind == "system" and subtype == "compact_boundary":
            data = record.get("compactMetadata")
            trigger = data.get("trigger") if isinstance(data, dict) else None
            yield Compaction(place, self._time(record, place), str(trigger))
            return
        self._left[kind] += 1

    def _talk(self, kind: str, record: dict[str, Any], place: int) -> Iterator[Event]:
        message = record.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), str | list):
            self._findings.breaks(f"a record of type {kind!r} without content", place)
            return
        time = self._time(record, place)
        if kind == "user":
            injected = record.get("isMeta") is True
            yield from parts(message["content"], place, time, None, self._findings, injected)
            return
        if message.get("model") == _SYNTHETIC or record.get("isApiErrorMessage") is True:
            self._synthetic += 1
            return
        names = (message.get("id"), record.get("requestId"), record.get("uuid"))
        call = next((n for n in names if isinstance(n, str) and n), f"line {place}")
        yield from parts(message["content"], place, time, call, self._findings)
        used = usage(message.get("usage"), place, time, call)
        final = message.get("stop_reason") is not None
        yield used if final else replace(used, output_tokens=None)

    def _time(self, record: dict[str, Any], place: int) -> float | None:
        return stamp(record, ("timestamp",), place, self._findings)

    def notes(self) -> None:
        """Say what the session holds besides its thread."""
        note = self._findings.note
        if self._aside and not self._side_chain:
            count = counted(self._aside, "line", "lines")
            note(
                f"{count} of side chains (sub-agents), kept out of the main thread: what came of "
                "them is the result of the call that started them"
            )
        if self._synthetic:
            count = counted(self._synthetic, "message", "messages")
            note(f"{count} in the model's name that the harness wrote, left out: no model call")
        if self._left:
            books = ", ".join(f"{n} {kind}" for kind, n in sorted(self._left.items()))
            note(f"lines that are no part of a prompt: {books}")
