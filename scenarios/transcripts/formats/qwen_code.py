"""Qwen Code session JSONL: one line a record, messages in the parts of Google's GenAI API.

Records form a tree by ``uuid`` and ``parentUuid``: the path from the last one up is replayed, what
the user took back is not on it. Records that share a ``uuid`` are parts of one message. A
``chat_compression`` record holds the whole history behind it: what ends it as it stood before was
kept, the rest is the summary. Records of sub-agents are threads of their own. The system prompt and
the tools are not recorded. Source of the shapes: Qwen Code's recorder of chats.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import compact, tokens_of, unknown_kind, whole
from scenarios.transcripts.events import Compaction, ContextWindow, Event, Message, ToolCall
from scenarios.transcripts.findings import Findings, counted, shown
from scenarios.transcripts.formats.format import Format, Seen, Thread, objects
from scenarios.transcripts.formats.gemini_parts import Parts, plain_text, usage
from scenarios.transcripts.formats.sessions import Link, Record, Tree, sessions
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT"]

_TALK = frozenset({"assistant", "tool_result", "user"})
_TYPES = _TALK | {"system"}
_OURS = ("real_user", None)
_BY_HARNESS = frozenset({"background_task_completed", "cron", "goal_runtime", "notification"})
_FAILED = ("cancelled", "error")
_KINDS = 30
"""Kinds of records named one by one."""
_TIMES = ("timestamp",)


def _session_of(record: Any) -> str | None:
    name = record.get("sessionId") if isinstance(record, dict) else None
    return name if isinstance(name, str) and name else None


def _side_of(record: Any) -> str | None:
    """Return the sub-agent that a record is of, None if it is the main thread's."""
    if not isinstance(record, dict) or record.get("isSidechain") is not True:
        return None
    name = record.get("agentId")
    return name if isinstance(name, str) else ""


def _link_of(record: Any) -> Link | None:
    if not isinstance(record, dict) or _side_of(record) is not None:
        return None
    name = record.get("uuid")
    return Link(name, record.get("parentUuid", ...)) if isinstance(name, str) else None


