"""What has been seen so far, by turn: what questions and later reads go back to."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Item", "Past"]


@dataclass(frozen=True, slots=True)
class Item:
    """A segment that can be asked about.

    *subject* is its path, or its id where it has none; *keys* the facts it states; *topic* the
    document, request or case it belongs to.
    """

    id: str
    subject: str
    keys: tuple[str, ...]
    topic: int


class Past:
    """Items in order of arrival, with the turn in which each came."""

    __slots__ = ("_ends", "_latest", "items")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._ends: list[int] = [0]
        self._latest: dict[str, Item] = {}

    def add(self, item: Item) -> None:
        """Add an item of the turn that is under way."""
        self.items.append(item)
        self._latest[item.subject] = item

    def close(self) -> None:
        """End the turn that is under way."""
        self._ends.append(len(self.items))

    def latest(self, item: Item) -> Item:
        """Return the newest item of the same subject."""
        return self._latest[item.subject]

    def recent(self, draw: float) -> Item | None:
        """Return an item of the turn under way, else of the turn before, else None."""
        end = len(self.items)
        start = self._ends[-1]
        if start == end and len(self._ends) > 1:
            start = self._ends[-2]
        return self.items[_place(start, end, draw)] if start < end else None

    def at(self, turn: int, draw: float) -> int | None:
        """Return the index of an item of *turn*, or of the last one before it that has any.

        None if there is none, as behind the first turn.
        """
        if turn < 1:
            return None
        start = self._ends[turn - 1]
        end = self._ends[turn] if turn < len(self._ends) else len(self.items)
        if start == end:
            return end - 1 if end else None
        return _place(start, end, draw)

    def mates(self, index: int, most: int) -> list[Item]:
        """Return up to *most* items of the same topic, those nearest in order first."""
        found: list[Item] = []
        topic = self.items[index].topic
        steps = [1, -1]
        distance = 1
        while steps and len(found) < most:
            for step in tuple(steps):
                near = index + step * distance
                if not 0 <= near < len(self.items) or self.items[near].topic != topic:
                    steps.remove(step)
                elif len(found) < most:
                    found.append(self.items[near])
            distance += 1
        return found


def _place(start: int, end: int, draw: float) -> int:
    return start + int((end - start) * draw)
