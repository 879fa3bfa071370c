"""What every recording is read into: a stream of neutral events, in the order of the record.

``place`` is the line, or in a JSON document the message, that an event comes from; ``time`` is in
seconds since 1970, None where the record has none. ``part`` is the place in its message, a block or
a tool call from 0, None where the event is all that no other has. ``call`` names the model call
that wrote something; what came to the agent from outside has none. ``tokens`` is the size of a text
that the record measures but does not hold; where it holds the text, it is None and the text is
counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.segments import Kind

__all__ = [
    "Compaction",
    "ContextWindow",
    "Edited",
    "Event",
    "Message",
    "Model",
    "ToolCall",
    "ToolResult",
    "Usage",
]


@dataclass(frozen=True, slots=True)
class Message:
    """A part of a message: tools, system, user, assistant or thinking, with its *images*.

    *hidden_bytes* is the length of a thought that is recorded encrypted; *injected* marks a user
    message that the harness wrote. *summary* marks the text that a compaction, which comes before
    it, left in the place of what it removed.
    """

    place: int
    time: float | None
    kind: Kind
    text: str
    images: int = 0
    call: str | None = None
    hidden_bytes: int = 0
    injected: bool = False
    summary: bool = False
    tokens: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a tool; *arguments* are decoded JSON, or the text where it is none.

    *last*: the record ends with what the model wrote, so there can be no result. *as_text*: the
    model wrote the call into its text, and the provider put nothing around it. *cwd* is the folder
    in which it was called, where the record says that.
    """

    place: int
    time: float | None
    id: str
    name: str
    arguments: Any
    call: str
    last: bool = False
    tokens: int | None = None
    as_text: bool = False
    cwd: str | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool call *id* came back with."""

    place: int
    time: float | None
    id: str
    text: str
    images: int = 0
    failed: bool = False
    tokens: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What the record says model call *call* used, in tokens; None where it does not say.

    *input_tokens* is the whole prompt, what came from the cache included.
    """

    place: int
    time: float | None
    call: str
    input_tokens: int | None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Compaction:
    """The recording's own harness replaced what was before by a summary.

    *trigger* is ``auto`` where it had to, ``manual`` where it was told to, else ``unknown``.
    *tokens* is the size of the summary, None if a message that follows holds it; *before* the size
    of the prompt that was compacted. What stands at *kept_from* and behind it stays as it was.
    """

    place: int
    time: float | None
    trigger: str
    tokens: int | None = None
    before: int | None = None
    kept_from: int | None = None


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The record says how long the model's context window is."""

    place: int
    time: float | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Edited:
    """The record says that somebody else wrote the file at *path*, the user or a program."""

    place: int
    time: float | None
    path: str


@dataclass(frozen=True, slots=True)
class Model:
    """The record says which model makes the calls from here on, by the *name* it has there."""

    place: int
    time: float | None
    name: str


Event = Message | ToolCall | ToolResult | Usage | Compaction | ContextWindow | Edited | Model
