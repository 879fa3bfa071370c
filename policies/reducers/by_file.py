"""A checker's findings by file: where not every first error fits, the places of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from policies.reducers.findings import Findings, plural
from policies.reducers.form import Found, Laid
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["ByFile", "Placed", "divided", "place_of"]

_LINE = re.compile(r"(?::\d++|:?[(\[]\d++(?:,\d++)?[)\]]| \(at line \d++\))")
_LONGEST = 160
"""Characters of a first error where there is not room for all."""
_WHOLE = 0.4
"""Share of the room for first errors in words where not even the places of all fit."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One file: its first error in words, the place alone, and the number of errors."""

    whole: str
    place: str
    count: int


@dataclass(frozen=True, slots=True)
class ByFile:
    """The first error of each file, or in a small room some in words and some by place.

    A tool's own table of files names more of them in few tokens than its first errors do, so a
    layout in words alone could keep fewer files than the end of the output does.
    """

    findings: Findings

    def found(self) -> Found:
        """Return the files with an error and the counts."""
        return self.findings.found()

    def lay(self, room: Room) -> Laid:
        """Return the first errors; if they do not fit, words for the first files, then places."""
        laid = self.findings.lay(room)
        if not laid.dropped.get("files"):
            return laid
        files = [
            Placed(
                clip(group.first.text, _LONGEST) + _more(group.count),
                place_of(group.first.file, group.first.text) + _more(group.count),
                group.count,
            )
            for group in self.findings.groups().values()
        ]
        verdict = clip(self.findings.verdict, 400)
        reserve = room.count(verdict) + room.count(self._notice(files, 0, 0, room)) + 12
        whole, places = divided(files, room, room.limit - reserve)
        while whole or places:
            lines = [file.whole for file in files[:whole]]
            lines += [file.place for file in files[whole : whole + places]]
            text = "\n".join(
                part for part in (*lines, self._notice(files, whole, places, room), verdict) if part
            )
            if room.fits(text):
                ours = Laid(text, self._dropped(files, whole, places))
                return ours if whole + places > len(files) - laid.dropped["files"] else laid
            whole, places = (whole, places - 1 - places // 50) if places > 0 else (whole - 1, 0)
            places = max(0, places)
        return laid

    def _notice(self, files: Sequence[Placed], whole: int, places: int, room: Room) -> str:
        noun = self.findings.noun
        further = sum(file.count - 1 for file in files[:whole])
        placed = sum(file.count for file in files[whole : whole + places])
        hidden = files[whole + places :]
        parts = []
        if further:
            first = _number(whole, "file")
            parts.append(f"{_number(further, 'further ' + noun)} in the first {first}")
        if places:
            placed_in = _number(places, "file")
            parts.append(f"the words of {_number(placed, noun)} in {placed_in} named by place")
        if hidden:
            count = sum(file.count for file in hidden)
            parts.append(f"{_number(count, noun)} in {_number(len(hidden), 'file')} not shown")
        return f"[left out: {'; '.join(parts)}; {room.ask}]" if parts else ""

    def _dropped(self, files: Sequence[Placed], whole: int, places: int) -> dict[str, int]:
        total = sum(file.count for file in files)
        dropped = {
            plural(self.findings.noun, 2): total - whole,
            "files": len(files) - whole - places,
        }
        return {noun: count for noun, count in dropped.items() if count}


def divided(files: Sequence[Placed], room: Room, free: int) -> tuple[int, int]:
    """Return how many files stand in words, and how many after them by place, in *free* tokens."""

    @cache
    def place(number: int) -> int:
        return room.count(files[number].place) + 1

    def words(number: int) -> int:
        return room.count(files[number].whole) + 1

    whole, used, named = 0, 0, 0
    while named < len(files) and used <= free:
        used += place(named)
        named += 1
    if used <= free:
        while whole < len(files) and (more := words(whole) - place(whole)) <= free - used:
            used += more
            whole += 1
        return whole, len(files) - whole
    used = 0
    while whole < len(files) and (more := words(whole)) <= free * _WHOLE - used:
        used += more
        whole += 1
    shown = whole
    while shown < len(files) and used + place(shown) <= free:
        used += place(shown)
        shown += 1
    return whole, shown - whole


def place_of(file: str, text: str) -> str:
    """Return *file* with the line that stands after it in *text*."""
    if not file:
        return clip(text, _LONGEST)
    at = text.find(file)
    match = _LINE.match(text, at + len(file)) if at >= 0 else None
    return file + match[0] if match else file


def _more(count: int) -> str:
    return f" (+{count - 1} more)" if count > 1 else ""


def _number(count: int, noun: str) -> str:
    return f"{count:,} {plural(noun, count)}"
