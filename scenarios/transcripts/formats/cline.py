"""Cline sessions, JSON, and the task files of Cline and Roo Code.

A session of Cline's SDK is ``{"sessionId", "system_prompt", "messages"}``; a message bears ``ts``
and the ``metrics`` of its call, whose input counts what the cache held. A task's
``api_conversation_history.json`` is a list of messages in the shape of Anthropic's; tool calls are
blocks, or elements in the text of older versions. ``ui_messages.json`` is what the user saw.

A session that was compacted was rewritten: the summary stands for what is gone. Roo keeps what it
condensed or cut, marked by ``condenseParent`` and ``truncationParent``, so there the compaction
is where the record goes on behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import as_text, blocks, is_image, tokens_of, whole
from scenarios.transcripts.events import (
    Compaction,
    Event,
    Message,
    ToolCall,
    ToolResult,
    Usage,
)
from scenarios.transcripts.findings import Findings, counted
from scenarios.transcripts.formats import anthropic, say_ask
from scenarios.transcripts.formats.format import Format, Seen, Thread, only
from scenarios.transcripts.formats.xml_calls import (
    Call,
    came,
    failed,
    has_details,
    with_path,
    written,
)
from scenarios.transcripts.recording import Recording
from sim.errors import InputError
from sim.segments import Kind

__all__ = ["FORMAT"]

_TIMES = ("ts",)
_NOTICE = "<SYSTEM_NOTICE>"
_SUMMARIES = ("compaction", "compaction_summary")
_HTTP = frozenset({"scope", "method", "path", "status", "response"})


def _messages(document: Any) -> list[Any] | None:
    """Return the messages of a session or a task, None if a document holds none."""
    found = document.get("messages") if isinstance(document, dict) else document
    return found if isinstance(found, list) else None


def _texts(message: Any) -> Iterator[str]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and (text := as_text(block)) is not None:
            yield text


def _is_session(document: Any) -> bool:
    """Whether a document is a session of the SDK."""
    return (
        isinstance(document, dict)
        and isinstance(document.get("messages"), list)
        and "sessionId" in document
        and ("agent" in document or "system_prompt" in document)
    )


def _is_task(document: Any) -> bool:
    """Whether a document is a task's history: a user message bears the harness's own marks."""
    return isinstance(document, list) and any(
        has_details(text)
        for message in document
        if isinstance(message, dict) and message.get("role") == "user"
        for text in _texts(message)
    )


def _is_shown(document: Any) -> bool:
    return isinstance(document, list) and any(map(say_ask.is_shown, document))


def _no_session(document: Any) -> str | None:
    """Return what a file of Cline's that holds no message is, None if it is no such file."""
    if isinstance(document, dict) and {"session_id", "messages_path"} <= document.keys():
        return "it describes a session of Cline, whose messages stand in a file of their own"
    if (
        isinstance(document, list)
        and document
        and all(isinstance(d, dict) and document[0].keys() >= _HTTP for d in document)
        and any("cline" in str(d.get("scope")) for d in document)
    ):
        return "it is recorded HTTP traffic of Cline: answers without the requests, so no prompt"
    return None


