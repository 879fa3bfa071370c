"""Whether what is asked for can be had at a moment of a run, and the event that ended it.

A fact is, at any moment, one of

- ``absent``: nothing that states it has come to the door and been decided on;
- ``readable``: the reader answers it correctly whatever it draws;
- ``open``: the right answer hangs on something: the reader may ask for a source, a page or a copy
  that exists;
- ``lost``: no draw of the reader leads to the right answer.

A segment that an act requires is ``absent``, ``readable`` (itself or a surrogate that kept all that
it states), or ``lost``.

*The decision that made an answer inevitable* is the event by which what was asked for became lost
for the last time before the answer: after it no draw of the reader, and nothing that happened in
the run, could give a correct answer. Where it was not lost when it was answered, the answer's own
draw is the decision, and what left it ``open`` is named beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sim.reduction import SAVED

if TYPE_CHECKING:
    from bench.explain.rebuilt import Item, Rebuilt

__all__ = [
    "ABSENT",
    "LOST",
    "OPEN",
    "READABLE",
    "Reader",
    "Subject",
    "Watch",
    "of_fact",
    "of_segment",
]

ABSENT, READABLE, OPEN, LOST = "absent", "readable", "open", "lost"

Subject = tuple[str, str]
"""``("fact", key)`` or ``("segment", id)``."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What of a run's settings decides whether the reader may ask for a source at all."""

    asks: bool
    """Whether it ever asks where a tag or a cursor says how."""
    always: bool
    """Whether it asks for the source of any surrogate."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Reader:
        """Return what the flat *settings* say."""
        always = settings["reader.refetch"] == "always"
        return cls(float(settings["reader.fetch_tagged"]) > 0.0, always)


def of_fact(world: Rebuilt, key: str, reader: Reader) -> str:
    """Return how the fact *key* stands; the rows of the reader's table, in their order."""
    carriers = world.carriers.get(key, [])
    decided = [item for item in carriers if item.admitted or item.refused]
    if not decided:
        return ABSENT
    level = _full(world, key, carriers) or _kept(world, key, carriers)
    level = level or _page(key, carriers, reader) or _surrogate(world, key, carriers, reader)
    if level is not None:
        return level
    gone = [item for item in decided if item.copy and not item.resident]
    return OPEN if any(world.would_state(item, key) for item in gone) else LOST


def _full(world: Rebuilt, key: str, carriers: Iterable[Item]) -> str | None:
    stating = [i for i in carriers if i.resident and i.states(key) and i.kind != "summary"]
    if not stating:
        return None
    return READABLE if any(world.current(item) for item in stating) else LOST


def _kept(world: Rebuilt, key: str, carriers: Iterable[Item]) -> str | None:
    if any(i.resident and i.states(key) and i.kind == "summary" for i in carriers):
        return READABLE
    found = None
    for source in carriers:
        for surrogate in source.stand_ins():
            if key in surrogate.made_up:
                found = LOST
            elif key in surrogate.kept:
                if world.current_as_of(source, surrogate):
                    return READABLE
                found = LOST
    return found


def _page(key: str, carriers: Iterable[Item], reader: Reader) -> str | None:
    for item in carriers:
        if item.form not in ("page", *SAVED) or key not in item.lost & item.keys:
            continue
        came = [page for page in item.pages if page.admitted]
        if any(key in page.keys for page in came):
            continue
        shown = item.resident or (item.form == "page" and bool(came) and came[-1].resident)
        if shown:
            return OPEN if reader.asks else LOST
    return None


def _surrogate(world: Rebuilt, key: str, carriers: Iterable[Item], reader: Reader) -> str | None:
    pairs = [(source, stand_in) for source in carriers for stand_in in source.stand_ins()]
    if not pairs:
        return None
    tagged = all(stand_in.tagged for _, stand_in in pairs)
    asks = reader.always or (tagged and reader.asks)
    copied = any(
        source.copy and stand_in.tagged == tagged and world.would_state(source, key)
        for source, stand_in in pairs
    )
    return OPEN if asks and copied else LOST


def of_segment(world: Rebuilt, name: str) -> str:
    """Return how the segment *name*, which an act requires, stands."""
    item = world.items.get(name)
    if item is None or not (item.admitted or item.refused):
        return ABSENT
    kept = bool(item.keys) and any(
        item.keys <= stand_in.kept - stand_in.made_up for stand_in in item.stand_ins()
    )
    return READABLE if item.resident or kept else LOST


@dataclass(slots=True)
class _Since:
    level: str = ABSENT
    lost: int | None = None
    """Index of the record by which it last became lost."""
    opened: int | None = None
    """Index of the record by which it last ceased to be readable, or came in as less."""


class Watch:
    """Follows how *subjects* stand, and remembers which record last changed each of them."""

    def __init__(self, subjects: Iterable[Subject], reader: Reader) -> None:
        self._since = {subject: _Since() for subject in subjects}
        self._reader = reader

    def add(self, world: Rebuilt, index: int, concerned: Iterable[Item]) -> None:
        """Take in the record at *index*, which *world* has taken in and which concerns these."""
        subjects: dict[Subject, None] = {}
        for item in concerned:
            parts = [*item.originals()]
            parts += [part.page_of for part in parts if part.page_of is not None]
            for part in parts:
                subjects[("segment", part.id)] = None
                for key in sorted(part.ever):
                    subjects[("fact", key)] = None
        for subject in subjects:
            since = self._since.get(subject)
            if since is not None:
                self._settle(world, since, subject, index)

    def _settle(self, world: Rebuilt, since: _Since, subject: Subject, index: int) -> None:
        level = self.level(world, subject)
        if level == since.level:
            return
        if level == LOST:
            since.lost = index
        if since.level == READABLE or (since.level == ABSENT and level != READABLE):
            since.opened = index
        since.level = level

    def level(self, world: Rebuilt, subject: Subject) -> str:
        """Return how *subject* stands now."""
        what, name = subject
        if what == "segment":
            return of_segment(world, name)
        return of_fact(world, name, self._reader)

    def at(self, subject: Subject) -> tuple[str, int | None, int | None]:
        """Return its level, the record by which it was lost, and that which left it open."""
        since = self._since[subject]
        lost = since.lost if since.level == LOST else None
        return since.level, lost, since.opened if since.level in (OPEN, LOST) else None
