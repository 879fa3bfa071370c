"""Staleness: what happens to the copies of a file that has been written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sim.actions import Refresh
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.view import View

__all__ = ["RefreshInPlace"]

_COPIES = frozenset({Kind.FILE, Kind.TOOL_RESULT})


class RefreshInPlace:
    """Replaces every resident copy that a write has left behind, where it stands."""

    def on_write(self, view: View, path: str) -> Iterator[Refresh]:
        """Refresh the copies of *path*."""
        for segment in list(view.stale(path)):
            if segment.kind in _COPIES:
                yield Refresh(segment.id)
