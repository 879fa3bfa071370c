"""The reader: the simulated model, and what it answers when it is asked for a fact.

What happens is decided by provenance, never by comparing values: an answer from an invent branch
is a confabulation even where it guesses right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.paging import shows, wanted_page
from sim.segments import Kind, Segment, State, stand_ins
from sim.streams import uniform

if TYPE_CHECKING:
    from sim.settings import Settings
    from sim.store import Store

__all__ = ["Reader", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader does: give an answer, or ask for *wanted* first.

    *outcome* is correct, stale, confabulated, abstained or, where *wanted* is set, fetch, or page
    for the page *page* of a result; *cause* the row of the reader's table that applied.
    """

    outcome: str
    cause: str
    segment: Segment | None = None
    value: str = ""
    wanted: Segment | None = None
    page: int = 0


class Reader:
    """Answers queries from what is resident, with the probabilities of its preset."""

    __slots__ = ("_carriers", "_seed", "_settings", "_store")

    def __init__(
        self,
        settings: Settings,
        store: Store,
        carriers: dict[str, list[Segment]],
        seed: int,
    ) -> None:
        self._settings = settings
        self._store = store
        self._carriers = carriers
        self._seed = seed

    def draw(self, query: str) -> float:
        """Return the number that decides what this query's reader does with a surrogate."""
        return uniform(self._seed, "reader", query)

    def fetches(self, query: str, surrogate: Segment) -> bool:
        """Whether the reader asks for the source of *surrogate*, if that has a copy."""
        if self._settings.reader_refetch == "always":
            return True
        return surrogate.tagged and self.draw(query) < self._settings.reader_fetch_tagged

    def meets(self, key: str) -> Reading | None:
        """Return how *key* can be read now: in a full current copy, or a surrogate that kept it."""
        carriers = self._carriers.get(key, [])
        for reading in (self._from_full(key, carriers), self._from_kept(key, carriers)):
            if reading is not None and reading.outcome == "correct":
                return reading
        return None

    def read(self, query: str, key: str) -> Reading:
        """Return what the first row that applies says about *key*."""
        carriers = self._carriers.get(key, [])
        return (
            self._from_full(key, carriers)
            or self._from_kept(key, carriers)
            or self._from_page(query, key, carriers)
            or self._from_surrogate(query, key, carriers)
            or self._from_nothing(carriers)
        )

    def distracted(self, query: str, reading: Reading, bulk_files: int) -> Reading:
        """Return *reading*, or a wrong answer drawn from one of the resident bulk files."""
        p = self._settings.reader_distraction
        if p <= 0.0 or reading.outcome != "correct" or bulk_files <= 0:
            return reading
        if uniform(self._seed, "distraction", query) >= 1.0 - (1.0 - p) ** bulk_files:
            return reading
        return Reading("confabulated", "distraction", reading.segment)

    def _from_full(self, key: str, carriers: list[Segment]) -> Reading | None:
        old: Segment | None = None
        for segment in _stating(key, carriers):
            if segment.kind is not Kind.SUMMARY:
                if self._store.current(segment):
                    return Reading("correct", "full", segment, _value(segment, key))
                old = old or segment
        return None if old is None else Reading("stale", "stale", old, _value(old, key))

    def _from_kept(self, key: str, carriers: list[Segment]) -> Reading | None:
        invented: Segment | None = None
        old: Segment | None = None
        for segment in _stating(key, carriers):
            if segment.kind is Kind.SUMMARY:
                return Reading("correct", "kept", segment, _value(segment, key))
        for source, surrogate in _surrogates(carriers):
            if key in surrogate.made_up:
                invented = invented or surrogate
            elif key in surrogate.kept:
                if self._store.current_as_of(source, surrogate.as_of.get(source.id)):
                    return Reading("correct", "kept", surrogate, _value(source, key))
                old = old or surrogate
        if old is not None:
            return Reading("stale", "stale", old)
        if invented is not None:
            return Reading("confabulated", "invented", invented, _prior(carriers, key))
        return None

    def _from_surrogate(self, query: str, key: str, carriers: list[Segment]) -> Reading | None:
        lost = list(_surrogates(carriers))
        untagged = next((pair for pair in lost if not pair[1].tagged), None)
        source, surrogate = untagged or (lost[0] if lost else (None, None))
        if source is None or surrogate is None:
            return None
        cause = "tagged" if surrogate.tagged else "untagged"
        copied = next((s for s, t in lost if s.copy and t.tagged == surrogate.tagged), None)
        if self.fetches(query, surrogate):
            if copied is not None:
                return Reading("fetch", cause, surrogate, wanted=copied)
            if surrogate.tagged:
                return Reading("abstained", cause, surrogate)
        if surrogate.tagged:
            return self._does_without(query, key, cause, surrogate, carriers)
        if self.draw(query) < self._settings.reader_invent_untagged:
            return Reading("confabulated", cause, surrogate, _prior(carriers, key))
        return Reading("abstained", cause, surrogate)

    def _from_page(self, query: str, key: str, carriers: list[Segment]) -> Reading | None:
        """Ask for the page that may hold *key*; a cursor or pointer is seen like a tag."""
        for segment in reversed(carriers):
            page = wanted_page(segment, key)
            if page is None or not shows(segment, page):
                continue
            if self.draw(query) < self._settings.reader_fetch_tagged:
                return Reading("page", "paged", segment, wanted=segment, page=page)
            return self._does_without(query, key, "paged", segment, carriers)
        return None

    def _does_without(
        self, query: str, key: str, cause: str, seen: Segment, carriers: list[Segment]
    ) -> Reading:
        """Abstain or invent, where what is *seen* says that something is missing."""
        settings = self._settings
        rest = settings.reader_abstain_tagged + settings.reader_invent_tagged
        share = settings.reader_abstain_tagged / rest if rest > 0.0 else 1.0
        fetch = settings.reader_fetch_tagged
        if self.draw(query) >= fetch + (1.0 - fetch) * share:
            return Reading("confabulated", cause, seen, _prior(carriers, key))
        return Reading("abstained", cause, seen)

    def _from_nothing(self, carriers: list[Segment]) -> Reading:
        for cause, chosen in (
            ("gone", lambda s: s.admitted and not s.resident),
            ("never admitted", lambda s: s.state is State.NEVER_ADMITTED),
        ):
            found = _newest(carriers, chosen)
            if found is not None and found.copy:
                return Reading("fetch", cause, found, wanted=found)
        gone = _newest(carriers, lambda s: s.admitted and not s.resident)
        return Reading("abstained", "gone" if gone else "never admitted", gone)


def _stating(key: str, carriers: list[Segment]) -> Iterator[Segment]:
    """Yield the resident carriers whose text states *key*, newest first."""
    return (s for s in reversed(carriers) if s.resident and s.carries(key))


def _newest(carriers: list[Segment], chosen: Callable[[Segment], bool]) -> Segment | None:
    """Return the newest chosen carrier with a copy, or else the newest chosen one."""
    found: Segment | None = None
    for segment in reversed(carriers):
        if chosen(segment):
            if segment.copy:
                return segment
            found = found or segment
    return found


def _surrogates(carriers: list[Segment]) -> Iterator[tuple[Segment, Segment]]:
    """Yield (source, resident stand-in), newest source and newest stand-in first."""
    for source in reversed(carriers):
        for surrogate in reversed(list(stand_ins(source))):
            yield source, surrogate


def _value(segment: Segment, key: str) -> str:
    return next((f.value for f in segment.facts if f.key == key), "")


def _prior(carriers: list[Segment], key: str) -> str:
    return next((f.prior for s in carriers for f in s.facts if f.key == key), "")
