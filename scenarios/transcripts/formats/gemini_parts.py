"""Parts of a message as Google's GenAI API has them: text, thoughts, function calls and responses.

A call may have no id; its response then goes with the oldest open call of that name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.transcripts.content import compact, tokens_of
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult, Usage
from scenarios.transcripts.findings import Findings, shown
from sim.segments import Kind

__all__ = ["Parts", "plain_text", "usage"]

_SIGNS = frozenset({"partMetadata", "thought", "thoughtSignature", "videoMetadata"})
"""What stands beside the content of a part."""


class Parts:
    """Makes events of the parts of a thread's messages, and pairs its calls."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._open: dict[str, str] = {}
        """The name of each call that has no response yet, by its id."""

    def written(
        self, parts: list[Any], place: int, time: float | None, call: str
    ) -> Iterator[Event]:
        """Yield what the model wrote; *call* names the model call."""
        for number, part in enumerate(parts):
            match part:
                case {"functionCall": dict(called)}:
                    yield from self._called(called, place, number, time, call)
                case {"text": str(text)}:
                    thought = part.get("thought") is True
                    kind = Kind.THINKING if thought else Kind.ASSISTANT
                    if text:
                        yield Message(place, time, kind, text, 0, call)
                case {"executableCode": dict(data)} | {"codeExecutionResult": dict(data)}:
                    yield Message(place, time, Kind.ASSISTANT, compact(data), 0, call)
                case _:
                    self._amiss(part, place)

    def _called(
        self, called: dict[str, Any], place: int, number: int, time: float | None, call: str
    ) -> Iterator[Event]:
        name, identity = called.get("name"), called.get("id")
        if not isinstance(name, str):
            self._findings.breaks("a function call without a name", place)
            return
        if not isinstance(identity, str) or not identity:
            identity = f"call {place}.{number}"
        self._open.setdefault(identity, name)
        yield ToolCall(place, time, identity, name, called.get("args"), call)

    def heard(
        self,
        parts: list[Any],
        place: int,
        time: float | None,
        injected: bool,
        failed: bool = False,
    ) -> Iterator[Event]:
        """Yield what came to the model; *failed* is whether a tool is known to have failed."""
        texts: list[str] = []
        images = 0
        for part in parts:
            match part:
                case {"functionResponse": dict(response)}:
                    yield self._returned(response, place, time, failed)
                case {"text": str(text)}:
                    texts.append(text)
                case _ if _is_image(part):
                    images += 1
                case _:
                    self._amiss(part, place)
        if any(texts) or images:
            yield Message(place, time, Kind.USER, "\n".join(texts), images, injected=injected)

    def _returned(
        self, response: dict[str, Any], place: int, time: float | None, failed: bool
    ) -> ToolResult:
        name, identity = response.get("name"), response.get("id")
        if not isinstance(identity, str) or not identity:
            same = (key for key, called in self._open.items() if called == name)
            identity = next(same, f"response {place}")
        self._open.pop(identity, None)
        text, error = _response(response.get("response"))
        parts = response.get("parts")
        images = sum(map(_is_image, parts)) if isinstance(parts, list) else 0
        return ToolResult(place, time, identity, text, images, failed or error)

    def _amiss(self, part: Any, place: int) -> None:
        if not isinstance(part, dict):
            self._findings.breaks("a content part that is not an object", place)
            return
        if "text" in part:
            self._findings.breaks("a content part of the type 'text' without a text", place)
            return
        kinds = " and ".join(sorted(shown(key) for key in part.keys() - _SIGNS)[:3])
        if kinds or not part:
            self._findings.breaks(f"a content part of unknown kind: {kinds or 'empty'}", place)


def _response(data: Any) -> tuple[str, bool]:
    """Return the text of a function's response, and whether it is an error."""
    if isinstance(data, str):
        return data, False
    if not isinstance(data, dict):
        return ("" if data is None else compact(data)), False
    for key in ("output", "error"):
        if isinstance(text := data.get(key), str):
            return text, key == "error"
    return compact(data), "error" in data


def _is_image(part: Any) -> bool:
    """Whether a part holds an image, or names the file of one."""
    if not isinstance(part, dict):
        return False
    data = part.get("inlineData") or part.get("fileData")
    kind = data.get("mimeType") if isinstance(data, dict) else None
    return isinstance(kind, str) and kind.startswith("image/")


def plain_text(contents: Any) -> str:
    """Return all the text of a list of messages, calls and responses as JSON."""
    texts: list[str] = []
    for content in contents if isinstance(contents, list) else [contents]:
        parts = content.get("parts") if isinstance(content, dict) else content
        for part in parts if isinstance(parts, list) else [parts]:
            match part:
                case str(text) | {"text": str(text)}:
                    texts.append(text)
                case {"functionResponse": dict(data)}:
                    texts.append(_response(data.get("response"))[0])
                case {"functionCall": dict(data)}:
                    texts.append(compact(data))
    return "\n".join(texts)


def usage(data: Any, place: int, time: float | None, call: str, findings: Findings) -> Usage:
    """Return the usage of a call; ``promptTokenCount`` counts what the cache held too.

    Output is what the total exceeds the prompt by: of the parts, thoughts are in the candidates
    with some servers and beside them with others.
    """
    prompt, total, written, thoughts, cached = (
        tokens_of(data, f"{name}TokenCount", place, findings)
        for name in ("prompt", "total", "candidates", "thoughts", "cachedContent")
    )
    if prompt is not None and total is not None and total > prompt:
        written = total - prompt
    elif written is not None:
        written += thoughts or 0
    return Usage(place, time, call, prompt or None, cached, None, written)
