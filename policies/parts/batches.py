"""Clearing in batches: what is old is cleared together, so that the prefix breaks seldom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.parts.clearing import clear, clearable
from policies.parts.ranking import ByPosition
from policies.parts.units import counted
from sim.actions import Evict, Rewrite
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Batches"]


class Batches:
    """Clears what *old* accepts once it has been in *age* calls, as soon as *batch* tokens can go.

    Each becomes a tagged stub of *stub* tokens; thinking leaves nothing. What is no longer than a
    stub stays, and so does what has been cleared before and was fetched again.
    """

    def __init__(
        self, old: Callable[[View, Segment], bool], age: int, batch: int, stub: int
    ) -> None:
        self._old = old
        self._age = age
        self._batch = batch
        self._stub = stub
        self._cleared: set[str] = set()
        self._waiting: ByPosition

    def start(self, view: View) -> None:
        """Ask for what can be cleared, in the order of the request."""
        self._waiting = ByPosition(lambda s: self._clearable(s) and self._old(view, s))
        self._waiting.start(view)

    def first(self, view: View) -> Segment | None:
        """Return the front-most segment that a batch to come will clear, or None."""
        return next(iter(self._waiting.candidates(view)), None)

    def before_call(self, view: View) -> Iterator[Rewrite | Evict]:
        """Clear a batch if there is one."""
        waiting = self._waiting.candidates(view)
        due = [s for s in waiting if view.turn - s.admitted_turn >= self._age]
        if counted(view, due) < self._batch:
            return
        for segment in due:
            self._cleared.add(segment.id)
            if segment.kind is Kind.THINKING:
                yield Evict(segment.id, "lease")
            else:
                yield clear(segment, self._stub, "lease")

    def _clearable(self, segment: Segment) -> bool:
        return segment.id not in self._cleared and clearable(segment, self._stub)
