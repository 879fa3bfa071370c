"""Findings: errors or failures, of which each file's first, or each distinct one, is shown."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.reducers.form import Found, Laid
from policies.reducers.room import clip

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["Findings", "Item", "plural", "singular"]


_LENGTHS = (800, 400, 240, 160)
"""Characters of a message that are kept, the most for which all messages fit."""
_NAMED = 1_000
"""Characters up to which a path or name is never cut."""


@dataclass(frozen=True, slots=True)
class Item:
    """One error or failure, as the tool printed it.

    *text* is the line that says what is wrong and where; *detail* what stands below it, such as
    the last frames: it is the first to go. *file* is the path as printed, *key* what makes it
    distinct, *names* by what it is known (test ids). *count* is how many of the tool's own count
    it stands for.
    """

    text: str
    file: str = ""
    key: Hashable = None
    detail: str = ""
    names: tuple[str, ...] = ()
    count: int = 1


@dataclass(slots=True)
class _Group:
    first: Item
    names: list[str]
    count: int = 0
    items: int = 0

    def line(self, most: int) -> str:
        """Return the first item's text, cut to *most* characters, and how many more there are."""
        text = clip(self.first.text, most, self._named())
        return f"{text} (+{self.count - 1} more)" if self.count > 1 else text

    def _named(self) -> int:
        """Return how many characters the text needs to say where it is: file, line and name."""
        text = self.first.text
        places = (text.find(name) + len(name) for name in (self.first.file, *self.first.names[:1]))
        end = min(max(places), _NAMED)
        stop = text.find(" ", end, end + 24)
        return stop if stop >= 0 else end


@dataclass(slots=True)
class Findings:
    """What a checker, a test run or a build reported.

    *by* is ``file`` (the first of each file is shown) or ``key`` (each distinct one once). The
    text is *head*, the items in the order of the output, a notice of what was left out, and the
    *verdict*, the tool's own last word. *counts* are the tool's figures by noun.
    """

    tool: str
    items: Sequence[Item]
    by: str = "file"
    noun: str = "error"
    head: str = ""
    verdict: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)

    def groups(self) -> dict[Hashable, _Group]:
        """Return the items by file or key, in the order of the output."""
        groups: dict[Hashable, _Group] = {}
        for item in self.items:
            key = item.file if self.by == "file" else item.key
            group = groups.get(key)
            if group is None:
                group = groups[key] = _Group(item, [])
            group.count += item.count
            group.items += 1
            group.names.extend(item.names)
        return groups

    def found(self) -> Found:
        """Return the files, the distinct failures and the counts."""
        files = dict.fromkeys(item.file for item in self.items if item.file)
        failures: Iterable[tuple[str, ...]] = ()
        if self.by == "key":
            failures = [
                tuple(dict.fromkeys(g.names)) or (g.first.text,) for g in self.groups().values()
            ]
        return Found(tuple(files), tuple(failures), dict(self.counts))

    def lay(self, room: Room) -> Laid:
        """Return the first of each group: whole if they fit, else as many as fit, in order.

        Before any is left out, long messages are cut in their middle. What does not fit is
        counted. Details are kept where all first lines fit whole and tokens are left, in order too.
        """
        groups = list(self.groups().values())
        head = clip(self.head, 1200)
        verdict = clip(self.verdict, 1200)
        ends = [end for end in (head, verdict) if end]
        fixed = sum(room.count(end) + 1 for end in ends)
        notice = room.count(self._notice(groups, 0, room)) + 8
        free = room.limit - fixed - notice
        for most in _LENGTHS:
            lines = [group.line(most) for group in groups]
            sizes = [room.count(line) + 1 for line in lines]
            if sum(sizes) <= free:
                break
        shown = len(groups)
        if sum(sizes) > free:
            shown, used = 0, 0
            while shown < len(groups) and used + sizes[shown] <= free:
                used += sizes[shown]
                shown += 1
        else:
            free -= sum(sizes)
            for number, group in enumerate(groups):
                detail = group.first.detail
                if not detail:
                    continue
                size = room.count(detail) + 1
                if size <= free:
                    lines[number] = f"{lines[number]}\n{detail}"
                    free -= size
        while True:
            text = self._text(head, lines[:shown], self._notice(groups, shown, room), verdict)
            if room.fits(text):
                return Laid(text, self._dropped(groups, shown))
            if shown:
                shown = min(shown - 1, int(shown * 0.98))
            elif head:
                head = ""
            elif verdict:
                verdict = "" if len(verdict) <= 60 else clip(verdict, len(verdict) // 2)
            else:
                return Laid(self._least(room), self._dropped(groups, 0))

    def _dropped(self, groups: Sequence[_Group], shown: int) -> dict[str, int]:
        total = sum(group.count for group in groups)
        in_sight = shown if self.by == "file" else sum(g.count for g in groups[:shown])
        dropped = {plural(self.noun, 2): total - in_sight}
        kind = "files" if self.by == "file" else f"distinct {plural(self.noun, 2)}"
        dropped[kind] = len(groups) - shown
        return {noun: count for noun, count in dropped.items() if count}

    def _notice(self, groups: Sequence[_Group], shown: int, room: Room) -> str:
        """Return the line that says what of *groups* is not among the first *shown*."""
        hidden = sum(group.count for group in groups[shown:])
        parts = []
        if self.by == "file":
            further = sum(group.count - 1 for group in groups[:shown])
            if further:
                parts.append(f"{_number(further, 'further ' + self.noun)} in the files above")
            if hidden:
                files = _number(len(groups) - shown, "file")
                parts.append(f"{_number(hidden, self.noun)} in {files} not shown")
        elif hidden:
            distinct = _number(len(groups) - shown, f"distinct {self.noun}")
            more = "" if hidden == len(groups) - shown else f" ({hidden:,} in all)"
            parts.append(f"{distinct}{more} not shown")
        if not parts:
            return ""
        return f"[left out: {'; '.join(parts)}; {room.ask}]"

    def _text(self, head: str, lines: Sequence[str], notice: str, verdict: str) -> str:
        return "\n".join(part for part in (head, *lines, notice, verdict) if part)

    def _least(self, room: Room) -> str:
        total = sum(item.count for item in self.items)
        text = f"[{_number(total, self.noun)} of {self.tool} left out; {room.ask}]"
        return text if room.fits(text) else f"[{total:,} {plural(self.noun, total)} left out]"


def plural(noun: str, count: int) -> str:
    """Return *noun* in the number of *count*."""
    if count == 1:
        return noun
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def singular(noun: str) -> str:
    """Return the noun of which *noun* is the plural, or *noun* if it is none."""
    for one in (f"{noun[:-3]}y", noun[:-2], noun[:-1]):
        if one and plural(one, 2) == noun:
            return one
    return noun


def _number(count: int, noun: str) -> str:
    return f"{count:,} {plural(noun, count)}"
