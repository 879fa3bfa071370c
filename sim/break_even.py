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
    the same unit. Price cliffs, and the calls that a rewrite asks of the model, are left out.
    Source: the rewrite rule of calibration A2 (FutureEnterprises/anatomy, method).
    """
    return removed * calls * read > behind * (write - read) + refetch


class Pass(NamedTuple):
    """One pass that removed something, and what came of it by the end of the run."""

    turn: int
    removed: int
    """b: tokens that left, less what was put in their place; the backstop's cuts among them."""
    behind: int
    """S: tokens that stayed behind the first cut and would have been read but for it; 0 where
    something else broke the prefix in front of it."""
    broken: int
    """S, and what was lost in front of the cut because no entry ends there."""
    live: int
    """Tokens that the request before, sent again, would have read; 0: the cache was cold."""
    truncated: int
    """The backstop's part of what left."""
    calls: int
    """L: calls from this one to the end of the run."""
    write: float
    """w, the price of a token written, in US dollars per million."""
    refetches: int
    """Segments that this pass removed and that were brought back."""
    refetched: int
    """Their tokens, each time they came."""
    refetch_usd: float
    """What that cost: written once, read at every call after, and their share of the extra calls.

    What the next pass threw out again before a request was sent was not written.
    """
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
    fetches: list[_Fetch] = field(default_factory=list)


@dataclass(slots=True)
class _Fetch:
    """Something that was brought back."""

    segment: str
    tokens: int
    by: _Open | None
    """The pass that had removed it; None: it left since the last request, or is unknown."""
    before: int
    """Calls sent before it."""
    stays: bool = True
    """Whether the next request still held it."""
    usd: float = 0.0
    """Its share of the extra call."""


class Passes:
    """Follows the passes of a run, record by record."""

    __slots__ = ("_admitted", "_calls", "_fetched", "_left", "_open", "_rates", "_removed_by")

    def __init__(self) -> None:
        self._rates = (0.0, 0.0, 0.0, 0.0)
        self._calls = 0
        self._open: list[_Open] = []
        self._left: set[str] = set()
        """Segments that have left since the last pass."""
        self._removed_by: dict[str, _Open] = {}
        self._fetched: list[_Fetch] = []
        """What came back since the last request."""
        self._admitted = 0
        """Segments let in at the door since the last request."""

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record[0]:
            case "admit":
                self._admitted += 1
            case "evict" | "truncate":
                self._leave(record[3])
            case "call":
                self._call(record)
            case "rewrite":
                for segment in record[4]:
                    self._leave(segment)
            case "pass":
                self._pass(record)
            case "fetch":
                self._fetch(record[3], record[4])
            case "run":
                self._rates = record[8]

    def _leave(self, segment: str) -> None:
        self._left.add(segment)
        for fetch in self._fetched:
            fetch.stays = fetch.stays and fetch.segment != segment

    def _fetch(self, segment: str, tokens: int) -> None:
        by = None if segment in self._left else self._removed_by.get(segment)
        fetch = _Fetch(segment, tokens, by, self._calls)
        self._fetched.append(fetch)
        if by is not None:
            by.fetches.append(fetch)

    def _pass(self, record: Record) -> None:
        """Open a pass; what came back since the last request, having left after it, is its own."""
        opened = _Open(record, self._calls)
        self._open.append(opened)
        for fetch in self._fetched:
            if fetch.by is None and fetch.segment in self._left:
                fetch.by = opened
                opened.fetches.append(fetch)
        self._removed_by.update(dict.fromkeys(self._left, opened))
        self._left.clear()

    def _call(self, record: Record) -> None:
        """Count a call; of an extra one, what it was for takes its share each."""
        if record[12] and self._fetched:
            usd = record[4] * self._rates[2] / _MILLION + record[9]
            share = usd / (len(self._fetched) + self._admitted)
            for fetch in self._fetched:
                fetch.usd = share
        self._fetched.clear()
        self._admitted = 0
        self._calls += 1

    def close(self) -> list[Pass]:
        """Return the passes, now that the run is over."""
        return [self._closed(opened) for opened in self._open]

    def _closed(self, opened: _Open) -> Pass:
        _, _, turn, removed, behind, broken, live, truncated, write = opened.record
        read = self._rates[2]
        calls = self._calls - opened.before
        refetch = sum(self._cost(fetch, write) for fetch in opened.fetches)
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
            write,
            len(opened.fetches),
            sum(fetch.tokens for fetch in opened.fetches),
            refetch,
            removed * calls * read / _MILLION,
            behind * (write - read) / _MILLION,
            paid,
        )

    def _cost(self, fetch: _Fetch, write: float) -> float:
        """Return what a fetch cost in dollars: nothing if no request followed it."""
        read, calls = self._rates[2], self._calls - fetch.before
        once = write - read if fetch.stays and calls else 0.0
        return fetch.tokens * (once + read * calls) / _MILLION + fetch.usd


def passes(records: Iterable[Record]) -> list[Pass]:
    """Return every pass of a finished run, from its records alone."""
    found = Passes()
    for record in records:
        found.add(record)
    return found.close()
