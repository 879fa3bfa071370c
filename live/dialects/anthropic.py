"""Anthropic messages: content blocks, roles that alternate, results first in the next message.

Rules of the Messages API (platform.claude.com: Messages, tool use, extended thinking): turns of one
role that follow each other are one turn; the first is the user's, and so is the last, since newer
models do not go on from an assistant's; each `tool_use` is followed at once by a user's message
that begins with the `tool_result` of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from live.blocks import Block, Shown, Sort, content_blocks, edited, text_of
from live.dialects.dialect import Fragment, Message
from scenarios.transcripts.content import as_text, is_image
from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats import anthropic
from sim.segments import Kind

__all__ = ["Anthropic"]

_MARK = "cache_control"


class Anthropic:
    """The format of Anthropic's Messages API."""

    name = "anthropic"
    user_ends = True

    def read(self, document: Any, findings: Findings, since: int) -> Iterator[Event]:
        """Yield the events of a document."""
        return anthropic.read(document, findings, since)

    def head(self, system: Any, tools: Any) -> dict[str, Any]:
        """Return system and tools, which stand apart from the messages."""
        return {"system": system, "tools": tools}

    def blocks(self, place: int, message: Message) -> list[Block]:
        """Return a block for each block of the content."""
        return [_block(message["role"], block) for block in content_blocks(message.get("content"))]

    def at(self, kind: Kind, part: int | None, blocks: Sequence[Block]) -> list[int]:
        """Return the block *part*; the texts of a user's message are one segment."""
        if part is not None:
            return [part]
        sort = Sort.IMAGE if kind is Kind.IMAGE else Sort.TEXT
        return [number for number, block in enumerate(blocks) if block.sort is sort]

    def text(self, message: Message, at: Sequence[int]) -> str:
        """Return the text of blocks."""
        blocks = content_blocks(message.get("content"))
        return "\n".join(_text(blocks[number]) for number in at)

    def called(self, message: Message, at: int) -> tuple[str, Any]:
        """Return name and input of a `tool_use` block."""
        block = content_blocks(message.get("content"))[at]
        return block["name"], block.get("input")

    def image(self, message: Message, at: int, number: int) -> Any:
        """Return an image block."""
        block = content_blocks(message.get("content"))[at]
        if is_image(block):
            return block
        return [each for each in block["content"] if is_image(each)][number - 1]

    def missing(self, message: Message, call: str, words: str) -> Fragment:
        """Return a `tool_result` block."""
        return Fragment(
            "user", content=[{"type": "tool_result", "tool_use_id": call, "content": words}]
        )

    def messages(
        self, history: Sequence[Any], plain: Sequence[Message], request: Sequence[Fragment]
    ) -> list[Any]:
        """Return the request; messages of one role that do not follow each other are joined."""
        out: list[Any] = []
        before: dict[str, Any] = {"role": ""}
        place = 0
        for fragment in request:
            content, intact = _content(plain, fragment)
            if not content and not intact:
                continue
            message = plain[fragment.place - 1] if fragment.place else {"role": fragment.role}
            made = {**message, "content": content}
            neighbours = intact and place and fragment.place == place + 1
            if fragment.role == before["role"] and not neighbours:
                made = {**before, "content": [*before["content"], *content]}
                out[-1], place = made, 0
            else:
                out.append(history[fragment.place - 1] if intact else made)
                place = fragment.place if intact else 0
            before = made
        return out


def _block(role: str, block: Mapping[str, Any]) -> Block:
    kind = str(block.get("type"))
    if kind.endswith("tool_use"):
        sort = Sort.CALL if kind == "tool_use" else Sort.SERVED_CALL
        return Block(sort, str(block.get("id")))
    if kind.endswith("tool_result"):
        sort = Sort.SERVED_RESULT if role == "assistant" else Sort.RESULT
        return Block(sort, str(block.get("tool_use_id")))
    if kind.endswith("thinking"):
        return Block(Sort.THINKING)
    if as_text(dict(block)) is not None:
        return Block(Sort.TEXT)
    return Block(Sort.IMAGE if is_image(dict(block)) else Sort.OTHER)


def _text(block: dict[str, Any]) -> str:
    if "tool_use_id" in block:
        content = block.get("content")
        return text_of(content) if isinstance(content, str | list) else str(content)
    return as_text(block) or str(block.get("thinking") or block.get("input") or "")


def _content(plain: Sequence[Message], fragment: Fragment) -> tuple[list[Any], bool]:
    """Return the blocks of a fragment, and whether they are a message as it stands."""
    if not fragment.place:
        return fragment.content, False
    blocks = content_blocks(plain[fragment.place - 1].get("content"))
    shown = fragment.shown
    intact = len(shown) == len(blocks) and all(each.whole for each in shown.values())
    return [_replaced(blocks[number], shown[number]) for number in sorted(shown)], intact


def _replaced(block: dict[str, Any], shown: Shown) -> dict[str, Any]:
    """Return *block* as it is *shown*, its cache mark kept."""
    if shown.whole:
        return block
    kind = block.get("type")
    if kind == "tool_result":
        return {**block, "content": edited(block.get("content"), shown)}
    if kind == "tool_use":
        return {**block, "input": {"left_out": shown.words}}
    mark = {_MARK: block[_MARK]} if _MARK in block else {}
    return {"type": "text", "text": shown.words, **mark}