class _Reader:
    """Makes events of the messages of a session or a task."""

    def __init__(self, findings: Findings, messages: list[Any]) -> None:
        self._findings = findings
        self._messages = messages
        self._calls = 0
        self._tools = 0
        self._open: list[tuple[str, str]] = []
        """Id and name of the calls written as text whose results have not come."""
        self._missing = 0

    def read(self) -> Iterator[Event]:
        """Yield the events of all messages."""
        for place, message in enumerate(self._messages, 1):
            if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
                what = "a message that is neither the user's nor the assistant's"
                self._findings.breaks(what, place)
                continue
            time = stamp(message, _TIMES, place, self._findings)
            if message.get("type") == "reasoning":
                self._findings.breaks("a thought that stands outside its message", place)
            elif self._is_summary(message):
                yield from self._summary(message, place, time)
            elif message["role"] == "user":
                yield from self._user(message.get("content"), place, time)
            else:
                yield from self._assistant(message, place, time)
        if self._missing:
            count = counted(self._missing, "tool call", "tool calls")
            self._findings.note(f"{count} without a result, which counts as one token")

    # -- what a compaction left ----------------------------------------------------------------

    @staticmethod
    def _is_summary(message: dict[str, Any]) -> bool:
        told = message.get("metadata")
        kind = told.get("kind") if isinstance(told, dict) else None
        marked = message.get("isSummary") is True or message.get("isTruncationMarker") is True
        return marked or kind in _SUMMARIES

    def _summary(self, message: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        """Yield a summary: behind a boundary if what it stands for is in the record."""
        told = message.get("metadata")
        told = told if isinstance(told, dict) else {}
        gone = self._gone(message)
        if time is None:
            time = stamp(told, ("generatedAt",), place, self._findings)
        text = "\n\n".join(_texts(message))
        if gone is not None and self._calls:
            yield from self._settle(place, None)
            trigger = "manual" if str(told.get("reason")).startswith("manual") else "auto"
            before = tokens_of(told, "tokensBefore", place, self._findings)
            yield Compaction(place, time, trigger, before=before, kept_from=gone + 1)
            yield Message(place, time, Kind.USER, text, injected=True, summary=True)
            return
        removed = whole(told.get("messagesRemoved"))
        size = "" if removed is None else f", {counted(removed, 'message', 'messages')},"
        note = f"message {place} is what a compaction left; what it removed{size} is not recorded"
        self._findings.note(note)
        if told.get("kind") == "compaction":
            yield from self._user(message.get("content"), place, time)
        elif text:
            yield Message(place, time, Kind.USER, text, injected=True)

    def _gone(self, message: dict[str, Any]) -> int | None:
        """Return the last message that a summary or a cut took the place of."""
        for name, parent in (
            ("condenseId", "condenseParent"),
            ("truncationId", "truncationParent"),
        ):
            mark = message.get(name)
            if isinstance(mark, str):
                places = [
                    place
                    for place, other in enumerate(self._messages, 1)
                    if isinstance(other, dict) and other.get(parent) == mark
                ]
                if places:
                    return places[-1]
        return None

    # -- what comes in -------------------------------------------------------------------------

    def _user(self, content: Any, place: int, time: float | None) -> Iterator[Event]:
        texts: list[str] = []
        images = 0
        for block in blocks(content, place, self._findings):
            if (text := as_text(block) or _file(block)) is not None:
                texts.append(text)
            elif is_image(block):
                images += 1
            else:
                yield from anthropic.parts([block], place, time, None, self._findings)
        notices = [text for text in texts if text.startswith(_NOTICE)]
        texts = [text for text in texts if not text.startswith(_NOTICE)]
        parts = came(texts, [name for _, name in self._open]) if texts else []
        for part in parts:
            if part.kind == "result":
                yield from self._result(part.text, part.tool, part.argument, place, time)
        yield from self._settle(place, time)
        said = [part.text for part in parts if part.kind == "user"]
        if said or images:
            yield Message(place, time, Kind.USER, "\n\n".join(said), images)
        for text in [*notices, *(part.text for part in parts if part.kind == "details")]:
            yield Message(place, time, Kind.USER, text, injected=True)

    def _result(
        self, text: str, tool: str, argument: str, place: int, time: float | None
    ) -> Iterator[Event]:
        if not self._open:
            if self._calls:
                self._tools += 1
                self._open.append((f"tool {self._tools}", tool))
                given = {"input": argument} if argument else {}
                call = f"call {self._calls}"
                yield ToolCall(place, None, self._open[0][0], tool, given, call, as_text=True)
            else:
                yield Message(place, time, Kind.USER, text)
                return
        identity, _ = self._open.pop(0)
        yield ToolResult(place, time, identity, text, failed=failed(text))

    def _settle(self, place: int, time: float | None) -> Iterator[Event]:
        """Yield empty results for the calls that got none."""
        for identity, _ in self._open:
            self._missing += 1
            yield ToolResult(place, time, identity, "")
        self._open = []

    # -- what the model writes -----------------------------------------------------------------

    def _assistant(
        self, message: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        yield from self._settle(place, None)
        self._calls += 1
        call, last = f"call {self._calls}", place == len(self._messages)
        for block in blocks(message.get("content"), place, self._findings):
            kind = block.get("type")
            if kind == "reasoning":
                thought = next(
                    (t for k in ("text", "reasoning") if isinstance(t := block.get(k), str)), ""
                )
                hidden = block.get("encrypted_content")
                size = len(hidden) * 3 // 4 if isinstance(hidden, str) and not thought else 0
                yield Message(place, time, Kind.THINKING, thought, 0, call, size)
            elif kind == "text" and isinstance(block.get("text"), str):
                yield from self._text(block["text"], place, time, call, last)
            else:
                for event in anthropic.parts([block], place, time, call, self._findings):
                    yield _with_path(event, last)
        yield self._usage(message, place, time, call, self._findings)

    def _text(
        self, text: str, place: int, time: float | None, call: str, last: bool
    ) -> Iterator[Event]:
        for part in written(text):
            if isinstance(part, Call):
                self._tools += 1
                identity = f"tool {self._tools}"
                if not last:
                    self._open.append((identity, part.name))
                yield ToolCall(
                    place, time, identity, part.name, part.arguments, call, last, as_text=True
                )
            else:
                yield Message(place, time, Kind.ASSISTANT, part, 0, call)

    @staticmethod
    def _usage(
        message: dict[str, Any], place: int, time: float | None, call: str, findings: Findings
    ) -> Usage:
        """Return the usage of a call: of the SDK, of a task, or as the API gave it.

        The SDK's input counts what the cache held; where it is less than that, it does not. A
        task's prompt leaves it out.
        """
        told = message.get("metrics")
        told = told if isinstance(told, dict) else {}
        if isinstance(tokens := told.get("tokens"), dict):
            plain, cached, output = (
                tokens_of(tokens, name, place, findings)
                for name in ("prompt", "cached", "completion")
            )
            prompt = None if plain is None else plain + (cached or 0)
            return Usage(place, time, call, prompt or None, None, None, output)
        if not told:
            return anthropic.usage(message.get("usage"), place, time, call, findings)
        prompt, read, wrote, output = (
            tokens_of(told, key, place, findings)
            for key in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
        )
        held = (read or 0) + (wrote or 0)
        if prompt is not None and prompt < held:
            prompt += held
        return Usage(place, time, call, prompt or None, read, wrote, output)


def _file(block: dict[str, Any]) -> str | None:
    """Return the text of a file that a message brings."""
    if block.get("type") != "file":
        return None
    found = [v for k in ("path", "content", "text") if isinstance(v := block.get(k), str)]
    return "\n".join(found) if found else None


def _with_path(event: Event, last: bool) -> Event:
    """Return a native tool call with the one file that it names nested; *last* needs no result."""
    if not isinstance(event, ToolCall):
        return event
    given = event.arguments
    arguments = with_path(given) if isinstance(given, dict) else given
    return ToolCall(event.place, event.time, event.id, event.name, arguments, event.call, last=last)


def _session(document: Any, findings: Findings) -> Iterator[Event]:
    if isinstance(document, dict):
        system = document.get("system_prompt")
        if isinstance(system, str) and system:
            yield Message(0, None, Kind.SYSTEM, system)
    yield from _Reader(findings, _messages(document) or []).read()


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    document = recording.document()
    what = _no_session(document)
    if what is not None:
        raise InputError(what, file=recording.path)
    if _is_shown(document):
        return only(say_ask.events(enumerate(document, 1), findings))
    return only(_session(document, findings))


def _fits(seen: Seen) -> bool:
    if not seen.head.lstrip().startswith(("{", "[")):
        return False
    document = seen.document
    return (
        _is_session(document)
        or _is_task(document)
        or _is_shown(document)
        or _no_session(document) is not None
    )


FORMAT = Format(
    "cline",
    "Cline session or task of Cline or Roo Code, JSON",
    _fits,
    _threads,
    unit="message",
    usage="input, cached, written, output, where a message has it",
)
