"""Where segments come from: the blocks of the history that each of them is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from live.blocks import Block, Sort
from live.dialects import Dialect
from scenarios.transcripts.session import Draft, Fetched
from sim.segments import Kind, Segment

__all__ = ["Echo", "Home", "Homes", "single"]

Spot = tuple[int, int]
"""A message by number from 1, and a block of it by number from 0."""


@dataclass(frozen=True, slots=True)
class Home:
    """What a segment is in the history: the blocks *at* these places of message *place*.

    *image* is which image of the result there it is, 0 if it is none. *slot* is the position at
    which it entered: a segment that stands elsewhere has been brought back. Place 0 is what stands
    beside the messages.
    """

    place: int
    at: tuple[int, ...]
    image: int
    slot: int
    kind: Kind
    pair: str | None


@dataclass(frozen=True, slots=True)
class Echo:
    """A call that led up to *turn* and brought, in *result*, what segment *source* had brought."""

    source: str
    turn: int
    call: Spot
    result: Spot


class Homes:
    """The history as blocks, and of each segment which of them it is."""

    def __init__(self, dialect: Dialect) -> None:
        self.blocks: list[list[Block]] = []
        """Of each message, by number less 1."""
        self.plain: Sequence[Mapping[str, Any]] = ()
        self.by_id: dict[str, Home] = {}
        self.calls: dict[str, str] = {}
        """The call of each pair."""
        self.results: dict[str, list[str]] = defaultdict(list)
        """What else belongs to each pair: the result, and the images in it."""
        self.echoes: list[Echo] = []
        self._owned: set[Spot] = set()
        self._pairs: dict[Spot, str] = {}
        self._loose: list[int] = []
        self._sifted = 0
        """How many messages are known to be loose or not."""
        self._dialect = dialect

    def grow(self, plain: Sequence[Mapping[str, Any]]) -> None:
        """Take in the whole history as it is now."""
        self.plain = plain
        for place in range(len(self.blocks) + 1, len(plain) + 1):
            self.blocks.append(self._dialect.blocks(place, plain[place - 1]))

    def settle(
        self, drafts: Sequence[Draft], fetched: Sequence[Fetched], log: Mapping[str, Segment]
    ) -> None:
        """Take in where the segments of a turn, which are in the *log* by now, come from."""
        for draft in drafts:
            at, image = self._at(draft)
            slot = log[draft.id].slot
            home = Home(draft.place, at, image, slot, draft.kind, draft.pair)
            self.by_id[draft.id] = home
            self._owned.update((draft.place, number) for number in at)
            if draft.kind is Kind.TOOL_CALL and draft.pair is not None:
                self.calls[draft.pair] = draft.id
                self._pairs.update({(draft.place, number): draft.pair for number in at})
            elif draft.pair is not None:
                self.results[draft.pair].append(draft.id)
        for each in fetched:
            (call,), _ = self._at(each.call)
            result = self._dialect.at(Kind.FILE, each.part, self.blocks[each.place - 1])[0]
            spots = (each.call.place, call), (each.place, result)
            self.echoes.append(Echo(each.source.id, each.turn, *spots))

    def _at(self, draft: Draft) -> tuple[tuple[int, ...], int]:
        """Return the blocks that a draft is, and which image of a result."""
        if not draft.place:
            return (), 0
        found = self._dialect.at(draft.kind, draft.part, self.blocks[draft.place - 1])
        if draft.kind is not Kind.IMAGE:
            return tuple(found), 0
        number = int(draft.id.rpartition("-")[2])
        return (tuple(found), number) if draft.pair else (tuple(found[number - 1 : number]), 0)

    def of(self, place: int) -> list[Block]:
        """Return the blocks of message *place*."""
        return self.blocks[place - 1]

    def loose(self) -> Sequence[int]:
        """Return the messages of which no block is a segment, a call or a result."""
        for place in range(self._sifted + 1, len(self.blocks) + 1):
            if all(self.rides(place, number) for number in range(len(self.of(place)))):
                self._loose.append(place)
        self._sifted = len(self.blocks)
        return self._loose

    def pair_at(self, call: Spot) -> str | None:
        """Return the pair of a call by where it stands, None if it is no segment."""
        return self._pairs.get(call)

    def segments(self, what: int | str) -> list[str]:
        """Return the segments of a message by number, from 0, or of a call by its id."""
        if isinstance(what, int):
            return [name for name, home in self.by_id.items() if home.place == what + 1]
        called = (Sort.CALL, Sort.SERVED_CALL)
        spots = (
            (place, number)
            for place, blocks in enumerate(self.blocks, 1)
            for number, block in enumerate(blocks)
            if block.sort in called and block.id == what
        )
        pairs = (self.pair_at(spot) for spot in spots)
        return [n for p in pairs if p is not None for n in (self.calls[p], *self.results[p])]

    def rides(self, place: int, number: int) -> bool:
        """Whether a block is nothing that the simulator knows: it goes with those beside it."""
        sorts = (Sort.CALL, Sort.RESULT, Sort.SERVED_CALL, Sort.SERVED_RESULT)
        return (place, number) not in self._owned and self.of(place)[number].sort not in sorts


def single(segment: Segment) -> Segment:
    """Return what *segment* stands for alone in the end; itself if that is several or none."""
    while len(segment.sources) == 1:
        (segment,) = segment.sources
    return segment
