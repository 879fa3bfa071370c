"""A test run: each distinct failure once, in as much detail as the room holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from policies.reducers.findings import plural
from policies.reducers.form import Found, Laid
from policies.reducers.plain import Plain
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.log import Log
    from policies.reducers.room import Room
    from policies.reducers.tracebacks import Frame, Link

__all__ = ["Failure", "TestRun", "chained"]

_MESSAGE = (800, 400, 160, 70)
"""Characters of the first line of a message, by level."""
_BELOW = ((40, 4, 40), (8, 2, 6))
"""Further lines of the message, last frames and further names, at the levels with a detail."""
_LINE = 240
"""Characters of a line of detail."""
_LEVELS = 5
"""Levels of detail: long, short, one line, one short line, the name alone."""
_LINKS = (12, 4)
"""Links of a chain, or members of a group, at the levels with a detail."""
_LINK = (240, 160, 120, 70)
"""Characters of a link, by level."""
_ROOM = 60
"""Tokens below which no other output of a run is shown."""
_OTHER = "--- other output of the run ---"
_NAME = 800
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed test, as the tool printed it.

    *name* is its id and *also* what else it goes by. Failures of one *key* are one distinct
    failure. *message* are the lines that say what was raised, *type* the name of the exception;
    *frames* the traceback, outermost first, of which *place* is the innermost in the project;
    *links* the rest of its chain, the first cause first.
    """

    name: str
    key: Hashable
    message: Sequence[str] = ()
    type: str = ""
    place: str = ""
    frames: Sequence[Frame] = ()
    also: tuple[str, ...] = ()
    links: Sequence[Link] = ()

    def line(self, level: int, more: int) -> str:
        """Return what is said of it in one line, and that *more* tests failed alike."""
        parts = [clip(self.name, _NAME)]
        if level < len(_MESSAGE):
            said = self._said()
            if self.type and self.type not in said[:_LINE]:
                said = f"{self.type}: {said}" if said else self.type
            if said:
                parts.append(f": {clip(said, _MESSAGE[level])}")
            if self.place and level < len(_MESSAGE) - 1 and self.place not in parts[0]:
                parts.append(f" ({clip(self.place, _LINE)})")
            if self.links and level >= len(_BELOW):
                first = self.links[0]
                parts.append(f"; {first.how} {clip(first.said, _LINK[level])}")
        if more:
            parts.append(f" (+{more:,} more)")
        return "".join(parts)

    def _said(self) -> str:
        """The first line of the message, or the one that names the exception."""
        if self.type:
            for line in self.message[: _BELOW[0][0]]:
                if line.startswith(self.type):
                    return line.strip()
        return next((line.strip() for line in self.message if line.strip()), "")

    def _last(self) -> Sequence[Frame]:
        """The frames as far as the innermost in the project, and the one it called."""
        for stop in range(len(self.frames), 0, -1):
            if self.frames[stop - 1].place == self.place:
                return self.frames[: stop + 1]
        return self.frames

    def below(self, level: int, others: Sequence[str]) -> Iterator[str]:
        """Yield the lines of detail: the rest of the message, its chain, the last frames."""
        most_lines, most_frames, most_names = _BELOW[level]
        said = self._said()
        rest = [line for line in self.message if line.strip() and line.strip() != said]
        for line in rest[:most_lines]:
            yield f"    {clip(line, _LINE)}"
        if len(rest) > most_lines:
            yield f"    [… {_number(len(rest) - most_lines, 'more line')} of the message]"
        yield from chained(self.links, _LINKS[level], _LINK[level])
        for frame in self._last()[-most_frames:]:
            if frame.place == self.place and not frame.source and not frame.name:
                continue
            where = f" in {frame.name}" if frame.name else ""
            source = f": {frame.source}" if frame.source else ""
            yield f"  at {clip(frame.place + where + source, _LINE)}"
        if others:
            shown = ", ".join(clip(name, _NAME) for name in others[:most_names])
            left = len(others) - most_names
            yield f"  also: {shown}{f' and {left:,} more' if left > 0 else ''}"


def chained(links: Sequence[Link], most: int, characters: int) -> Iterator[str]:
    """Yield a line for each of *links*, *most* of them: the first cause and those after it."""
    for link in links[:most]:
        where = f" ({clip(link.place, _LINE)})" if link.place else ""
        yield f"  {link.how} {clip(link.said, characters)}{where}"
    if len(links) > most:
        yield f"  [… {_number(len(links) - most, 'more exception')}]"


@dataclass(slots=True)
class _Group:
    first: Failure
    names: list[str]
    also: list[str]
    count: int = 0

    def text(self, level: int) -> str:
        """Return the failure as it is told at *level*, 0 the most."""
        line = self.first.line(level, self.count - 1)
        if level >= len(_BELOW):
            return line
        others = list(dict.fromkeys(name for name in self.names if name != self.first.name))
        return "\n".join([line, *self.first.below(level, others)])


