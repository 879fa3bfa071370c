"""The ledger: for every token that left the window, which book it is in and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

from sim.errors import AuditError, UnexplainedAbsence

__all__ = ["Books", "Entry", "Ledger"]

Entry = tuple[Any, ...]
"""``(segment, what, turn, *details)``: what happened to one segment.

admitted (how), never-admitted (reason), fetched (), rewritten (surrogate, tagged),
restored (invented text), revealed (what a stub hid), evicted (book, reason), truncated ().
"""

_MEMOS = frozenset({"balance", "revealed"})
"""What stands beside the books, and is none."""

_REPLACED = frozenset({"rewritten", "restored"})
"""What happened, where the first detail names what took the segment's place."""


@dataclass(slots=True)
class Books:
    """The books of a run, in tokens. What came in, less what left, is what is resident."""

    admitted: int = 0
    surrogate: int = 0
    fabricated: int = 0
    refreshed_in: int = 0
    rehydrated: int = 0
    evicted_copy: int = 0
    evicted_dispensable: int = 0
    rewritten: int = 0
    refreshed_out: int = 0
    truncated: int = 0
    never_admitted: int = 0
    balance: int = field(default=0)
    """What must be resident now."""
    revealed: int = field(default=0)
    """Those of the rehydrated that came back in the place of a stub."""

    def enter(self, book: str, tokens: int) -> None:
        """Book *tokens* that come in."""
        setattr(self, book, getattr(self, book) + tokens)
        self.balance += tokens

    def leave(self, book: str, tokens: int) -> None:
        """Book *tokens* that leave."""
        setattr(self, book, getattr(self, book) + tokens)
        self.balance -= tokens

    def left(self) -> int:
        """Return the tokens that left, refreshes apart."""
        return self.evicted_copy + self.evicted_dispensable + self.rewritten + self.truncated

    def removed(self) -> int:
        """Return the tokens that left, refreshes apart, less what was put in their place."""
        return self.left() - self.surrogate - self.fabricated - self.revealed

    def as_dict(self) -> dict[str, int]:
        """Return every book by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _MEMOS}


class Ledger:
    """Books every token once, and keeps each segment's history for :meth:`why`."""

    __slots__ = ("_entries", "_serial", "books")

    def __init__(self) -> None:
        self.books = Books()
        self._entries: dict[str, list[tuple[int, Entry]]] = {}
        self._serial = 0

    def note(self, segment: str, what: str, turn: int, *details: object) -> None:
        """Add an entry to the history of *segment*."""
        self._serial += 1
        entry = (segment, what, turn, *details)
        self._entries.setdefault(segment, []).append((self._serial, entry))

    def check(self, resident: int, where: str) -> None:
        """Raise AuditError unless the books balance with what is *resident*."""
        if self.books.balance != resident:
            raise AuditError(
                f"the books say {self.books.balance} tokens are resident after {where}, "
                f"the window holds {resident}"
            )

    def why(self, segment: str) -> tuple[Entry, ...]:
        """Return the chain that explains where *segment* is, oldest entry first.

        The chain follows the surrogates that stood for it. Raises UnexplainedAbsence if the
        ledger has never heard of it.
        """
        if segment not in self._entries:
            raise UnexplainedAbsence(f"the ledger has no entry for segment {segment!r}")
        own = self._entries[segment]
        chain: list[Entry] = []
        for index, (_, entry) in enumerate(own):
            chain.append(entry)
            if entry[1] in _REPLACED:
                until = own[index + 1][0] if index + 1 < len(own) else self._serial + 1
                chain.extend(self._follow(entry[3], until))
        return tuple(chain)

    def _follow(self, stand_in: str, until: int) -> Iterator[Entry]:
        """Yield what happened to *stand_in*, and to what replaced it, before entry *until*."""
        name: str | None = stand_in
        while name is not None:
            entries, name = self._entries.get(name, ()), None
            for serial, entry in entries:
                if serial >= until:
                    return
                yield entry
                if entry[1] in _REPLACED:
                    name = entry[3]
