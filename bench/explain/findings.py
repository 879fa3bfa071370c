"""Every wrong answer of a run with the event that made it inevitable, in one pass of the records.

A wrong answer is one that is confabulated, stale or abstained, or an act that could not read what
it requires: a violation. A deferred answer is none.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.explain.rebuilt import Rebuilt, named
from bench.explain.standing import Reader, Subject, Watch
from bench.explain.stated import Stated

if TYPE_CHECKING:
    from bench.explain.rebuilt import Item
    from sim.records import Record
    from sim.script import Script

__all__ = ["WRONG", "Finding", "Told", "findings", "is_wrong", "tell"]

WRONG = ("confabulated", "stale", "abstained", "violation")
"""Outcomes that are wrong, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Told:
    """A run as explanations see it: its records, and what its script adds to them."""

    records: Sequence[Record]
    settings: Mapping[str, Any]
    stated: Stated

    def rebuilt(self) -> Rebuilt:
        """Return a fresh world, before the first record."""
        return Rebuilt(float(self.settings["salience.decay"]), self.stated)

    def rebuilt_whole(self) -> Rebuilt:
        """Return the world as it is behind the last record."""
        world = self.rebuilt()
        for index, record in enumerate(self.records):
            world.apply(record, self.follower(index))
        return world

    def follower(self, index: int) -> Record | None:
        """Return the record after that at *index*."""
        return self.records[index + 1] if index + 1 < len(self.records) else None


def tell(script: Script, records: Sequence[Record]) -> Told:
    """Return the run of *script* that left *records*."""
    return Told(records, script.settings, Stated(script))


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer or act, and how what it asked for stood.

    *cause* is the reader's row, empty for an act; *segment* what the reader looked at; *missing*
    what an act could not read. *level* is how it stood (``bench.explain.standing``); *lost* is the
    index of the record by which it was lost, *opened* of that which left it open.
    """

    index: int
    turn: int
    what: str
    id: str
    outcome: str
    key: str = ""
    cause: str = ""
    value: str = ""
    segment: str | None = None
    missing: tuple[str, ...] = ()
    level: str = ""
    lost: int | None = None
    opened: int | None = None
    carriers: tuple[str, ...] = ()
    """Segments that had brought the fact by then, oldest first; of an act what it missed."""
    items: Mapping[str, Item] = field(default_factory=dict, compare=False, repr=False)
    """Every segment as the whole run left it."""

    @property
    def wrong(self) -> bool:
        """Whether it is a wrong answer."""
        return self.outcome in WRONG


def is_wrong(record: Record) -> bool:
    """Whether *record* is a wrong answer or a violation."""
    if record[0] == "act":
        return bool(record[5])
    return record[0] == "answer" and record[6] in WRONG


def findings(told: Told, ids: Collection[str] = ()) -> list[Finding]:
    """Return the wrong answers of a run, or the answers and acts *ids*, in order."""
    wanted = {
        index
        for index, record in enumerate(told.records)
        if record[0] in ("answer", "act") and (record[3] in ids if ids else is_wrong(record))
    }
    if not wanted:
        return []
    asked = {subject for i in wanted for subject in _subjects(told.records[i])}
    watch = Watch(asked, Reader.of(told.settings))
    world, found = told.rebuilt(), []
    for index, record in enumerate(told.records):
        if index in wanted:
            found.append(_finding(world, watch, index, record))
        watch.add(world, index, world.apply(record, told.follower(index)))
    return found


def _subjects(record: Record) -> list[Subject]:
    values = named(record)
    if record[0] == "answer":
        return [("fact", values["key"])]
    return [("segment", name) for name in values["missing"] or values["requires"]]


def _finding(world: Rebuilt, watch: Watch, index: int, record: Record) -> Finding:
    values = named(record)
    stood = [watch.at(subject) for subject in _subjects(record)]
    first = min(stood, key=lambda s: (s[1] is None, s[1] or 0), default=("absent", None, None))
    if record[0] == "act":
        outcome = "violation" if values["missing"] else "kept"
        names = tuple(values["missing"] or values["requires"])
        return Finding(
            index, record[2], "act", values["act"], outcome, missing=tuple(values["missing"]),
            level=first[0], lost=first[1], opened=first[2], carriers=names, items=world.items,
        )  # fmt: skip
    key = values["key"]
    return Finding(
        index, record[2], "query", values["query"], values["outcome"], key, values["cause"],
        values["value"] or "", values["segment"], (), *first,
        tuple(item.id for item in world.carriers.get(key, ())), world.items,
    )  # fmt: skip
