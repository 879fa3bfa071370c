"""Break-even: whether what a pass removed was worth breaking a cached prefix for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from sim.records import Record

__all__ = ["Pass", "Passes", "passes", "pays_back"]

_MILLION = 1_000_000


def pays_back(
    removed: float, behind: float, calls: float, read: float, write: float, refetch: float = 0.0
) -> bool:
    """Return whether a removal saves more than it costs: b·L·r > S·(w − r) + refetch.

    *removed* is b, the tokens that went; *behind* is S, the tokens behind the first cut that would
    have been read; *calls* is L, the calls to go, this one included; *read* and *write* are r and
    w, the prices of a token read and written, and *refetch* is what bringing things back cost, in
    the same unit. Price cliffs are left out. Source: the rewrite rule of calibration A2
    (FutureEnterprises/anatomy, method).
    """
    return removed * calls * read > behind * (write - read) + refetch


class Pass(NamedTuple):
    """One pass that removed something, and what came of it by the end of the run."""

    turn: int
    removed: int
    """b: tokens that left, less what was put in their place; the backstop's cuts among them."""
    behind: int
    """S: tokens that stayed behind the first cut and would have been read but for it."""
    broken: int
    """S, and what was lost in front of the cut because no entry ends there."""
    live: int
    """Tokens that the request before, sent again, would have read; 0: the cache was cold."""
    truncated: int
    """The backstop's part of what left."""
    calls: int
    """L: calls from this one to the end of the run."""
    refetches: int
    """Segments that this pass removed and that were brought back."""
    refetched: int
    """Their tokens, each time they came."""
    refetch_usd: float
    """What that cost: written once, read at every call after, and the extra calls it took."""
    saved_usd: float
    """b·L·r"""
    lost_usd: float
    """S·(w − r)"""
    paid_back: bool | None
    """None where reading and writing cost nothing."""

    def pays_at(self, ratio: float) -> bool:
        """Return whether it pays back, refetches left out, at R = *ratio* = (w − r) / r."""
        return pays_back(self.removed, self.behind, self.calls, 1.0, 1.0 + ratio)


@dataclass(slots=True)
class _Open:
    """A pass while the run goes on."""

    record: Record
    before: int
    """Calls sent before it."""
    fetches: list[tuple[int, int]] = field(default_factory=list)
    """(tokens, calls sent before the fetch)"""
    calls_usd: float = 0.0
    """Its share of the extra calls."""


class Passes:
    """Follows the passes of a run, record by record."""

    __slots__ = ("_calls", "_fetched", "_open", "_pages", "_pending", "_rates", "_removed_by")

    def __init__(self) -> None:
        self._rates = (0.0, 0.0, 0.0, 0.0)
        self._calls = 0
        self._open: list[_Open] = []
        self._pending: list[str] = []
        """Segments that have left since the last request."""
        self._removed_by: dict[str, _Open] = {}
        self._fetched: list[_Open | None] = []
        """Since the last request: the pass that had removed what was fetched."""
        self._pages = 0

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record[0]:
            case "run":
                self._rates = record[8]
            case "evict" | "truncate":
                self._pending.append(record[3])
            case "rewrite":
                self._pending += record[4]
            case "pass":
                opened = _Open(record, self._calls)
                self._open.append(opened)
                self._removed_by.update(dict.fromkeys(self._pending, opened))
                self._pending.clear()
            case "fetch":
                by = self._removed_by.get(record[3])
                self._fetched.append(by)
                if by is not None:
                    by.fetches.append((record[4], self._calls))
            case "page":
                self._pages += 1
            case "call":
                self._call(record)

    def _call(self, record: Record) -> None:
        """Count a call; of an extra one, each fetch it was for takes its share."""
        if record[12] and self._fetched:
            usd = record[4] * self._rates[2] / _MILLION + record[9]
            share = usd / (len(self._fetched) + self._pages)
            for by in self._fetched:
                if by is not None:
                    by.calls_usd += share
        self._fetched.clear()
        self._pages = 0
        self._calls += 1

    def close(self) -> list[Pass]:
        """Return the passes, now that the run is over."""
        return [self._closed(opened) for opened in self._open]

    def _closed(self, opened: _Open) -> Pass:
        _, _, turn, removed, behind, broken, live, truncated = opened.record
        _, write, read, _ = self._rates
        calls = self._calls - opened.before
        carried = sum(
            tokens * (write + read * max(0, self._calls - before - 1))
            for tokens, before in opened.fetches
        )
        refetch = carried / _MILLION + opened.calls_usd
        paid = None
        if write or read:
            paid = pays_back(removed, behind, calls, read, write, refetch * _MILLION)
        return Pass(
            turn,
            removed,
            behind,
            broken,
            live,
            truncated,
            calls,
            len(opened.fetches),
            sum(tokens for tokens, _ in opened.fetches),
            refetch,
            removed * calls * read / _MILLION,
            behind * (write - read) / _MILLION,
            paid,
        )


def passes(records: Iterable[Record]) -> list[Pass]:
    """Return every pass of a finished run, from its records alone."""
    found = Passes()
    for record in records:
        found.add(record)
    return found.close()
