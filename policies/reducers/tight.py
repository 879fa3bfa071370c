"""A build in a small room: its first error and target, the others by place, one short notice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.by_file import Placed, divided, place_of
from policies.reducers.findings import Findings, plural
from policies.reducers.form import Laid
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["Tight"]

_LENGTHS = (400, 240, 160, 100, 60)
"""Characters of the first error, the most that fit in its share."""
_FIRST = 0.6
"""Share of the room that the first error may take beside the notice."""
_WORDS = 160
"""Characters of a further error where it stands in words."""
_HEADS = (1_200, 400, 160, 80)
"""Characters of the line that names the target."""
_NOTICE = 0.4
"""Share of the room beyond which a notice says only what it must."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file's first error, or a distinct failure, by place and in words of any length."""

    line: Callable[[int], str]
    place: str
    count: int
    file: str
    noun: str
    by_file: bool


class Tight:
    """What *parts* of a build reported, where the usual layout would name less of it.

    *verdict* is the tool's last word, of which the lines that stand above are not repeated;
    *warnings* were counted only, *lines* is the length of the output.
    """

    def __init__(self, parts: Sequence[Findings], verdict: str, warnings: int, lines: int) -> None:
        self.head = next((part.head for part in parts if part.head), "")
        self.entries = [entry for part in parts for entry in _entries(part)]
        self.verdict = [line for line in verdict.split("\n") if line.strip()]
        self.warnings = warnings
        self.lines = lines

    def lay(self, room: Room) -> Laid:
        """Return the target, the errors, what is left out, and of the last word what fits."""
        notice = max((self._notice(n, 0, room) for n in (0, 1)), key=room.count)
        free = room.limit - room.count(notice) - 3
        texts, shown, placed = self._errors(room, free)
        while True:
            notice = self._notice(shown, placed, room)
            text = "\n".join(part for part in (*texts, notice) if part)
            if room.fits(text) or not texts:
                break
            texts.pop()
            if placed:
                placed -= 1
            elif shown:
                shown -= 1
        if not room.fits(text):
            text = room.longest(notice, room.limit)
        return Laid(self._ended(text, room), self._dropped(shown, placed))

    def _errors(self, room: Room, free: int) -> tuple[list[str], int, int]:
        """Return the lines above the notice, and how many entries are in words and by place."""
        if not self.entries:
            return ([clip(self.head, _HEADS[-1])] if self.head else []), 0, 0
        first = self._first(room, free)
        if not first:
            return [], 0, 0
        rest = [Placed(each.line(_WORDS), each.place, each.count) for each in self.entries[1:]]
        free -= room.count(first) + 1
        wanted = 0
        for entry in rest:
            wanted += room.count(entry.place) + 1
            if wanted > free:
                break
        head = ""
        for most in _HEADS if self.head else ():
            if room.count(clip(self.head, most)) + 1 <= max(free - wanted, free // 2):
                head = clip(self.head, most)
                free -= room.count(head) + 1
                break
        whole, placed = divided(rest, room, free)
        lines = [entry.whole for entry in rest[:whole]]
        lines += [entry.place for entry in rest[whole : whole + placed]]
        return [*([head] if head else []), first, *lines], 1 + whole, placed

    def _first(self, room: Room, free: int) -> str:
        entry = self.entries[0]
        for most in _LENGTHS:
            if room.count(entry.line(most)) <= free * _FIRST:
                return entry.line(most)
        for line in (entry.line(_LENGTHS[-1]), entry.place):
            if room.count(line) < free:
                return line
        said = entry.line(_LENGTHS[0])
        folder = max(entry.file.rfind(mark) for mark in "/\\")
        if folder > 0 and entry.file in said:
            said = "…" + said[said.index(entry.file) + folder :]
        line = room.longest(said, free - 2)
        return line if line == said else f"{line}…" if line else ""

    def _ended(self, text: str, room: Room) -> str:
        """Return *text* with the lines of the last word that fit and are not in it."""
        ends: list[str] = []
        for line in reversed(self.verdict):
            if line.strip() in text:
                continue
            if not room.fits("\n".join([text, line, *ends])):
                break
            ends.insert(0, line)
        return "\n".join([text, *ends])

    def _notice(self, shown: int, placed: int, room: Room) -> str:
        """Return the line that says what is left out."""
        parts = []
        for noun in dict.fromkeys(entry.noun for entry in self.entries):
            total = sum(entry.count for entry in self.entries if entry.noun == noun)
            gone = total - self._in_words(noun, shown)
            if gone:
                of = f"{gone:,} of {total:,}" if gone < total else f"{total:,}"
                by_place = sum(1 for each in self.entries[shown:][:placed] if each.noun == noun)
                named = f" ({by_place:,} by place)" if by_place else ""
                parts.append(f"{of} {plural(noun, total)}{named}")
        files = sum(1 for entry in self.entries[shown + placed :] if entry.file)
        if files:
            parts.append(f"{files:,} {plural('file', files)}")
        if self.warnings:
            parts.append(f"{self.warnings:,} {plural('warning', self.warnings)}")
        lines = f"{self.lines:,} {plural('line', self.lines)}"
        what = ", ".join(parts) or f"most of {lines}"
        of = f"; of {lines}" if parts else ""
        for notice in (f"[left out: {what}{of}; {room.ask}]", f"[left out: {what}]"):
            if room.count(notice) <= room.limit * _NOTICE:
                return notice
        return f"[left out: {(*parts, lines)[0]}]"

    def _in_words(self, noun: str, shown: int) -> int:
        entries = [entry for entry in self.entries[:shown] if entry.noun == noun]
        return sum(1 if entry.by_file else entry.count for entry in entries)

    def _dropped(self, shown: int, placed: int) -> dict[str, int]:
        dropped: dict[str, int] = {}
        for noun in dict.fromkeys(entry.noun for entry in self.entries):
            entries = [entry for entry in self.entries if entry.noun == noun]
            hidden = [entry for entry in self.entries[shown + placed :] if entry.noun == noun]
            gone = sum(entry.count for entry in entries) - self._in_words(noun, shown)
            kind = "files" if entries[0].by_file else f"distinct {plural(noun, 2)}"
            dropped[plural(noun, 2)] = gone
            dropped[kind] = len(hidden)
        return {noun: count for noun, count in dropped.items() if count}


def _entries(findings: Findings) -> list[_Entry]:
    by_file, entries = findings.by == "file", []
    for group in findings.groups().values():
        item, more = group.first, f" (+{group.count - 1} more)" if group.count > 1 else ""
        place = place_of(item.file, item.text) if by_file else (*item.names, "")[0]
        place = (place or clip(item.text, _LENGTHS[-1])) + more
        entries.append(_Entry(group.line, place, group.count, item.file, findings.noun, by_file))
    return entries
