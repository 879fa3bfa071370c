"""OpenHands events of version 1, each with its ``kind``.

The events of one model call share ``llm_response_id``. Observations and errors name the tool call
that they answer; a condensation names the events that it forgets, by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import arguments_of, compact, text_and_images, unknown_kind
from scenarios.transcripts.events import Compaction, Event, Message, ToolCall, ToolResult
from scenarios.transcripts.findings import Findings
from sim.segments import Kind

__all__ = ["is_event", "read"]

_BOOKS = frozenset(
    {
        "CondensationRequest",
        "CondensationSummaryEvent",
        "ConversationErrorEvent",
        "ConversationStateUpdateEvent",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
    }
)
_ANSWERS = frozenset({"AgentErrorEvent", "ObservationEvent", "UserRejectObservation"})
_KINDS = _BOOKS | _ANSWERS | {"ActionEvent", "Condensation", "MessageEvent", "SystemPromptEvent"}


def is_event(value: Any) -> bool:
    """Whether a JSON value is such an event."""
    return (
        isinstance(value, dict)
        and isinstance(kind := value.get("kind"), str)
        and kind in _KINDS
        and not {"source", "timestamp", "id"}.isdisjoint(value)
    )


def read(events: list[tuple[int, dict[str, Any]]], findings: Findings) -> Iterator[Event]:
    """Yield what the events, each with its number, hold."""
    reader = _Reader(events, findings)
    for place, event in events:
        yield from reader.take(place, event)
    reader.notes()


class _Reader:
    """Reads a session, event by event."""

    def __init__(self, events: list[tuple[int, dict[str, Any]]], findings: Findings) -> None:
        self._findings = findings
        self._places = {e["id"]: place for place, e in events if isinstance(e.get("id"), str)}
        self._answered = max((p for p, e in events if _kind(e) in _ANSWERS), default=-1)
        self._calls: dict[str, str] = {}
        self._left: Counter[str] = Counter()

    def take(self, place: int, event: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of one event."""
        time = stamp(event, ("timestamp",), place, self._findings)
        match _kind(event):
            case "SystemPromptEvent":
                yield from self._system(event, place, time)
            case "MessageEvent":
                yield from self._message(event, place, time)
            case "ActionEvent":
                yield from self._acted(event, place, time)
            case kind if kind in _ANSWERS:
                yield from self._answer(kind, event, place, time)
            case "Condensation":
                yield from self._condensed(event, place, time)
            case kind if kind in _BOOKS:
                self._left[kind] += 1
            case _:
                self._findings.breaks(unknown_kind(event.get("kind"), "event"), place)

    def _content(self, value: Any, place: int) -> tuple[str, int]:
        """Return the text and the images of a content, which may be one block."""
        content = [value] if isinstance(value, dict) else value
        if isinstance(content, list):
            content = [_block(block) for block in content]
        text, images = text_and_images(content, place, self._findings)
        return text, images

    def _system(self, event: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        if event.get("tools"):
            yield Message(place, time, Kind.TOOLS, compact(event["tools"]))
        text, _ = self._content(event.get("system_prompt"), place)
        more, _ = self._content(event.get("dynamic_context"), place)
        yield Message(place, time, Kind.SYSTEM, "\n".join(filter(None, (text, more))))

    def _message(self, event: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        message = event.get("llm_message")
        if not isinstance(message, dict):
            self._findings.breaks("a message event without a message", place)
            return
        text, images = self._content(message.get("content"), place)
        if message.get("role") == "assistant":
            call = _call(event, place)
            yield from self._thought(message, place, time, call)
            yield Message(place, time, Kind.ASSISTANT, text, 0, call)
            return
        injected = event.get("source") != "user"
        yield Message(place, time, Kind.USER, text, images, injected=injected)
        more, images = self._content(event.get("extended_content"), place)
        if more or images:
            yield Message(place, time, Kind.USER, more, images, injected=True)

    def _thought(
        self, message: dict[str, Any], place: int, time: float | None, call: str
    ) -> Iterator[Event]:
        thought = message.get("reasoning_content")
        if not isinstance(thought, str) and isinstance(message.get("thinking_blocks"), list):
            blocks = (b.get("thinking") for b in message["thinking_blocks"] if isinstance(b, dict))
            thought = "\n".join(text for text in blocks if isinstance(text, str))
        if isinstance(thought, str) and thought:
            yield Message(place, time, Kind.THINKING, thought, 0, call)

    def _acted(self, event: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        call = _call(event, place)
        yield from self._thought(event, place, time, call)
        said, _ = self._content(event.get("thought"), place)
        if said:
            yield Message(place, time, Kind.ASSISTANT, said, 0, call)
        tool = event.get("tool_call")
        tool = tool if isinstance(tool, dict) else {}
        identity, name = event.get("tool_call_id"), event.get("tool_name")
        if not isinstance(identity, str) or not isinstance(name, str):
            self._findings.breaks("a tool call without id or name", place)
            return
        self._calls[str(event.get("id"))] = identity
        arguments = _arguments(tool, event, place, self._findings)
        yield ToolCall(place, time, identity, name, arguments, call, place > self._answered)

    def _answer(
        self, kind: str, event: dict[str, Any], place: int, time: float | None
    ) -> Iterator[Event]:
        identity = event.get("tool_call_id")
        if not isinstance(identity, str):
            identity = self._calls.get(str(event.get("action_id")))
        if identity is None:
            self._findings.breaks("a tool result that names no call", place)
            return
        images, failed = 0, kind != "ObservationEvent"
        if kind == "AgentErrorEvent":
            text = event.get("error")
        elif kind == "UserRejectObservation":
            text = event.get("rejection_reason")
        else:
            text, images, failed = self._observed(event.get("observation"), place)
        text = text if isinstance(text, str) else ""
        yield ToolResult(place, time, identity, text, images, failed)

    def _observed(self, observation: Any, place: int) -> tuple[str, int, bool]:
        """Return the text of an observation, its images, and whether it is an error."""
        if not isinstance(observation, dict):
            self._findings.breaks("an observation that is not an object", place)
            return "", 0, False
        found = next(
            (observation[key] for key in ("content", "output") if observation.get(key)), None
        )
        text, images = self._content(found, place)
        failed = observation.get("is_error") is True or bool(observation.get("error"))
        if not text and isinstance(error := observation.get("error"), str):
            text = error
        return text, images, failed

    def _condensed(self, event: dict[str, Any], place: int, time: float | None) -> Iterator[Event]:
        ids = event.get("forgotten_event_ids")
        gone = [
            self._places[i]
            for i in (ids if isinstance(ids, list) else ())
            if isinstance(i, str) and i in self._places
        ]
        kept = max(gone) + 1 if gone else None
        summary = event.get("summary")
        summary = summary if isinstance(summary, str) else ""
        yield Compaction(place, time, "auto", None if summary else 0, kept_from=kept)
        if summary:
            yield Message(place, time, Kind.USER, summary, injected=True, summary=True)

    def notes(self) -> None:
        """Say what the session holds that is no part of a prompt."""
        if self._left:
            books = ", ".join(f"{n} {kind}" for kind, n in sorted(self._left.items()))
            self._findings.note(f"events that are no part of a prompt: {books}")


def _kind(event: dict[str, Any]) -> str:
    kind = event.get("kind")
    return kind if isinstance(kind, str) else ""


def _block(block: Any) -> Any:
    """Return a content block; an image may stand without a type."""
    if isinstance(block, dict) and "type" not in block and "image_urls" in block:
        return {"type": "image"}
    return block


def _call(event: dict[str, Any], place: int) -> str:
    identity = event.get("llm_response_id")
    return identity if isinstance(identity, str) and identity else f"event {place}"


def _arguments(tool: dict[str, Any], event: dict[str, Any], place: int, findings: Findings) -> Any:
    """Return the arguments of a call as the model wrote them, else as the harness read them."""
    inner = tool.get("function")
    arguments = tool.get("arguments", inner.get("arguments") if isinstance(inner, dict) else None)
    if isinstance(arguments, str):
        return arguments_of(arguments, place, findings)
    if arguments is None and isinstance(action := event.get("action"), dict):
        return {key: value for key, value in action.items() if key != "kind"}
    return {} if arguments is None else arguments
