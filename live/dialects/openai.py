"""OpenAI chat messages: every result a message of its own, behind the message that called.

Rule of the Chat Completions API: an assistant's message with `tool_calls` is followed by a message
of the role `tool` for each of their ids. The older `function_call` has one call and no id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from live.blocks import Block, Shown, Sort, content_blocks, edited, text_of
from live.dialects.dialect import Fragment, Message
from scenarios.transcripts.content import arguments_of, as_text, is_image
from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats import openai
from sim.errors import InputError
from sim.segments import Kind

__all__ = ["ROLES", "OpenAI"]

ROLES = frozenset({"system", "developer", "tool", "function"})
"""Roles that no other format has."""

_RESULTS = ("tool", "function")
_THOUGHTS = ("reasoning_content", "reasoning")


class OpenAI:
    """The format of OpenAI's Chat Completions API, which many servers speak.

    The blocks of a message are its reasoning, its content and its calls, in this order; a result
    is one block.
    """

    name = "openai"
    user_ends = False

    def read(self, document: Any, findings: Findings, since: int) -> Iterator[Event]:
        """Yield the events of a document."""
        return openai.read(document, findings, since)

    def head(self, system: Any, tools: Any) -> dict[str, Any]:
        """Return the tools; a system prompt is one of the messages."""
        if system:
            raise InputError(
                "this format has its system prompt among the messages, not beside them"
            )
        return {"tools": tools}

    def blocks(self, place: int, message: Message) -> list[Block]:
        """Return the blocks of a message."""
        if message["role"] in _RESULTS:
            return [Block(Sort.RESULT, str(message.get("tool_call_id") or message.get("name")))]
        out = [Block(Sort.THINKING)] if _thought(message) else []
        for block in _said(message):
            if as_text(block) is not None:
                out.append(Block(Sort.TEXT))
            else:
                out.append(Block(Sort.IMAGE if is_image(block) else Sort.OTHER))
        for call in message.get("tool_calls") or ():
            out.append(Block(Sort.CALL, str(call.get("id")) if isinstance(call, dict) else ""))
        if isinstance(message.get("function_call"), dict):
            out.append(Block(Sort.CALL, str(message["function_call"].get("name"))))
        return out

    def at(self, kind: Kind, part: int | None, blocks: Sequence[Block]) -> list[int]:
        """Return the call *part*, or all blocks of the sort that a segment of *kind* is made of."""
        sorts = {Kind.TOOL_CALL: Sort.CALL, Kind.THINKING: Sort.THINKING, Kind.IMAGE: Sort.IMAGE}
        if blocks and blocks[0].sort is Sort.RESULT:
            return [0]
        sort = sorts.get(kind, Sort.TEXT)
        found = [number for number, block in enumerate(blocks) if block.sort is sort]
        return found if part is None else found[part : part + 1]

    def text(self, message: Message, at: Sequence[int]) -> str:
        """Return the text of blocks."""
        if message["role"] in _RESULTS:
            return text_of(message.get("content"))
        parts = _parts(message)
        return "\n".join(_text(parts[number]) for number in at)

    def called(self, message: Message, at: int) -> tuple[str, Any]:
        """Return name and arguments of a call, decoded where they are JSON."""
        part = _parts(message)[at]
        called = part.get("function") or part.get("custom") or part
        given = called.get("arguments", called.get("input"))
        return called["name"], arguments_of(given, 0, Findings("the history"))

    def image(self, message: Message, at: int, number: int) -> Any:
        """Return an image block."""
        if message["role"] in _RESULTS:
            images = [each for each in content_blocks(message.get("content")) if is_image(each)]
            return images[number - 1]
        return _parts(message)[at]

    def missing(self, message: Message, call: str, words: str) -> Fragment:
        """Return a message of the role `tool`."""
        older = isinstance(message.get("function_call"), dict)
        key = (
            {"role": "function", "name": call} if older else {"role": "tool", "tool_call_id": call}
        )
        return Fragment(key["role"], content=[{**key, "content": words}])

    def messages(
        self, history: Sequence[Any], plain: Sequence[Message], request: Sequence[Fragment]
    ) -> list[Any]:
        """Return the request, a message a fragment."""
        out: list[Any] = []
        for fragment in request:
            if not fragment.place:
                out.extend(_ours(fragment))
                continue
            message = plain[fragment.place - 1]
            count = len(self.blocks(fragment.place, message))
            shown = fragment.shown
            if len(shown) == count and all(each.whole for each in shown.values()):
                out.append(history[fragment.place - 1])
            elif shown:
                out.append(_built(message, shown))
        return out


def _ours(fragment: Fragment) -> list[Any]:
    """Return the messages of words of our own."""
    content = fragment.content
    if fragment.role in _RESULTS:
        return content
    texts = [as_text(block) for block in content]
    said = "\n".join(text for text in texts if text is not None)
    return [{"role": fragment.role, "content": content if None in texts else said}]


def _thought(message: Message) -> bool:
    return any(isinstance(message.get(key), str) and message[key] for key in _THOUGHTS)


def _parts(message: Message) -> list[Any]:
    """Return what the blocks of a message hold, in their order."""
    thoughts = [message[k] for k in _THOUGHTS if isinstance(message.get(k), str) and message[k]]
    calls = list(message.get("tool_calls") or ())
    if isinstance(message.get("function_call"), dict):
        calls.append(message["function_call"])
    return [*thoughts[:1], *_said(message), *calls]


def _said(message: Message) -> list[dict[str, Any]]:
    """Return the content of a message as blocks; a refusal stands where there is none."""
    refusal = message.get("refusal")
    blocks = content_blocks(message.get("content"))
    if not text_of(blocks) and isinstance(refusal, str) and refusal:
        blocks.append({"type": "text", "text": refusal})
    return blocks


def _text(part: Any) -> str:
    if isinstance(part, str):
        return part
    called = part.get("function") or part.get("custom") or part
    return as_text(part) or str(called.get("arguments") or called.get("input") or "")


def _built(message: Message, shown: dict[int, Shown]) -> dict[str, Any]:
    """Return *message* with those of its blocks that are *shown*."""
    if message["role"] in _RESULTS:
        return {**message, "content": edited(message.get("content"), shown[0])}
    out: dict[str, Any] = {}
    first = 1 if _thought(message) else 0
    blocks = _said(message)
    for key, value in message.items():
        if key in _THOUGHTS:
            if 0 in shown and first:
                out[key] = value if shown[0].words is None else shown[0].words
        elif key == "content":
            said = blocks[: len(content_blocks(value))]
            out[key] = _content(value, said, shown, first)
        elif key == "refusal":
            last = shown.get(first + len(blocks) - 1)
            out[key] = value if last is not None and last.words is None else None
        elif key == "tool_calls":
            calls = _calls(value or (), shown, first + len(blocks))
            if calls:
                out[key] = calls
        elif key == "function_call" and isinstance(value, dict):
            at = first + len(blocks) + len(message.get("tool_calls") or ())
            if at in shown:
                words = shown[at].words
                out[key] = value if words is None else {**value, "arguments": _left_out(words)}
        else:
            out[key] = value
    if out.get("content") is None and not ("tool_calls" in out or "function_call" in out):
        out["content"] = ""
    return out


def _content(
    value: Any, blocks: list[dict[str, Any]], shown: dict[int, Shown], first: int
) -> str | list[dict[str, Any]] | None:
    """Return the content of a message as it is *shown*: a text stays one, nothing is None."""
    kept = [
        block if shown[at].words is None else {"type": "text", "text": shown[at].words}
        for at, block in enumerate(blocks, first)
        if at in shown
    ]
    if not kept:
        return None
    return str(kept[0]["text"]) if isinstance(value, str) else kept


def _calls(calls: Sequence[Any], shown: dict[int, Shown], first: int) -> list[Any]:
    return [
        call if shown[at].words is None else _emptied(call, str(shown[at].words))
        for at, call in enumerate(calls, first)
        if at in shown
    ]


def _emptied(call: dict[str, Any], words: str) -> dict[str, Any]:
    """Return a call whose arguments are *words*."""
    if isinstance(call.get("custom"), dict):
        return {**call, "custom": {**call["custom"], "input": words}}
    return {**call, "function": {**call.get("function", {}), "arguments": _left_out(words)}}


def _left_out(words: str) -> str:
    return json.dumps({"left_out": words}, ensure_ascii=False)
