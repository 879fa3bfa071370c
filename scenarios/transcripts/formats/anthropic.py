"""Anthropic message JSON: a list of messages, or ``{"system", "tools", "messages"}``.

Content blocks follow the Messages API: text, thinking, tool_use, tool_result, image, document, and
the tools that run on the server, whose results stand in the assistant's own message. Claude Code
writes the same blocks, so its reader uses :func:`parts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scenarios.transcripts.clock import stamp
from scenarios.transcripts.content import (
    as_text,
    blocks,
    compact,
    is_image,
    text_and_images,
    tokens_of,
    unknown_part,
)
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult, Usage
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats.format import Format, Seen, Thread, only
from scenarios.transcripts.models import model_of
from scenarios.transcripts.recording import Recording
from sim.segments import Kind

__all__ = ["FORMAT", "is_anthropic", "parts", "read", "usage"]

_TIMES = ("timestamp", "ts")
_BLOCKS = ("tool_use", "tool_result", "thinking")
"""Ends of block types that no other format has."""


def _is_talk(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in ("user", "assistant")


def is_anthropic(document: Any) -> bool:
    """Whether a JSON document holds messages of the Messages API."""
    whole_document = isinstance(document, dict)
    messages = document.get("messages") if whole_document else document
    if not isinstance(messages, list):
        return False
    talk = [m for m in messages if _is_talk(m)]
    if whole_document and document.get("system") and talk:
        return True
    return any(
        isinstance(block, dict) and (str(block.get("type")).endswith(_BLOCKS) or "source" in block)
        for message in talk
        if isinstance(message.get("content"), list)
        for block in message["content"]
    )


def read(document: Any, findings: Findings, since: int = 0) -> Iterator[Event]:
    """Yield the events of a document; each assistant message is a model call.

    What was read before is left out: tools, system and the first messages, *since* of them.
    """
    messages = document["messages"] if isinstance(document, dict) else document
    if isinstance(document, dict) and not since:
        yield from model_of(document, 0)
        if document.get("tools"):
            yield Message(0, None, Kind.TOOLS, compact(document["tools"]))
        if document.get("system"):
            text, _ = text_and_images(document["system"], 0, findings)
            yield Message(0, None, Kind.SYSTEM, text)
    for place, message in enumerate(messages[since:], since + 1):
        if not _is_talk(message):
            findings.breaks("a message that is neither the user's nor the assistant's", place)
            continue
        time = stamp(message, _TIMES, place, findings)
        call = f"call {place}" if message["role"] == "assistant" else None
        if call is not None:
            yield from model_of(message, place, time)
        yield from parts(message.get("content"), place, time, call, findings)
        if call is not None:
            yield usage(message.get("usage"), place, time, call, findings)


def usage(data: Any, place: int, time: float | None, call: str, findings: Findings) -> Usage:
    """Return the usage of a call; ``input_tokens`` of this API leaves out what the cache held."""
    names = ("input", "cache_read_input", "cache_creation_input", "output")
    plain, read_, written, output = (
        tokens_of(data, f"{name}_tokens", place, findings) for name in names
    )
    prompt = None if plain is None else plain + (read_ or 0) + (written or 0)
    return Usage(place, time, call, prompt or None, read_, written, output)


def parts(
    content: Any,
    place: int,
    time: float | None,
    call: str | None,
    findings: Findings,
    injected: bool = False,
) -> Iterator[Event]:
    """Yield the events of one message's content; *call* names the model call that wrote it."""
    texts: list[str] = []
    images = 0
    for number, block in enumerate(blocks(content, place, findings)):
        if call is None and (text := as_text(block)) is not None:
            texts.append(text)
        elif call is None and is_image(block):
            images += 1
        else:
            for event in _part(block, place, time, call, findings):
                yield replace(event, part=number)
    if any(texts) or images:
        yield Message(place, time, Kind.USER, "\n".join(texts), images, injected=injected)


def _part(
    block: dict[str, Any], place: int, time: float | None, call: str | None, findings: Findings
) -> Iterator[Message | ToolCall | ToolResult]:
    kind = block.get("type")
    if isinstance(kind, str) and kind.endswith("tool_result"):
        yield from _result(block, place, time, findings)
    elif call is None:
        findings.breaks(unknown_part(block), place)
    elif isinstance(kind, str) and kind.endswith("tool_use"):
        yield from _tool_call(block, place, time, call, findings)
    elif (said := _said(block, place, time, call)) is not None:
        if said.text or said.hidden_bytes:
            yield said
    else:
        findings.breaks(unknown_part(block), place)


def _said(block: dict[str, Any], place: int, time: float | None, call: str) -> Message | None:
    """Return what an assistant block says or thinks, None if it is no such block."""
    match block.get("type"), block:
        case "text", {"text": str(text)}:
            return Message(place, time, Kind.ASSISTANT, text, 0, call)
        case "thinking", {"thinking": str(text)}:
            return Message(place, time, Kind.THINKING, text, 0, call)
        case "redacted_thinking", {"data": str(data)}:
            return Message(place, time, Kind.THINKING, "", 0, call, len(data) * 3 // 4)
    return None


def _tool_call(
    block: dict[str, Any], place: int, time: float | None, call: str, findings: Findings
) -> Iterator[ToolCall]:
    name, identity = block.get("name"), block.get("id")
    if not isinstance(name, str) or not isinstance(identity, str):
        findings.breaks("a tool call without id or name", place)
        return
    yield ToolCall(place, time, identity, name, block.get("input"), call)


def _result(
    block: dict[str, Any], place: int, time: float | None, findings: Findings
) -> Iterator[ToolResult]:
    identity = block.get("tool_use_id")
    if not isinstance(identity, str):
        findings.breaks("a tool result that names no call", place)
        return
    content = block.get("content")
    if block.get("type") != "tool_result" and not isinstance(content, str):
        text, images = compact(content), 0
    else:
        text, images = text_and_images(content, place, findings)
    yield ToolResult(place, time, identity, text, images, block.get("is_error") is True)


def _fits(seen: Seen) -> bool:
    return is_anthropic(seen.document)


def _threads(recording: Recording, findings: Findings) -> Iterator[Thread]:
    return only(read(recording.document(), findings))


FORMAT = Format(
    "anthropic",
    'Anthropic messages, JSON: a list, or {"system", "tools", "messages"}',
    _fits,
    _threads,
    unit="message",
    usage="input, cached, written, output, where a message has it",
)
