"""The window as the records rebuild it: who is resident, where, and at what size."""

from __future__ import annotations

from collections.abc import Iterable

from sim.errors import AuditError

__all__ = ["Window"]


class Window:
    """Resident segments in order; every change costs constant time, reading the order one pass.

    A segment sits in a numbered slot. What is appended gets a new slot behind all others, what
    is replaced hands its slot on, and what leaves empties it.
    """

    __slots__ = ("_front", "_place", "_slots", "sizes", "total")

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.total = 0
        self._slots: list[str | None] = []
        self._place: dict[str, int] = {}
        self._front = 0

    def __contains__(self, segment: str) -> bool:
        return segment in self.sizes

    def __len__(self) -> int:
        return len(self.sizes)

    def append(self, segment: str, tokens: int) -> None:
        """Put *segment* at the end."""
        self._settle(segment, len(self._slots), tokens)

    def remove(self, segment: str, tokens: int) -> int:
        """Take *segment* out and return its slot; it must hold exactly *tokens*."""
        held = self.held(segment)
        if held != tokens:
            raise AuditError(f"{segment!r} holds {held} tokens, the record says {tokens}")
        slot = self._place.pop(segment)
        del self.sizes[segment]
        self._slots[slot] = None
        self.total -= held
        return slot

    def replace(self, segments: Iterable[str], by: str, tokens: int, *, last: bool = False) -> int:
        """Put *by* where the first of *segments* stood, or the last, and return what they held."""
        before = self.total
        slots = [self.remove(segment, self.held(segment)) for segment in segments]
        slot = max(slots) if last else min(slots)
        freed = before - self.total
        self._settle(by, slot, tokens)
        return freed

    def resize(self, segment: str, tokens: int) -> None:
        """Give *segment* another size; its place stays."""
        self.total += tokens - self.held(segment)
        self.sizes[segment] = tokens

    def held(self, segment: str) -> int:
        """Return the tokens of *segment*, which must be resident."""
        try:
            return self.sizes[segment]
        except KeyError:
            raise AuditError(f"{segment!r} is not in the window") from None

    def first(self) -> str | None:
        """Return the front-most segment, or None if the window is empty."""
        while self._front < len(self._slots):
            segment = self._slots[self._front]
            if segment is not None:
                return segment
            self._front += 1
        return None

    def order(self) -> tuple[str, ...]:
        """Return the resident segments from front to back."""
        return tuple(segment for segment in self._slots if segment is not None)

    def _settle(self, segment: str, slot: int, tokens: int) -> None:
        if segment in self.sizes:
            raise AuditError(f"{segment!r} is in the window already")
        if slot == len(self._slots):
            self._slots.append(segment)
        else:
            self._slots[slot] = segment
        self._place[segment] = slot
        self.sizes[segment] = tokens
        self.total += tokens
