"""OpenHands completion logs: one JSON document for each model call, in the shape of OpenAI's.

A document holds the exact prompt (``messages``, ``kwargs.tools``), the ``response`` with its usage,
and a ``timestamp`` of when the response was there. The documents of one run stand in one directory;
a document whose messages are no continuation of those before begins another run. The log has no
time of a tool result: what lies between two responses counts as the tool's, so the model's own time
is in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scenarios.transcripts.clock import seconds, stamp
from scenarios.transcripts.content import compact
from scenarios.transcripts.events import Event, Message, ToolCall
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats.format import Format, Seen, Series, Thread, only
from scenarios.transcripts.formats.openai import chat, message_events, usage
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT", "Outline", "is_openhands", "outline", "read", "runs"]

_KEY_MESSAGES = 4
"""Messages that two documents of one run have in common, if they have as many."""


def is_openhands(document: Any) -> bool:
    """Whether a JSON document is the log of one model call."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("messages"), list)
        and isinstance(document.get("response"), dict)
        and ("kwargs" in document or "timestamp" in document)
    )


@dataclass(frozen=True, slots=True)
class Outline:
    """What tells whether two documents belong to one run: their time and a hash per message."""

    path: Path
    time: float
    messages: tuple[bytes, ...]

    @property
    def task(self) -> bytes:
        """The hash of what every call of a run begins with: system and task."""
        return b"".join(self.messages[:2])

    def continues(self, before: Outline) -> bool:
        """Whether this document's messages go on from those of *before*."""
        common = min(len(before.messages), _KEY_MESSAGES)
        return (
            len(self.messages) >= len(before.messages)
            and self.messages[:common] == before.messages[:common]
        )


def outline(path: Path, document: dict[str, Any]) -> Outline:
    """Return the outline of a document; cache marks, which move from call to call, are left out."""
    try:
        time = seconds(document.get("timestamp")) or 0.0
    except ValueError:
        time = 0.0
    return Outline(path, time, tuple(_digest(m) for m in document["messages"]))


def _digest(message: Any) -> bytes:
    if isinstance(message, dict):
        content = message.get("content")
        if isinstance(content, list):
            content = [b.get("text", b) if isinstance(b, dict) else b for b in content]
        message = [message.get(k) for k in ("role", "tool_calls", "tool_call_id")] + [content]
    return hashlib.blake2b(
        compact(message).encode("utf-8", "surrogatepass"), digest_size=8
    ).digest()


def runs(outlines: Iterable[Outline]) -> list[list[Path]]:
    """Return the files of each run, in the order of their calls.

    Documents belong together if they stand in one directory and have the same task.
    """
    found: list[list[Outline]] = []
    last: dict[tuple[Path, bytes], list[Outline]] = {}
    for document in sorted(outlines, key=lambda o: (str(o.path.parent), o.time, str(o.path))):
        key = (document.path.parent, document.task)
        run = last.get(key)
        if run is None or not document.continues(run[-1]):
            run = last[key] = []
            found.append(run)
        run.append(document)
    return [[document.path for document in run] for run in found]


def read(documents: Iterable[dict[str, Any]], findings: Findings) -> Iterator[Event]:
    """Yield the events of one run from the documents of its calls, each later one longer."""
    told = calls = changed = 0
    before: float | None = None
    digests: list[bytes] = []
    document: dict[str, Any] | None = None
    for document in documents:
        if told == 0:
            yield from _tools(document)
        now = stamp(document, ("timestamp",), len(document["messages"]), findings)
        messages = list(chat(document["messages"], findings))
        last = max((p for p, m in messages if m["role"] == "assistant"), default=0)
        for place, message in messages:
            if place <= told:
                continue
            if message["role"] == "assistant":
                calls += 1
                time = before if place == last else None
                yield from message_events(message, place, time, f"call {calls}", findings)
            else:
                time = now if place > last else None
                yield from message_events(message, place, time, None, findings)
        latest = [_digest(message) for message in document["messages"]]
        changed += sum(a != b for a, b in zip(digests, latest, strict=False))
        digests = latest + digests[len(latest) :]
        told = len(digests)
        used = document["response"].get("usage")
        yield from model_of(document["response"], told, now)
        yield usage(used, told, now, f"call {calls + 1}", findings)
        before = now
    if changed:
        findings.note(f"messages that a later call shows changed stay as they came: {changed:,}")
    if document is not None:
        yield from _answer(document, told + 1, before, f"call {calls + 1}", findings)


def _tools(document: dict[str, Any]) -> Iterator[Event]:
    arguments = document.get("kwargs")
    tools = arguments.get("tools") if isinstance(arguments, dict) else None
    if tools:
        yield Message(0, None, Kind.TOOLS, compact(tools))


def _answer(
    document: dict[str, Any], place: int, time: float | None, call: str, findings: Findings
) -> Iterator[Event]:
    match document["response"]:
        case {"choices": [{"message": dict(message)}, *_]}:
            for event in message_events(message, place, time, call, findings):
                yield replace(event, last=True) if isinstance(event, ToolCall) else event
        case _:
            findings.breaks("a response without a message", place)


def _fits(seen: Seen) -> bool:
    return is_openhands(seen.document)


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    return only(read(recording.documents(), findings))


FORMAT = Format(
    "openhands",
    "OpenHands completion logs, one JSON document a call: a directory of them, or the last",
    _fits,
    _threads,
    unit="message",
    usage="input, cached, written, output",
    series=Series(outline, runs),
)
