"""Head and tail with a marked gap: what is done where no structure is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.reducers.form import Found, Laid

if TYPE_CHECKING:
    from policies.reducers.log import Log
    from policies.reducers.room import Room

__all__ = ["HeadTail"]

_SMALL = 60
"""Tokens below which the marker is short, so that some of both ends stands beside it."""


@dataclass(frozen=True, slots=True)
class HeadTail:
    """Lines from both ends of an output, and between them how much is missing."""

    log: Log

    def found(self) -> Found:
        """Return nothing: no structure is known."""
        return Found()

    def lay(self, room: Room) -> Laid:
        """Return as much of both ends as fits beside the marker."""
        log = self.log
        lines = log.lines
        total = log.tokens(room.tokenizer)
        if total <= room.limit:
            return Laid(log.text)
        free = room.limit - room.count(self._marker(total, 0, len(lines), room)) - 4
        while True:
            head, start, cut = self._take(room, max(0, free) // 2, end=False)
            used = room.count(head)
            tail, stop, _ = self._take(room, max(0, free - used), end=True, floor=start, taken=cut)
            gone = total - used - room.count(tail)
            text = "\n".join(
                part for part in (head, self._marker(gone, start, stop, room), tail) if part
            )
            if room.fits(text):
                return Laid(text, {"tokens": gone, "lines": max(stop - start, 1)})
            if free <= 0:
                short = f"[{total:,} tokens left out]"
                return Laid(short, {"tokens": total, "lines": len(lines)})
            free = min(free - 2, int(free * 0.99))

    def _marker(self, tokens: int, start: int, stop: int, room: Room) -> str:
        if room.limit < _SMALL:
            return f"[gap: {tokens:,} tokens left out]"
        lines = max(stop - start, 1)
        first, last = self.log.number(start), self.log.number(max(stop, start + 1) - 1)
        where = f"{first:,}–{last:,}"
        noun = "line" if lines == 1 else "lines"
        return f"[gap: {tokens:,} tokens in {lines:,} {noun} ({where}) left out; {room.ask}]"

    def _take(
        self, room: Room, limit: int, *, end: bool, floor: int = 0, taken: int = 0
    ) -> tuple[str, int, int]:
        """Return lines of one end within *limit* tokens, and the line at which the gap begins.

        Without *end*: the number of lines taken whole from the front. With it: the line after the
        gap; lines before *floor* are taken already, and of line *floor* its first *taken*
        characters. The last figure is how much of a line that was cut has been taken.
        """
        lines = self.log.lines
        got: list[str] = []
        left, cut = limit, 0
        at = len(lines) - 1 if end else 0
        while (at >= floor) if end else (at < len(lines)):
            line = lines[at]
            if end and at == floor and taken:
                line = line[taken:]
            size = room.count(line) + 1 if len(line) <= 128 * left else left + 1
            if size > left:
                part = "" if got else room.longest(line, left, end=end)
                if part:
                    got.append(part)
                    cut = len(part)
                break
            got.append(line)
            left -= size
            at += -1 if end else 1
        text = "\n".join(reversed(got) if end else got)
        return text, (at + 1 if end else at), cut
