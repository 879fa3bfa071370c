"""What the adapter asks of a message format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from live.blocks import Block, Shown
from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from sim.segments import Kind

__all__ = ["Dialect", "Fragment"]

Message = Mapping[str, Any]


@dataclass(slots=True)
class Fragment:
    """A stretch of a request: what is *shown* of one message of the history, or words of our own.

    *place* is the message's number from 1, 0 for what is ours; then *content* are its blocks.
    """

    role: str
    place: int = 0
    shown: dict[int, Shown] = field(default_factory=dict)
    content: list[Any] = field(default_factory=list)


class Dialect(Protocol):
    """A message format: how messages come apart into blocks, and how fragments make messages."""

    name: str
    user_ends: bool
    """Whether a request must begin and end with a message of the user's."""

    def read(self, document: Any, findings: Findings, since: int) -> Iterator[Event]:
        """Yield the events of a document, its first messages, *since* of them, left out."""
        ...

    def head(self, system: Any, tools: Any) -> dict[str, Any]:
        """Return what a document holds besides its messages.

        Raises InputError for what the format has no place for.
        """
        ...

    def blocks(self, place: int, message: Message) -> list[Block]:
        """Return the blocks of message number *place*, in order."""
        ...

    def at(self, kind: Kind, part: int | None, blocks: Sequence[Block]) -> list[int]:
        """Return where among *blocks* a segment of *kind* stands, its event's *part* given."""
        ...

    def text(self, message: Message, at: Sequence[int]) -> str:
        """Return the text of the blocks *at* these places of a message."""
        ...

    def called(self, message: Message, at: int) -> tuple[str, Any]:
        """Return the tool and the arguments of the call *at* this place of a message."""
        ...

    def image(self, message: Message, at: int, number: int) -> Any:
        """Return an image as content: the block at *at*, or image *number* of the result there."""
        ...

    def missing(self, message: Message, call: str, words: str) -> Fragment:
        """Return a result that says *words*, for the *call* of a message."""
        ...

    def messages(
        self, history: Sequence[Any], plain: Sequence[Message], request: Sequence[Fragment]
    ) -> list[Any]:
        """Return the request as messages; a message that is shown whole is the caller's own."""
        ...