class _Thread:
    """Reads the records of one thread."""

    def __init__(self, findings: Findings, aside: set[int]) -> None:
        self._findings = findings
        self._aside = aside
        self._parts = Parts(findings)
        self._seen: dict[str, bytes] = {}
        self._messages: list[tuple[int, bytes]] = []
        """The place and the digest of each message, to find what a compression kept."""
        self._window: int | None = None
        self._given_up = 0
        self._left: Counter[str] = Counter()

    def take(self, place: int, record: Any) -> Iterator[Event]:
        """Yield the events of one record."""
        if not isinstance(record, dict):
            self._findings.breaks("a record that is not an object", place)
            return
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in _TYPES:
            self._findings.breaks(unknown_kind(kind, "record"), place)
        elif self._repeated(record, place):
            return
        elif place in self._aside:
            self._given_up += 1
        elif kind == "system":
            yield from self._system(record, place)
        else:
            yield from self._talk(kind, record, place)

    def _repeated(self, record: dict[str, Any], place: int) -> bool:
        name = record.get("uuid")
        if not isinstance(name, str):
            return False
        digest = _digest(record)
        if self._seen.get(name) == digest:
            self._findings.breaks("a record that stands there twice", place)
            return True
        self._seen[name] = digest
        return False

    def _talk(self, kind: str, record: dict[str, Any], place: int) -> Iterator[Event]:
        message = record.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(parts, list):
            self._findings.breaks(f"a record of type {kind!r} without parts", place)
            return
        time = stamp(record, _TIMES, place, self._findings)
        self._messages.append((place, _digest(_bare(message))))
        if kind != "assistant":
            subtype, state = record.get("subtype"), record.get("toolCallResult")
            injected = record.get("provenance") not in _OURS or (
                isinstance(subtype, str) and subtype in _BY_HARNESS
            )
            failed = isinstance(state, dict) and state.get("status") in _FAILED
            yield from self._parts.heard(parts, place, time, injected, failed)
            return
        window = whole(record.get("contextWindowSize"))
        if window and window != self._window:
            self._window = window
            yield ContextWindow(place, time, window)
        name = record.get("uuid")
        call = name if isinstance(name, str) and name else f"line {place}"
        cwd = record.get("cwd") if isinstance(record.get("cwd"), str) else None
        yield from model_of(record, place, time)
        for event in self._parts.written(parts, place, time, call):
            yield replace(event, cwd=cwd) if isinstance(event, ToolCall) else event
        yield usage(record.get("usageMetadata"), place, time, call, self._findings)

    def _system(self, record: dict[str, Any], place: int) -> Iterator[Event]:
        subtype, payload = record.get("subtype"), record.get("systemPayload")
        payload = payload if isinstance(payload, dict) else {}
        time = stamp(record, _TIMES, place, self._findings)
        if subtype == "chat_compression":
            yield from self._compressed(payload, place, time)
        elif subtype == "agent_bootstrap":
            yield from self._bootstrap(payload, place, time)
        else:
            self._left[shown(subtype).strip("'") if isinstance(subtype, str) else "system"] += 1

    def _bootstrap(
        self, payload: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        """Yield what a sub-agent began with; the history it was given counts as one message."""
        if payload.get("tools"):
            yield Message(place, time, Kind.TOOLS, compact(payload["tools"]))
        if text := plain_text(payload.get("systemInstruction")):
            yield Message(place, time, Kind.SYSTEM, text)
        if text := plain_text(payload.get("history")):
            yield Message(place, time, Kind.USER, text, injected=True)

    def _compressed(
        self, payload: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        history, info = payload.get("compressedHistory"), payload.get("info")
        if not isinstance(history, list):
            self._findings.breaks("a compression without the history it left", place)
            return
        kept = self._kept(history)
        kept_from = self._messages[-kept][0] if kept else None
        before = tokens_of(info, "originalTokenCount", place, self._findings)
        yield Compaction(place, time, "unknown", before=before, kept_from=kept_from)
        if text := plain_text(history[: len(history) - kept]):
            yield Message(place, time, Kind.USER, text, injected=True, summary=True)

    def _kept(self, history: list[Any]) -> int:
        """Return how many of the last messages end *history* as they stood."""
        kept = 0
        for content, (_, digest) in zip(reversed(history), reversed(self._messages), strict=False):
            if not isinstance(content, dict) or _digest(_bare(content)) != digest:
                break
            kept += 1
        return kept

    def notes(self) -> None:
        """Say what the thread holds besides its prompts."""
        if self._given_up:
            count = counted(self._given_up, "record", "records")
            self._findings.note(f"{count} of what the user took back, left out")
        if self._left:
            left = sorted(self._left.items())
            books = ", ".join(f"{n} {kind}" for kind, n in left[:_KINDS])
            if len(left) > _KINDS:
                books += f", {sum(n for _, n in left[_KINDS:])} of {len(left) - _KINDS} more kinds"
            self._findings.note(f"system records that are no part of a prompt: {books}")


def _bare(message: dict[str, Any]) -> Any:
    """Return what tells one message from another; a compression may leave out its thoughts."""
    parts = message.get("parts")
    if isinstance(parts, list):
        parts = [p for p in parts if not (isinstance(p, dict) and p.get("thought") is True)]
    return [message.get("role"), parts]


def _digest(value: Any) -> bytes:
    text = compact(value)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _events(records: Iterable[Record], findings: Findings, aside: set[int]) -> Iterator[Event]:
    thread = _Thread(findings, aside)
    for place, record in records:
        yield from thread.take(place, record)
    thread.notes()


def _main(
    records: Iterator[Record], main: list[str | None], sides: dict[str | None, list[Record]]
) -> Iterator[Record]:
    """Yield the records of a session's main thread, which its first is of; lay the rest aside."""
    for place, record in records:
        side = _side_of(record)
        if not main and isinstance(record, dict):
            main.append(side)
        if not main or side == main[0]:
            yield place, record
        else:
            sides.setdefault(side, []).append((place, record))


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    silent = Findings(findings.file)
    aside = Tree.of(recording.records(silent), _session_of, _link_of).aside
    for name, records in sessions(recording.records(findings), _session_of):
        main: list[str | None] = []
        sides: dict[str | None, list[Record]] = {}
        yield Thread(_events(_main(records, main, sides), findings, aside), name)
        for number, side in enumerate(list(sides), 1):
            stem = f"{name}-agent" if name else "agent"
            yield Thread(_events(sides.pop(side), findings, aside), f"{stem}-{number}")


def _is_record(record: dict[str, Any]) -> bool:
    """Whether a record is one of Qwen Code's: its messages have parts, its books a payload."""
    kind, message = record.get("type"), record.get("message")
    if _session_of(record) is None or not isinstance(kind, str) or kind not in _TYPES:
        return False
    if kind == "system":
        return isinstance(record.get("systemPayload"), dict)
    return isinstance(message, dict) and isinstance(message.get("parts"), list)


def _fits(seen: Seen) -> bool:
    return any(map(_is_record, objects(seen)))


FORMAT = Format(
    "qwen-code",
    "Qwen Code session, JSONL",
    _fits,
    _threads,
    usage="input, cached, output",
)
