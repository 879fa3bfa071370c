"""Unchanged reads: a file that was read before comes back as a note that it is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policies.parts.clearing import clearable
from policies.parts.ranking import ByPosition
from sim.actions import Rewrite
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["UnchangedReads"]


class UnchangedReads:
    """Puts a tagged stub of *stub* tokens in the place of a read of a version that was read before.

    It goes by what it has ever shown. With *checks* it also looks whether the earlier read is still
    in the window, and leaves the new one whole if it is not.
    """

    def __init__(self, stub: int, *, checks: bool) -> None:
        self._stub = stub
        self._checks = checks
        self._read: dict[tuple[str, int], tuple[Segment, int]] = {}
        """Path and version of what was read, to the segment and the turn in which it came."""
        self._files = ByPosition(_is_read, last_first=True)

    def start(self, view: View) -> None:
        """Ask for the reads, the newest first."""
        self._files.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        """Put stubs in the place of what has come since the last call and was read before."""
        came: list[Segment] = []
        for segment in self._files.candidates(view):
            if segment.admitted_turn < view.turn:
                break
            came.append(segment)
        for segment in reversed(came):
            if self._again(segment) and clearable(segment, self._stub):
                yield Rewrite(
                    (segment.id,), self._stub, True, "unchanged", stub=True, preview=(0, 0)
                )

    def _again(self, segment: Segment) -> bool:
        """Whether its text was read before; if not, this is the first time."""
        key, this = (str(segment.path), segment.version), (segment, segment.admitted_turn)
        before, turn = self._read.setdefault(key, this)
        gone = self._checks and not (before.resident and before.admitted_turn == turn)
        if gone:
            self._read[key] = this
        return not gone and (before, turn) != this


def _is_read(segment: Segment) -> bool:
    return segment.kind is Kind.FILE and segment.path is not None and not segment.sources
