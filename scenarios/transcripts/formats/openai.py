"""OpenAI message JSON: a list of chat messages, or ``{"messages", "tools", …}``.

Roles system and developer, user, assistant with ``tool_calls`` whose arguments are JSON in a
string, and tool. The older ``function_call`` and role ``function`` have no id and pair by order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import arguments_of, compact, text_and_images, tokens_of
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult, Usage
from scenarios.transcripts.findings import Findings, shown
from scenarios.transcripts.formats.format import Format, Seen, Thread, only
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT", "chat", "is_openai", "message_events", "read", "usage"]

_TIMES = ("timestamp", "created_at", "created")
_SYSTEMS = frozenset({"system", "developer"})
_ROLES = _SYSTEMS | {"user", "assistant", "tool", "function"}


def is_openai(document: Any) -> bool:
    """Whether a JSON document holds chat messages."""
    messages = document.get("messages") if isinstance(document, dict) else document
    return isinstance(messages, list) and any(
        message["role"] in _ROLES and ("content" in message or "tool_calls" in message)
        for message in messages
        if isinstance(message, dict) and isinstance(message.get("role"), str)
    )


def read(document: Any, findings: Findings, since: int = 0) -> Iterator[Event]:
    """Yield the events of a document; each assistant message is a model call.

    What was read before is left out: tools and the first messages, *since* of them.
    """
    messages = document["messages"] if isinstance(document, dict) else document
    if isinstance(document, dict) and not since:
        yield from model_of(document, 0)
        tools = document.get("tools") or document.get("functions")
        if tools:
            yield Message(0, None, Kind.TOOLS, compact(tools))
    for place, message in chat(messages, findings, since):
        time = stamp(message, _TIMES, place, findings)
        call = f"call {place}" if message["role"] == "assistant" else None
        if call is not None:
            yield from model_of(message, place, time)
        yield from message_events(message, place, time, call, findings)
        if call is not None and isinstance(message.get("usage"), dict):
            yield usage(message["usage"], place, time, call, findings)


def chat(
    messages: list[Any], findings: Findings, since: int = 0
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each message with its number from 1; an older function call becomes a tool call.

    The first messages, *since* of them, are left out.
    """
    last = _last_function(messages[:since])
    for place, message in enumerate(messages[since:], since + 1):
        if not isinstance(message, dict):
            findings.breaks("a message that is not an object", place)
            continue
        role = message.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            findings.breaks(f"a message of the unknown role {shown(role)}", place)
            continue
        if isinstance(older := message.get("function_call"), dict):
            last = _function(place)
            message = {**message, "tool_calls": [{"id": last, "function": older}]}
        elif role == "function":
            message = {**message, "role": "tool", "tool_call_id": last}
        yield place, message


def _function(place: int) -> str:
    """Return the id of an older function call, which has none of its own."""
    return f"function {place}"


def _last_function(messages: list[Any]) -> str:
    """Return the id of the last older function call of *messages*, empty if there is none."""
    for place in range(len(messages), 0, -1):
        message = messages[place - 1]
        if isinstance(message, dict) and isinstance(message.get("function_call"), dict):
            return _function(place)
    return ""


def usage(data: Any, place: int, time: float | None, call: str, findings: Findings) -> Usage:
    """Return the usage of a call; ``prompt_tokens`` of this API counts what the cache held too."""
    data = data if isinstance(data, dict) else {}
    cached = tokens_of(data.get("prompt_tokens_details"), "cached_tokens", place, findings)
    if cached is None:
        cached = tokens_of(data, "cache_read_input_tokens", place, findings)
    prompt, written, output = (
        tokens_of(data, f"{name}_tokens", place, findings)
        for name in ("prompt", "cache_creation_input", "completion")
    )
    return Usage(place, time, call, prompt, cached, written, output)


def message_events(
    message: dict[str, Any], place: int, time: float | None, call: str | None, findings: Findings
) -> Iterator[Event]:
    """Yield the events of one message; *call* names the model call if the model wrote it."""
    if call is not None:
        yield from _assistant(message, place, time, call, findings)
        return
    role = message["role"]
    text, images = text_and_images(message.get("content"), place, findings)
    if role == "tool":
        identity = message.get("tool_call_id")
        if not isinstance(identity, str):
            findings.breaks("a tool result that names no call", place)
            return
        yield ToolResult(place, time, identity, text, images)
    elif text or images:
        kind = Kind.SYSTEM if role in _SYSTEMS else Kind.USER
        yield Message(place, time, kind, text, images)


def _assistant(
    message: dict[str, Any], place: int, time: float | None, call: str, findings: Findings
) -> Iterator[Event]:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str):
        yield Message(place, time, Kind.THINKING, thought, 0, call)
    text, images = text_and_images(message.get("content"), place, findings)
    if images:
        findings.breaks("an image in what the model wrote", place)
    refusal = message.get("refusal")
    text = text or (refusal if isinstance(refusal, str) else "")
    yield Message(place, time, Kind.ASSISTANT, text, 0, call)
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        findings.breaks("tool calls that are no list", place)
        return
    for number, data in enumerate(calls):
        for event in _tool_call(data, place, time, call, findings):
            yield replace(event, part=number)


def _tool_call(
    data: Any, place: int, time: float | None, call: str, findings: Findings
) -> Iterator[ToolCall]:
    data = data if isinstance(data, dict) else {}
    called = data.get("function") or data.get("custom")
    called = called if isinstance(called, dict) else {}
    identity, name = data.get("id"), called.get("name")
    if not isinstance(identity, str) or not isinstance(name, str):
        findings.breaks("a tool call without id or name", place)
        return
    arguments = called.get("input")
    if "arguments" in called:
        arguments = arguments_of(called["arguments"], place, findings)
    yield ToolCall(place, time, identity, name, arguments, call)


def _fits(seen: Seen) -> bool:
    return is_openai(seen.document)


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    return only(read(recording.document(), findings))


FORMAT = Format(
    "openai",
    'OpenAI chat messages, JSON: a list, or {"messages", "tools"}',
    _fits,
    _threads,
    unit="message",
    usage="input, cached, output, where a message has it",
)
