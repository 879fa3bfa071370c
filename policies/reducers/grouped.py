"""Groups: files with hunks or matches, directories with entries; each is named, then filled up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.reducers.findings import plural
from policies.reducers.form import Found, Laid
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["Group", "Grouped", "Piece"]

_LENGTHS = (800, 200, 120)
"""Characters of a title that are kept, the most for which all titles fit."""
_PIECE = 400
"""Characters of one line within a piece."""
_HEAD = 12
"""Lines of the head that are kept at most."""
_SMALL = 200
"""Tokens below which no line of the head is kept beside the note: the groups' names come first."""
_HEAD_SHARE = 4
"""Part of the room that the head may take: one in so many."""
_TINY = 60
"""Tokens below which marks are short and alone, so that a name stands beside them."""
_MARK = 12
"""Tokens that the mark of what a group leaves out takes at most."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines that are shown together or not at all; *count* is how many things they hold.

    *around* is how many of the lines are none of these, but stand around them.
    """

    text: str
    count: int = 1
    around: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """One file or directory: the line that names it, and what stands below it, in order.

    *name* is its path as printed. *count* is how many things the title itself shows.
    """

    name: str
    title: str
    pieces: Sequence[Piece] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups in the order of the output.

    Every group's title comes first, as many as fit; then in turn the first piece of each, the
    second, as far as the room goes. What a group does not show is counted behind its title, and
    whole groups in a notice at the end. *noun* names what pieces count, *kind* what a group is.
    *listed* says whether a group's name counts as a file that was found. Of *head* as many lines
    stand first as a part of the room holds, then *note*, a line that is not cut.
    """

    groups: Sequence[Group]
    noun: str
    kind: str = "file"
    head: str = ""
    note: str = ""
    verdict: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    listed: bool = True

    def found(self) -> Found:
        """Return the paths and the counts."""
        names = dict.fromkeys(group.name for group in self.groups if group.name)
        return Found(tuple(names) if self.listed else (), (), dict(self.counts))

    def lay(self, room: Room) -> Laid:
        """Return all groups if they fit, else all titles and as many pieces, else fewer titles."""
        head, verdict = self._head(room), clip(self.verdict, 400)
        free = room.limit - (_MARK if room.limit >= _TINY else 0)
        while True:
            text, dropped = self._try(room, free, head, verdict)
            if room.fits(text):
                return Laid(text, dropped)
            if free > _TINY or (room.limit < _TINY and free > 20):
                free = int(free * 0.95) - 2
            elif head or verdict:
                free, head, verdict = room.limit - _MARK, "", ""
            else:
                total = f"{len(self.groups):,} {plural(self.kind, len(self.groups))}"
                return Laid(f"[{total} left out]", self._dropped(0, [0] * len(self.groups)))

    def _head(self, room: Room) -> str:
        """Return the lines of the head that fit into its part of the room, and the note."""
        if room.limit < _TINY:
            return ""
        lines = self.head.split("\n") if self.head else []
        kept: list[str] = []
        free = 0 if self.note and room.limit < _SMALL else room.limit // _HEAD_SHARE
        for line in lines[:_HEAD]:
            free -= room.count(clip(line, _PIECE)) + 1
            if free < 0:
                break
            kept.append(clip(line, _PIECE))
        gone = len(lines) - len(kept)
        if gone and kept:
            kept.append(f"[{gone:,} {plural('line', gone)} left out]")
        return "\n".join([*kept, self.note] if self.note else kept)

    def _try(self, room: Room, free: int, head: str, verdict: str) -> tuple[str, dict[str, int]]:
        """Return a text of about *free* tokens and what it drops."""
        free -= sum(room.count(end) + 1 for end in (head, verdict) if end)
        free -= room.count(self._notice(0, room)) + 1
        most, shown, used = self._titles(room, free)
        taken = [0] * len(self.groups)
        if shown == len(self.groups):
            self._fill(room, free - used, taken)
        parts = [head] if head else []
        for number in range(shown):
            parts += self._lines(number, taken[number], most)
        notice = self._notice(shown, room) if shown < len(self.groups) else ""
        parts += [end for end in (notice, self._ask(shown, taken, room), verdict) if end]
        return "\n".join(parts), self._dropped(shown, taken)

    def _titles(self, room: Room, free: int) -> tuple[int, int, int]:
        """Return to how many characters titles are cut, how many fit, and their tokens."""
        for most in _LENGTHS:
            used = shown = 0
            for group in self.groups:
                mark = _MARK if group.pieces else 0
                size = room.count(clip(group.title, most)) + 1 + mark
                if used + size > free:
                    break
                used += size
                shown += 1
            if shown == len(self.groups):
                break
        return most, shown, used

    def _fill(self, room: Room, free: int, taken: list[int]) -> None:
        """Take pieces of each group in turn, those of a group in order, while they fit."""
        open_groups = [number for number, group in enumerate(self.groups) if group.pieces]
        while open_groups and free > 0:
            still = []
            for number in open_groups:
                group = self.groups[number]
                size = room.count(_cut(group.pieces[taken[number]].text)) + 1
                if size > free:
                    continue
                free -= size
                taken[number] += 1
                if taken[number] < len(group.pieces):
                    still.append(number)
                else:
                    free += _MARK
            open_groups = still

    def _lines(self, number: int, taken: int, most: int) -> Iterator[str]:
        group = self.groups[number]
        title = clip(group.title, most)
        hidden, around = _sums(group.pieces[taken:])
        said = []
        if hidden:
            total = hidden + sum(piece.count for piece in group.pieces[:taken]) + group.count
            said.append(f"{hidden:,} of {total:,} {plural(self.noun, total)}")
        if around:
            said.append(f"{around:,} {plural('line', around)} around")
        if said:
            title += f" [{', '.join(said)} left out]"
        yield title
        for piece in group.pieces[:taken]:
            yield _cut(piece.text)

    def _notice(self, shown: int, room: Room) -> str:
        rest = self.groups[shown:]
        sums = [_sums(group.pieces) for group in rest]
        things = sum(group.count for group in rest) + sum(inside for inside, _ in sums)
        around = sum(lines for _, lines in sums)
        which = f"{len(rest):,} {plural(self.kind, len(rest))}"
        inside = f" with {things:,} {plural(self.noun, things)}" if things else ""
        if around:
            inside += f" and {around:,} {plural('line', around)} around"
        if room.limit < _TINY:
            return f"[{which} left out]"
        return f"[left out: {which}{inside}; {room.ask}]"

    def _ask(self, shown: int, taken: Sequence[int], room: Room) -> str:
        """Return how to ask for what the titles say is left out, if no notice says it."""
        if shown < len(self.groups):
            return ""
        cut = any(
            count < len(group.pieces) for group, count in zip(self.groups, taken, strict=True)
        )
        return f"[{room.ask}]" if cut and room.limit >= _TINY else ""

    def _dropped(self, shown: int, taken: Sequence[int]) -> dict[str, int]:
        things = around = 0
        for number, group in enumerate(self.groups):
            inside, lines = _sums(group.pieces[taken[number] :])
            things += inside + (group.count if number >= shown else 0)
            around += lines
        files = len(self.groups) - shown
        dropped = {
            plural(self.noun, 2): things,
            plural(self.kind, 2): files,
            "lines around": around,
        }
        return {noun: count for noun, count in dropped.items() if count}


def _sums(pieces: Sequence[Piece]) -> tuple[int, int]:
    """Return how many things *pieces* hold, and how many lines around them."""
    return sum(piece.count for piece in pieces), sum(piece.around for piece in pieces)


def _cut(text: str) -> str:
    """Return *text* with its long lines clipped."""
    if len(text) <= _PIECE:
        return text
    return "\n".join(clip(line, _PIECE) for line in text.split("\n"))
