"""What a message is made of, and how much of each part a request shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from scenarios.transcripts.content import as_text, is_image

__all__ = ["Block", "Shown", "Sort", "content_blocks", "edited", "text_of"]


class Sort(StrEnum):
    """What a block is."""

    TEXT = "text"
    IMAGE = "image"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    SERVED_CALL = "served call"
    """A call of a tool that runs at the provider."""
    SERVED_RESULT = "served result"
    """Its result, which stands in the assistant's own message."""
    OTHER = "other"
    """What no reader knows; it is passed on as it is."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message; *id* is that of the call, of calls and results."""

    sort: Sort
    id: str = ""


@dataclass(slots=True)
class Shown:
    """How a block stands in the request: as it is, or with *words* in the place of its text.

    *text* False: the text of a result is left out. *images* are those of a result that do not stand
    as they are, by number from 1: the words in their place, None for nothing.
    """

    words: str | None = None
    text: bool = True
    images: dict[int, str | None] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether it stands as it is."""
        return self.words is None and self.text and not self.images


def content_blocks(content: Any) -> list[dict[str, Any]]:
    """Return the content of a message as blocks; a text is one."""
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def text_of(content: Any) -> str:
    """Return the text of a content, its blocks on lines of their own."""
    texts = (as_text(block) for block in content_blocks(content))
    return "\n".join(text for text in texts if text is not None)


def edited(content: Any, shown: Shown) -> Any:
    """Return the content of a result as it is *shown*."""
    if shown.whole:
        return content
    if not isinstance(content, list):
        return shown.words if shown.words is not None else content if shown.text else ""
    out: list[dict[str, Any]] = []
    images, said = 0, False
    for block in content:
        if is_image(block):
            images += 1
            if images not in shown.images:
                out.append(block)
            elif (words := shown.images[images]) is not None:
                out.append({"type": "text", "text": words})
        elif shown.words is not None:
            if not said:
                out.append({"type": "text", "text": shown.words})
            said = True
        elif shown.text:
            out.append(block)
    if shown.words is not None and not said:
        out.insert(0, {"type": "text", "text": shown.words})
    return out or ""
