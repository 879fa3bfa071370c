"""The frontier: a cache breakpoint in front of what will be cleared next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from policies.parts.ranking import ByPosition, anyone
from sim.actions import Breakpoints
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Clears", "Frontier"]

_HEAD = frozenset({Kind.TOOLS, Kind.SYSTEM})


class Clears(Protocol):
    """A part that clears what is old."""

    def first(self, view: View) -> Segment | None:
        """Return the front-most segment that it will clear, or None."""


class Frontier:
    """Keeps a cache breakpoint in front of the first segment that *clearing* will clear.

    So the prefix up to the next cut is an entry that each call renews. When the breakpoint moves,
    the one before it stays for as long as the new one stands: the call with the cut reads there.
    With them stands the usual one behind tools and system; the end of the request keeps its own.
    """

    def __init__(self, clearing: Clears) -> None:
        self._clearing = clearing
        self._head = ByPosition(lambda s: s.kind in _HEAD, last_first=True)
        self._first: Segment | None = None
        self._mark: Segment | None = None
        self._before: Segment | None = None
        self._all: Order | None = None

    def start(self, view: View) -> None:
        """Ask for all segments, and for those in front, in the order of the request."""
        self._head.start(view)
        self._all = view.position_order(anyone)

    def before_call(self, view: View) -> Iterator[Breakpoints]:
        """Move the breakpoint if what it stands in front of has gone."""
        first = self._clearing.first(view)
        if first is self._first and (self._mark is None or self._mark.resident):
            return
        self._first, self._before = first, self._mark
        self._mark = None if first is None else self._in_front_of(first)
        head = next(iter(self._head.candidates(view)), None)
        chosen = [s for s in (head, self._before, self._mark) if s is not None and s.resident]
        chosen.sort(key=lambda s: s.slot)
        yield Breakpoints(tuple(dict.fromkeys(s.id for s in chosen)))

    def _in_front_of(self, first: Segment) -> Segment | None:
        """Return the segment in front of *first*; what is behind it is little while it is new."""
        behind = reversed(self._all) if self._all is not None else ()
        return next((s for s in behind if s.slot < first.slot), None)
