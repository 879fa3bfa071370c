"""A tree of directories as it enters: how many entries each has, and the first of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.form import Found, Laid
from policies.reducers.grouped import Group, Grouped, Piece

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["Tree"]

_DEPTHS = (99, 8, 6, 5, 4, 3, 2, 1)
"""Depths down to which directories are shown each on its own, the first whose names fit."""
_TITLES = 0.6
"""Share of the room that the names of directories may take."""
_FIRST, _LATER = 4, 12
"""Entries of a directory that are shown together, at first and later, where there is room."""
_SHOWN = 200
"""Tokens of room for each directory from which one entry more is shown together."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Directories, by path as printed, with their entries; deep ones may be shown as one."""

    entries: Mapping[str, Sequence[str]]
    verdict: str = ""
    complete = True
    """What it does not show it counts: entries stand apart from their paths."""

    def found(self) -> Found:
        """Return how many directories and entries there are."""
        total = sum(len(entries) for entries in self.entries.values())
        return Found(counts={"folders": len(self.entries), "paths": total})

    def lay(self, room: Room) -> Laid:
        """Return all directories with their first entries, the deepest summed up if need be."""
        for depth in _DEPTHS:
            groups = self._groups(depth)
            size = sum(len(group.title) for group in groups) // 3 + 12 * len(groups)
            if size <= room.limit * _TITLES:
                break
        step = min(_LATER, max(1, room.limit // (_SHOWN * len(groups) or 1)))
        groups = self._groups(depth, step)
        return Grouped(groups, "path", "folder", verdict=self.verdict, listed=False).lay(room)

    def _groups(self, depth: int, step: int = _LATER) -> list[Group]:
        merged: dict[str, list[str]] = {}
        for path, entries in self.entries.items():
            top, below = _split(path.rstrip("/") or path, depth)
            inside = merged.setdefault(top, [])
            inside += [f"{below}{entry}" for entry in entries] if below else entries
        return [_group(path, entries, step) for path, entries in merged.items()]


def _split(path: str, depth: int) -> tuple[str, str]:
    """Return the part of *path* down to *depth* directories, and the part below it."""
    at, start = 0, len(path) - len(path.lstrip("./"))
    for _ in range(depth):
        at = path.find("/", max(at, start) + 1)
        if at < 0 or at == len(path) - 1:
            return path, ""
    return path[:at], path[at + 1 :] + "/"


def _group(path: str, entries: Sequence[str], later: int) -> Group:
    noun = "entry" if len(entries) == 1 else "entries"
    pieces, at = [], 0
    while at < len(entries):
        step = later if at else min(_FIRST, later)
        part = entries[at : at + step]
        pieces.append(Piece("\n".join(f"  {entry}" for entry in part), len(part)))
        at += step
    return Group(path, f"{path or '.'}: {len(entries):,} {noun}", pieces)
