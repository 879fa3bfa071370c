"""Reads: of each file that was read more than once, the reads that a newer one has outdated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.parts.clearing import is_result
from policies.parts.stubs import stubbable

if TYPE_CHECKING:
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OlderReads"]


class OlderReads:
    """The resident reads of a file but the newest that a stub of *tokens* is shorter than.

    The model has no ranges of a file: whatever was read of a path is the same.
    """

    def __init__(self, tokens: int) -> None:
        self._stub = tokens
        self._newest: dict[str | None, Segment] = {}
        self._older: dict[Segment, None] = {}
        self._seen = -1
        """The slot of the last read that was looked at."""
        self._reads: Order | None = None

    def start(self, view: View) -> None:
        """Ask for what was read, in the order of the request."""
        self._reads = view.position_order(_is_read)

    def waiting(self) -> list[Segment]:
        """Return what is outdated and stands there in full, the front-most first."""
        self._take_in()
        older = (s for s in self._older if s.resident and self._newest[s.path] is not s)
        self._older = dict.fromkeys(older)
        return sorted(self._older, key=lambda s: s.slot)

    def _take_in(self) -> None:
        """Take in what has come since the last time."""
        new: list[Segment] = []
        for segment in reversed(self._reads) if self._reads is not None else ():
            if segment.slot <= self._seen:
                break
            new.append(segment)
        for segment in reversed(new):
            before = self._newest.get(segment.path)
            self._newest[segment.path] = segment
            if before is not None and before is not segment and stubbable(before, self._stub):
                self._older[before] = None
        if new:
            self._seen = new[0].slot


def _is_read(segment: Segment) -> bool:
    return is_result(segment) and segment.path is not None and not segment.sources
