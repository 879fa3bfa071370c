"""Why a segment is where it is: what happened to it, and to what stood for it, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["Entry", "Histories"]

Entry = tuple[Any, ...]
"""``(segment, what, turn, *details)``; see :meth:`Histories.why`."""

_SUCCEEDED = frozenset({"rewritten", "restored"})
"""Entries whose first detail is what takes the segment's place."""


class Histories:
    """What the records say of every segment, noted in constant time and told on request."""

    __slots__ = ("_events",)

    def __init__(self) -> None:
        self._events: dict[str, list[tuple[int, Entry]]] = {}

    def __contains__(self, segment: str) -> bool:
        return segment in self._events

    def open(self, segment: str) -> None:
        """Begin the history of *segment*."""
        self._events[segment] = []

    def note(self, segment: str, index: int, entry: Entry) -> None:
        """Add *entry*, made by the record at *index*, to the history of *segment*."""
        self._events[segment].append((index, entry))

    def why(self, segment: str) -> tuple[Entry, ...]:
        """Return the chain of *segment*, oldest entry first.

        An entry holds the id of the segment it is about, then

        - ``"admitted", turn, how`` or ``"fetched", turn``,
        - ``"never-admitted", turn, reason``,
        - ``"evicted", turn, book, reason`` or ``"truncated", turn``,
        - ``"rewritten", turn, surrogate, tagged``,
        - for a surrogate ``"restored", turn, segment``.

        After ``rewritten`` and ``restored`` comes what became of the stand-in, and of what replaced
        that, until the segment itself is back. Raises KeyError for a segment that no record names.
        """
        if segment not in self._events:
            raise KeyError(f"no record names a segment {segment!r}")
        chain: list[Entry] = []
        events = self._events[segment]
        for at, (_, entry) in enumerate(events):
            chain.append(entry)
            if entry[1] in _SUCCEEDED:
                until = events[at + 1][0] if at + 1 < len(events) else None
                chain.extend(self._successors(entry[3], until))
        return tuple(chain)

    def _successors(self, stand_in: str, until: int | None) -> Iterator[Entry]:
        """Yield what became of *stand_in* and of its own successors before the record *until*."""
        following: str | None = stand_in
        while following is not None:
            subject, following = following, None
            for index, entry in self._events[subject]:
                if until is not None and index >= until:
                    return
                yield entry
                if entry[1] in _SUCCEEDED:
                    following = entry[3]
