"""Clearing in batches: what is old is cleared together, so that the prefix breaks seldom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.parts.ranking import ByPosition, anyone
from policies.parts.rewriting import taggable
from policies.parts.units import size
from sim.actions import Breakpoints, Evict, Rewrite
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Batches", "Frontier"]

_HEAD = frozenset({Kind.TOOLS, Kind.SYSTEM})


class Batches:
    """Clears what *old* accepts once it has been in *age* calls, as soon as *batch* tokens can go.

    Each becomes a tagged stub of *stub* tokens; thinking leaves nothing. What is no longer than a
    stub stays, and so does what has been cleared before and was fetched again.
    """

    def __init__(self, old: Callable[[Segment], bool], age: int, batch: int, stub: int) -> None:
        self._age = age
        self._batch = batch
        self._stub = stub
        self._cleared: set[str] = set()
        self._waiting = ByPosition(lambda s: self._clearable(s) and old(s))

    def start(self, view: View) -> None:
        """Ask for what can be cleared, in the order of the request."""
        self._waiting.start(view)

    def first(self, view: View) -> Segment | None:
        """Return the front-most segment that a batch to come will clear, or None."""
        return next(iter(self._waiting.candidates(view)), None)

    def before_call(self, view: View) -> Iterator[Rewrite | Evict]:
        """Clear a batch if there is one."""
        waiting = self._waiting.candidates(view)
        due = [s for s in waiting if view.turn - s.admitted_turn >= self._age]
        if size(due) < self._batch:
            return
        for segment in due:
            self._cleared.add(segment.id)
            if segment.kind is Kind.THINKING:
                yield Evict(segment.id, "lease")
            else:
                yield Rewrite((segment.id,), self._stub, True, "lease", stub=True)

    def _clearable(self, segment: Segment) -> bool:
        plain = not segment.held and not segment.sources and segment.id not in self._cleared
        return plain and segment.tokens > self._stub and taggable([segment])


class Frontier:
    """Keeps a cache breakpoint in front of the first segment that *batches* will clear.

    So the prefix up to the next cut is an entry that each call renews. When the breakpoint moves,
    the one before it stays for as long as the new one stands: the call with the cut reads there.
    With them stands the usual one behind tools and system; the end of the request keeps its own.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
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
        first = self._batches.first(view)
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
