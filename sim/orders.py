"""Ordered access to the resident segments, kept up to date as they change.

A policy asks for the orders it needs once, when it starts; from then on every change of a segment
costs O(log n) per order and nothing is ever scanned or sorted anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from sortedcontainers import SortedList

from sim.salience import TIE, Decay
from sim.segments import Segment

__all__ = ["Order", "SalienceOrder"]

Member = Callable[[Segment], bool]

_Entry = tuple[Any, int, Segment]


class Order:
    """Resident segments that *member* accepts, ascending by *key*, ties older first.

    *key* and *member* may read any field of the segment; the window re-reads both whenever one of
    them changes. Segments may leave, come or change while it is iterated: it goes on behind the
    last one given.
    """

    __slots__ = ("_changes", "_entries", "_key", "_list", "_member")

    def __init__(self, key: Callable[[Segment], Any], member: Member) -> None:
        self._key = key
        self._member = member
        self._entries: dict[Segment, _Entry] = {}
        self._list: Any = SortedList()
        self._changes = 0

    def update(self, segment: Segment, resident: bool) -> None:
        """Take in that *segment* came, changed or left."""
        entry = self._entries.get(segment)
        if not (resident and self._member(segment)):
            if entry is not None:
                self._changes += 1
                self._list.remove(entry)
                del self._entries[segment]
            return
        key = self._key(segment)
        if entry is not None:
            if entry[0] == key:
                return
            self._list.remove(entry)
        self._changes += 1
        entry = (key, segment.seq, segment)
        self._entries[segment] = entry
        self._list.add(entry)

    def __len__(self) -> int:
        return len(self._list)

    def __iter__(self) -> Iterator[Segment]:
        return self._walk(False)

    def __reversed__(self) -> Iterator[Segment]:
        return self._walk(True)

    def __contains__(self, segment: Segment) -> bool:
        return segment in self._entries

    def first(self) -> Segment | None:
        """Return the lowest, or None if there is none."""
        return next(iter(self), None)

    def last(self) -> Segment | None:
        """Return the highest, or None if there is none."""
        return next(reversed(self), None)

    def _walk(self, backward: bool) -> Iterator[Segment]:
        for entry in self._entries_from(None, backward):
            yield entry[2]

    def _entries_from(self, behind: _Entry | None, backward: bool) -> Iterator[_Entry]:
        """Yield the entries behind *behind*, or all, whatever changes in the meantime."""
        while True:
            changes = self._changes
            if backward:
                rest = self._list.irange(None, behind, (True, False), reverse=True)
            else:
                rest = self._list.irange(behind, None, (False, True))
            for entry in rest:
                behind = entry
                yield entry
                if self._changes != changes:
                    break
            else:
                return


class SalienceOrder(Order):
    """Resident segments by salience, lowest first, ties older first."""

    __slots__ = ("_decay", "_now")

    def __init__(self, decay: Decay, now: Callable[[], int], member: Member) -> None:
        super().__init__(decay.rank, member)
        self._decay = decay
        self._now = now

    def _walk(self, backward: bool) -> Iterator[Segment]:
        behind: _Entry | None = None
        while (entry := next(self._entries_from(behind, backward), None)) is not None:
            close = self._close(entry, backward)
            if close:
                behind = close[-1]
                yield from self._settled(close, backward)
                continue
            for other in self._entries_from(behind, backward):
                if other[0] != entry[0]:
                    break
                behind = other
                yield other[2]

    def _close(self, entry: _Entry, backward: bool) -> list[_Entry]:
        """Return the entries from *entry* on that only the product can tell apart, if any."""
        entries = self._list
        if backward:
            neighbour = entries.bisect_left((entry[0],)) - 1
        else:
            neighbour = entries.bisect_right((entry[0], math.inf))
        if not (0 <= neighbour < len(entries) and _near(entry, entries[neighbour])):
            return []
        close: list[_Entry] = []
        start, end = (None, entry) if backward else (entry, None)
        for other in entries.irange(start, end, reverse=backward):
            if close and not _near(close[-1], other):
                break
            close.append(other)
        return close

    def _settled(self, close: list[_Entry], backward: bool) -> Iterator[Segment]:
        settled = self._decay.settle([entry[2] for entry in close], self._now())
        unchanged = {entry[2]: entry for entry in close}
        for segment in reversed(settled) if backward else settled:
            if self._entries.get(segment) is unchanged[segment]:
                yield segment


def _near(one: _Entry, other: _Entry) -> bool:
    low, high = sorted((one[0][0], other[0][0]))
    return bool(low == high or high - low <= TIE)
