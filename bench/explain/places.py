"""Where a segment was at every turn, and what the window held at one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.explain.findings import Told
    from bench.explain.rebuilt import Item, Rebuilt

__all__ = ["Place", "Stay", "at_calls", "stays", "window_at"]


@dataclass(frozen=True, slots=True)
class Place:
    """A resident segment at a call: *position* from 0, its tokens and its salience."""

    position: int
    segment: str
    kind: str
    tokens: int
    salience: float
    pinned: bool
    stands_for: tuple[str, ...] = ()


@dataclass(slots=True)
class Stay:
    """Turns, from *first* to *last*, in which a segment was in one place.

    *where* is ``resident``, ``as surrogate``, ``absent`` or ``kept out``; *stand_in* is what stood
    for it. *positions* has one for each turn, None where it has no place in the window.
    """

    first: int
    last: int
    where: str
    tokens: int | None
    salience: tuple[float, float]
    stand_in: str = ""
    stale: bool = False
    positions: list[int | None] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return everything by name."""
        return {
            "first_turn": self.first,
            "last_turn": self.last,
            "where": self.where,
            "stand_in": self.stand_in or None,
            "stale": self.stale,
            "tokens": self.tokens,
            "salience_first": self.salience[0],
            "salience_last": self.salience[1],
            "positions": list(self.positions),
        }


def stays(told: Told, segment: str) -> list[Stay]:
    """Return where *segment* was at each turn's call, from its arrival on, runs of turns together.

    A turn that ended before its call counts as it ended.
    """
    found: list[Stay] = []
    for _, world in at_calls(told):
        if segment in world.items:
            _stay(found, world, world.items[segment])
    return found


def at_calls(told: Told) -> Iterator[tuple[int, Rebuilt]]:
    """Yield the window of each turn as it was at the turn's first call, with that record's index.

    Of a turn that ended before its call, it is as it ended.
    """
    world, seen = told.rebuilt(), 0
    for index, record in enumerate(told.records):
        ends = record[0] in ("turn", "end") and world.turn > seen
        calls = record[0] == "call" and not record[12] and world.turn > seen
        if ends or calls:
            yield index, world
            seen = world.turn
        world.apply(record, told.follower(index))


def _stay(found: list[Stay], world: Rebuilt, item: Item) -> None:
    there = item if item.resident else next(item.stand_ins(), None)
    s = world.salience(item)
    where, stand_in, tokens, position = "absent", "", None, None
    if there is not None:
        where = "resident" if there is item else "as surrogate"
        stand_in = "" if there is item else there.id
        tokens, position = there.tokens, world.window.index(there)
    elif not item.admitted and item.original:
        where = "kept out"
    stale = item.resident and item.original and not world.current(item)
    last = found[-1] if found else None
    same = last is not None and (last.where, last.stand_in, last.tokens, last.stale) == (
        where,
        stand_in,
        tokens,
        stale,
    )
    if last is not None and same and (last.salience[1] >= s or last.salience[1] == 0.0):
        last.last, last.salience = world.turn, (last.salience[0], s)
        last.positions.append(position)
        return
    found.append(Stay(world.turn, world.turn, where, tokens, (s, s), stand_in, stale, [position]))


def window_at(told: Told, turn: int) -> list[Place]:
    """Return what the request of *turn* held, in order; of a turn without one, what was left."""
    world = told.rebuilt()
    for index, record in enumerate(told.records):
        over = record[2] > turn or record[0] == "end"
        if over or (record[2] == turn and record[0] == "call"):
            break
        world.apply(record, told.follower(index))
    return [
        Place(
            position,
            item.id,
            item.kind,
            item.tokens,
            world.salience(item, turn),
            item.pinned,
            tuple(source.id for source in item.originals()) if item.sources else (),
        )
        for position, item in enumerate(world.window)
    ]
