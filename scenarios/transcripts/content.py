"""What message contents share: blocks of text and images, and whole numbers of tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.findings import Findings, shown

__all__ = [
    "arguments_of",
    "as_text",
    "blocks",
    "compact",
    "is_image",
    "leaves",
    "text_and_images",
    "tokens_of",
    "unknown_kind",
    "unknown_part",
    "whole",
]

_TEXTS = ("text", "input_text", "output_text")
_THOUGHTS = ("thinking", "redacted_thinking")
_IMAGES = ("image", "image_url", "input_image")


def compact(value: Any) -> str:
    """Return *value* as the JSON text a model would read; nested too deeply, its leaves alone."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return " ".join(map(str, leaves(value)))


def leaves(value: Any) -> Iterator[Any]:
    """Yield everything in decoded JSON that is neither object nor list, however deep it lies."""
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            todo.extend(reversed(value.values()))
        elif isinstance(value, list):
            todo.extend(reversed(value))
        else:
            yield value


def whole(value: Any) -> int | None:
    """Return *value* if it is a whole, non-negative number, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 1 << 53 else None


def tokens_of(data: Any, name: str, place: int, findings: Findings) -> int | None:
    """Return the count of tokens *name* of *data*, None if it has none; another value is named."""
    value = data.get(name) if isinstance(data, dict) else None
    count = whole(value)
    if count is None and value is not None:
        findings.breaks(f"a token count that is no whole number, {name}", place)
    return count


def unknown_kind(value: Any, what: str) -> str:
    """Return the name of an unknown *what*, fit to be shown."""
    if value is None:
        return f"a {what} without a type"
    return f"a {what} of the unknown type {shown(value)}"


def unknown_part(block: dict[str, Any]) -> str:
    """Return what is amiss with a part of a content that is none of those that are known."""
    kind = block.get("type")
    if kind in _TEXTS or kind in _THOUGHTS:
        return f"a content part of the type {shown(kind)} without a text"
    return unknown_kind(kind, "content part")


def arguments_of(given: Any, place: int, findings: Findings) -> Any:
    """Return the arguments of a tool call, which APIs give as JSON in a text.

    A text that is no JSON stays a text and is named; an empty one stands for no arguments.
    """
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        if given.strip():
            findings.breaks("tool arguments that are no JSON", place, "kept as a text")
        return given


def blocks(content: Any, place: int, findings: Findings) -> Iterator[dict[str, Any]]:
    """Yield the blocks of a message's content; a text is one block, what is none is named."""
    if content is None:
        return
    if isinstance(content, str):
        yield {"type": "text", "text": content}
        return
    if not isinstance(content, list):
        findings.breaks("content that is neither text nor a list", place)
        return
    for block in content:
        if isinstance(block, dict):
            yield block
        else:
            findings.breaks("a content part that is not an object", place)


def as_text(block: dict[str, Any]) -> str | None:
    """Return the text of a text block, or of a document given as text; None for any other."""
    if block.get("type") in _TEXTS:
        text = block.get("text")
        return text if isinstance(text, str) else None
    source = block.get("source")
    if block.get("type") == "document" and isinstance(source, dict):
        text = source.get("data") if source.get("type") == "text" else None
        return text if isinstance(text, str) else None
    return None


def is_image(block: dict[str, Any]) -> bool:
    """Whether the block is an image, whatever its encoding."""
    return block.get("type") in _IMAGES


def text_and_images(content: Any, place: int, findings: Findings) -> tuple[str, int]:
    """Return the joined text of a content and the number of its images."""
    texts: list[str] = []
    images = 0
    for block in blocks(content, place, findings):
        if (text := as_text(block)) is not None:
            texts.append(text)
        elif is_image(block):
            images += 1
        else:
            findings.breaks(unknown_part(block), place)
    return "\n".join(texts), images
