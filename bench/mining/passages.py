"""A pair as a person judges it: the passage of the source, that of the mention, and all between."""

from __future__ import annotations

from collections.abc import Iterator

from bench.mining.pairs import Pair, Thread
from bench.output import escaped
from scenarios.transcripts.content import leaves
from scenarios.transcripts.events import Event, Message, ToolCall, ToolResult
from scenarios.transcripts.values import decoded

__all__ = ["passages"]

_AROUND, _BRIEF = 200, 80
_MOST = 10
"""Other texts with the value that are shown."""


def passages(pair: Pair, thread: Thread) -> Iterator[str]:
    """Yield the lines that show *pair*, of *thread*, fit for a terminal.

    All places where the value stands are there: first those up to the mention in brief, in their
    order, then source and mention with what stands around.
    """
    value = pair.value
    yield escaped(f"{pair.file}: {pair.kind}, {pair.back} calls back: {value!r}")
    others = [
        f"    {event.place}: {_who(event)}: {passage}"
        for event in thread.events
        if event.place <= pair.mention
        for passage in [_around(_text(event), value, _BRIEF)]
        if passage
    ]
    if len(others) > _MOST:
        others[_MOST // 2 : -_MOST // 2] = [f"    ({len(others) - _MOST} more)"]
    yield from (escaped(line.replace("\n", "⏎")) for line in others)
    for what, place, kinds in (
        ("source", pair.source, ToolResult),
        ("mention", pair.mention, (Message, ToolCall)),
    ):
        for event in thread.at(place):
            passage = _around(_text(event), value, _AROUND) if isinstance(event, kinds) else ""
            if passage:
                yield f"  {what} at {place}, {escaped(_who(event))}:"
                yield from (f"    | {escaped(line)}" for line in passage.splitlines())


def _who(event: Event) -> str:
    match event:
        case ToolCall():
            return f"call of {event.name}"
        case ToolResult():
            return "result"
        case Message():
            return str(event.kind)
    return "record"


def _text(event: Event) -> str:
    match event:
        case ToolCall(arguments=str() as text):
            return decoded(text)
        case ToolCall(arguments=dict() as named):
            return "\n".join(
                f"{name}: {decoded(str(leaf))}"
                for name, argument in named.items()
                for leaf in leaves(argument)
            )
        case ToolCall():
            return "\n".join(decoded(str(leaf)) for leaf in leaves(event.arguments))
        case Message() | ToolResult():
            return decoded(event.text)
    return ""


def _around(text: str, value: str, most: int) -> str:
    """Return what stands around the first place of *value*, "" if it stands nowhere."""
    at = text.find(value)
    if at < 0:
        return ""
    start, end = max(0, at - most), at + len(value) + most
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