@dataclass
class TestRun:
    """The failures of one or several sessions of a test runner.

    The text is *head*, each distinct failure once in the order of the output, a notice of what
    was left out, what *other* returns, lines that no failure explains, as a plain log in the room
    that is left, and *verdict*, the sessions' own last lines. *counts* are the tool's figures by
    noun; *lines* is how many lines the output has.
    """

    tool: str
    failures: Sequence[Failure]
    head: str = ""
    verdict: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0
    other: Callable[[], Log] | None = None

    __test__ = False

    @cached_property
    def _other(self) -> Log | None:
        return self.other() if self.other else None

    @cached_property
    def _groups(self) -> list[_Group]:
        groups: dict[Hashable, _Group] = {}
        for failure in self.failures:
            group = groups.get(failure.key)
            if group is None:
                group = groups[failure.key] = _Group(failure, [], [])
            group.count += 1
            group.names.append(failure.name)
            group.also.extend(failure.also)
        return list(groups.values())

    def found(self) -> Found:
        """Return each distinct failure by all its names, and the counts."""
        names = (tuple(dict.fromkeys([*g.names, *g.also])) for g in self._groups)
        return Found(failures=tuple(names), counts=dict(self.counts))

    def lay(self, room: Room) -> Laid:
        """Return every distinct failure at the highest level at which all fit.

        From there as many as fit, in order, are told one level higher. If not even all names
        fit, the first are told and the rest counted.
        """
        groups = self._groups
        head, verdict = clip(self.head, 1200), clip(self.verdict, 1200)
        ends = [end for end in (head, verdict) if end]
        free = room.limit - sum(room.count(end) + 1 for end in ends)
        free -= room.count(self._notice(len(groups), 0, self.lines, room)) + 8
        parts = self._parts(room, free)
        while True:
            text = self._text(head, parts, verdict, room)
            if room.fits(text):
                laid = Laid(text, self._dropped(len(parts)))
                return self._with_other(head, parts, verdict, room, laid)
            if parts:
                parts = parts[: min(len(parts) - 1, int(len(parts) * 0.98))]
            elif head:
                head = ""
            elif verdict:
                verdict = "" if len(verdict) <= 60 else clip(verdict, len(verdict) // 2)
            else:
                return Laid(self._least(room), self._dropped(0))

    def _with_other(
        self, head: str, parts: Sequence[str], verdict: str, room: Room, laid: Laid
    ) -> Laid:
        """Return *laid* with the other lines of the run in what room it leaves."""
        if not self._other:
            return laid
        free = room.limit - room.count(laid.text) - 4
        if self._groups or head:
            free -= room.count(_OTHER) + 2
        plain = Plain(self._other)
        while free >= _ROOM:
            rest = plain.lay(room.of(free))
            text = self._text(head, parts, verdict, room, rest.text)
            if room.fits(text):
                gone = rest.dropped.get("lines", 0)
                if not gone:
                    return Laid(text, laid.dropped)
                gone += self._gone(head, parts, verdict, shown=True)
                return Laid(text, {**laid.dropped, "lines": gone})
            free = min(free - 8, int(free * 0.9))
        return laid

    def _parts(self, room: Room, free: int) -> list[str]:
        """Return the texts of the failures, of all of them if *free* tokens hold their names."""
        for level in range(_LEVELS):
            texts, used = self._at(level, room, free)
            if len(texts) == len(self._groups):
                return self._raised(texts, level, room, free - used)
        return texts

    def _at(self, level: int, room: Room, free: int) -> tuple[list[str], int]:
        """Return as many texts of *level* as fit, from the first, and their tokens."""
        texts: list[str] = []
        used = 0
        for group in self._groups:
            text = group.text(level)
            size = room.count(text) + 1
            if used + size > free:
                break
            texts.append(text)
            used += size
        return texts, used

    def _raised(self, texts: list[str], level: int, room: Room, free: int) -> list[str]:
        """Tell as many as *free* more tokens hold, in order, one level higher than *level*."""
        if level == 0:
            return texts
        for at, group in enumerate(self._groups):
            text = group.text(level - 1)
            more = room.count(text) - room.count(texts[at])
            if more > free:
                break
            texts[at] = text
            free -= more
        return texts

    def _text(
        self, head: str, parts: Sequence[str], verdict: str, room: Room, other: str = ""
    ) -> str:
        lines = self._gone(head, parts, verdict, shown=bool(other))
        title = _OTHER if other and (head or parts) else ""
        notice = self._notice(len(self._groups) - len(parts), len(parts), lines, room)
        every = (head, *parts, notice, title, other, verdict)
        return "\n".join(part for part in every if part)

    def _gone(self, head: str, parts: Sequence[str], verdict: str, *, shown: bool) -> int:
        """Return how many lines are not told; if *shown*, the other lines speak for themselves."""
        body = "\n".join(part for part in (head, *parts, verdict) if part)
        other = len(self._other) if shown and self._other else 0
        return max(0, self.lines - body.count("\n") - 1 - other)

    def _notice(self, hidden: int, shown: int, lines: int, room: Room) -> str:
        """Return the line that says what is missing: failures beyond the first *shown*, lines."""
        said = []
        if hidden:
            count = sum(group.count for group in self._groups[shown:])
            more = "" if count == hidden else f" ({count:,} in all)"
            said.append(f"{_number(hidden, 'distinct failure')}{more} not shown")
        if lines:
            about = "passed tests, source, frames and output"
            if not self._groups and self.other is not None:
                about = "passed tests, progress and output"
            said.append(f"{_number(lines, 'line')} of {about}")
        return f"[left out: {'; '.join(said)}; {room.ask}]" if said else ""

    def _dropped(self, shown: int) -> dict[str, int]:
        hidden = self._groups[shown:]
        dropped = {
            "failures": sum(group.count for group in hidden),
            "distinct failures": len(hidden),
        }
        return {noun: count for noun, count in dropped.items() if count}

    def _least(self, room: Room) -> str:
        total = len(self.failures)
        text = f"[{_number(total, 'failure')} of {self.tool} left out; {room.ask}]"
        return text if room.fits(text) else f"[{total:,} {plural('failure', total)} left out]"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {plural(noun, count)}"
