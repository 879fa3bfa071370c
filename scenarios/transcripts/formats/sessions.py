"""What formats share that gather sessions in one JSONL file, or keep a session as a tree.

A session ends where a record names another one. In a tree each record names its parent; the path
from the last record up is what the session kept, the rest was given up on the way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["Link", "Record", "Tree", "sessions"]

Record = tuple[int, Any]
"""A line number and the record that stands there."""

_SHORT = 8


def sessions(
    records: Iterator[Record], session_of: Callable[[Any], str | None]
) -> Iterator[tuple[str, Iterator[Record]]]:
    """Yield a name and the records of each session; the name of the first is empty.

    *session_of* returns the session that a record names, None if it names none. The records of one
    must be read to their end before the next is asked for.
    """
    first: list[tuple[str, Record]] = []
    current: str | None = None

    def named() -> Iterator[tuple[str | None, Record]]:
        for record in records:
            yield session_of(record[1]), record

    rest = named()

    def run(record: Record) -> Iterator[Record]:
        nonlocal current
        yield record
        for session, record in rest:
            if session is not None and session != current:
                if current is not None:
                    first.append((session, record))
                    return
                current = session
            yield record

    head = next(rest, None)
    if head is not None:
        current = head[0]
        yield "", run(head[1])
    names: Counter[str] = Counter()
    while first:
        current, record = first.pop()
        name = re.sub(r"[^0-9A-Za-z]+", "", current)[:_SHORT] or "session"
        names[name] += 1
        yield name if names[name] == 1 else f"{name}-{names[name]}", run(record)


@dataclass(frozen=True, slots=True)
class Link:
    """A record's *id* and its *parent*: None for a root, ``...`` where it does not say."""

    id: str
    parent: Any


class Tree:
    """Finds the records of a file that lie off the path that their session ended on."""

    def __init__(self) -> None:
        self.aside: set[int] = set()
        """The line numbers of what lies off it, of the sessions that were closed."""
        self._parents: dict[str, tuple[list[int], str | None]] = {}
        self._last: str | None = None
        self._forks = False

    @classmethod
    def of(
        cls,
        records: Iterable[Record],
        session_of: Callable[[Any], str | None],
        link_of: Callable[[Any], Link | None],
    ) -> Tree:
        """Return the tree of *records*, with a root of its own for each session."""
        tree, current = cls(), None
        for place, record in records:
            session = session_of(record)
            if session is not None and session != current:
                if current is not None:
                    tree.close()
                current = session
            link = link_of(record)
            if link is not None:
                tree.add(place, link)
        tree.close()
        return tree

    def add(self, place: int, link: Link) -> None:
        """Take in the record at *place*."""
        if link.id in self._parents:
            self._parents[link.id][0].append(place)
            return
        parent = link.parent if isinstance(link.parent, str) else None
        if link.parent is not None and parent is None:
            parent = self._last
        self._forks = self._forks or parent != self._last
        self._parents[link.id] = ([place], parent)
        self._last = link.id

    def close(self) -> None:
        """End a session: what is not above its last record lies off the path."""
        if self._forks:
            self._walk()
        self._parents, self._last, self._forks = {}, None, False

    def _walk(self) -> None:
        order = list(self._parents)
        number = {name: index for index, name in enumerate(order)}
        kept: set[str] = set()
        name = self._last
        while name is not None and name not in kept:
            kept.add(name)
            parent = self._parents[name][1]
            if parent is not None and parent not in number:
                before = number[name] - 1
                parent = order[before] if before >= 0 else None
            name = parent
        for name, (places, _) in self._parents.items():
            if name not in kept:
                self.aside.update(places)
