"""A recorded session as what came in when: the half-way form between its events and its script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sim.segments import Kind

__all__ = ["Asked", "Compacted", "Draft", "Fetched", "Place", "Session", "Written", "clean"]


def clean(text: str) -> str:
    """Return *text* fit for output: what cannot be printed or encoded is replaced."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "�" for c in text)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands in a text that is over its budget, in tokens, None if that is unclear.

    *kept* is whether the reduced text still has it.
    """

    at: int | None
    kept: bool


@dataclass(slots=True, eq=False)
class Draft:
    """A segment to be, before settings give it a score and a copy.

    *turn* is 0 until it is known which call it leads up to. *time* is a tool's latency from its
    call, or until the turn is settled the time of the record. *place* and *part* are where the
    record has it, as its event says.
    """

    id: str
    kind: Kind
    tokens: int
    time: float | None = None
    turn: int = 0
    path: str | None = None
    tool: str | None = None
    pair: str | None = None
    pinned: bool = False
    injected: bool = False
    place: int = 0
    part: int | None = None
    keys: dict[str, Place | None] = field(default_factory=dict)
    """Values that queries ask of it, in order, with their place if it is over its budget."""
    max_result_tokens: int | None = None
    reduced_tokens: int | None = None
    delta_tokens: int | None = None
    pages: bool = False

    @property
    def text_key(self) -> str:
        """The key of a fact that only the whole text of the segment states."""
        return f"text of {self.id}"


@dataclass(frozen=True, slots=True)
class Written:
    """A successful write of *path*; *tokens* is its new size where the call gave it whole."""

    turn: int
    path: str
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Asked:
    """Model call *turn* mentions *key*, a value that *source* brought, in *mention*.

    *holders* are all texts so far in which it could be read, the source among them.
    """

    turn: int
    key: str
    source: Draft
    mention: Draft
    holders: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What leads up to call *turn* holds once more what *source*, a read, brought: a fetch.

    *call* asked for it, *place* and *part* are where the record has what came.
    """

    turn: int
    source: Draft
    call: Draft
    place: int
    part: int | None


@dataclass(slots=True)
class Compacted:
    """The recording's harness compacted before call *turn* + 1.

    *tokens* is the size of the summary, None if it is not recorded; *before* that of the prompt
    that was compacted. What stood at *kept_from* or behind it stayed, as did what came after the
    boundary at *place*.
    """

    turn: int
    trigger: str
    place: int
    tokens: int | None = None
    before: int | None = None
    kept_from: int | None = None


@dataclass(slots=True)
class Session:
    """One thread of a recorded session.

    A turn is one model call and all that leads up to it: what the call before wrote, the results
    of its tools and the user's messages. Sizes are tokens, times seconds.
    """

    tokens_from: str
    turns: int = 0
    arrivals: list[Draft] = field(default_factory=list)
    writes: list[Written] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    waits: dict[int, float] = field(default_factory=dict)
    output_tokens: dict[int, int] = field(default_factory=dict)
    recorded: dict[int, dict[str, int]] = field(default_factory=dict)
    fetched: list[Fetched] = field(default_factory=list)
    compactions: list[Compacted] = field(default_factory=list)
    models: Counter[str] = field(default_factory=Counter)
    """How many of the calls each model made, by the name that the record gives it."""
    window: int | None = None
    """The model's context window, where the record says it."""

    def uncut(self, image_tokens: int) -> list[int]:
        """Return for each turn the size of a request from which nothing was ever removed."""
        sizes = [0] * (self.turns + 1)
        for draft in self.arrivals:
            sizes[draft.turn] += image_tokens if draft.kind is Kind.IMAGE else draft.tokens
        for turn in range(1, self.turns + 1):
            sizes[turn] += sizes[turn - 1]
        return sizes[1:]

    def first(self) -> Iterator[Draft]:
        """Yield what leads up to the first call."""
        return (draft for draft in self.arrivals if draft.turn == 1)
