"""What a replay shows besides its metrics, from its records alone: what was gone, what broke."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.records import Record

__all__ = ["MOST", "facts"]

MOST = 20
"""Examples kept of each; the counts are of all."""

_UNBROKEN = frozenset({"read", "append", "expiry", "rule", "storage", "keep-alive"})
"""Causes that are no removal's."""


def facts(records: Iterable[Record]) -> dict[str, Any]:
    """Return what was gone when it was needed, and which removals broke the prefix.

    ``gone`` has an entry for each asked segment that was not resident, full and current at the
    call: `turn`, `segment`, `tokens`, `query` and its `outcome` (both None of an explicit
    request), `how` it had gone and `since` when.
    ``broke`` has one for each turn whose removals made tokens be computed again: `turn`,
    `segments` (at most five), `count` of them, `removed` and `behind` in tokens, and `usd`, what
    the call cost on their account. Of both the :data:`MOST` largest are kept, by tokens and by
    dollars; ``gone_by`` counts all by how they went, ``gone_count``, ``broke_count`` and
    ``broke_usd`` are of all.
    """
    return _Reader().read(records)


class _Reader:
    """Reads the records of one run."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[int, str]] = {}
        """Segment → the turn in which it left or went stale, and how."""
        self._gone: list[dict[str, Any]] = []
        self._asked: dict[tuple[int, str], list[dict[str, Any]]] = {}
        self._removed: list[str] = []
        """What has left since the last call."""
        self._cut = (0, 0)
        """Tokens removed, and tokens behind the first cut, since the last call."""
        self._broke: list[dict[str, Any]] = []

    def read(self, records: Iterable[Record]) -> dict[str, Any]:
        for record in records:
            take = getattr(self, f"_{record[0]}", None)
            if take is not None:
                take(record)
        gone = sorted(self._gone, key=lambda each: (-each["tokens"], each["turn"]))
        broke = sorted(self._broke, key=lambda each: (-each["usd"], each["turn"]))
        return {
            "gone": gone[:MOST],
            "gone_count": len(gone),
            "gone_by": dict(sorted(Counter(each["how"] for each in gone).items())),
            "broke": broke[:MOST],
            "broke_count": len(broke),
            "broke_usd": sum(each["usd"] for each in broke),
        }

    def _leave(self, segment: str, turn: int, how: str) -> None:
        self._left[segment] = (turn, how)
        self._removed.append(segment)

    def _admit(self, record: Record) -> None:
        self._left.pop(record[3], None)
        for segment in record[7]:
            self._left[segment] = (record[2], "displaced")

    def _fetch(self, record: Record) -> None:
        self._left.pop(record[3], None)

    def _refuse(self, record: Record) -> None:
        self._left[record[3]] = (record[2], f"never admitted ({record[5]})")

    def _evict(self, record: Record) -> None:
        self._leave(record[3], record[2], f"evicted ({record[6]})")

    def _rewrite(self, record: Record) -> None:
        tagged = "tagged" if record[7] else "untagged"
        for segment in record[4]:
            self._leave(segment, record[2], f"rewritten, {tagged} ({record[9]})")

    def _truncate(self, record: Record) -> None:
        self._leave(record[3], record[2], "cut by the backstop")

    def _write(self, record: Record) -> None:
        for segment in record[5]:
            self._left[segment] = (record[2], "stale")

    def _refresh(self, record: Record) -> None:
        if self._left.get(record[3], (0, ""))[1] == "stale":
            del self._left[record[3]]

    def _pass(self, record: Record) -> None:
        self._cut = (record[3], record[4])

    def _call(self, record: Record) -> None:
        usd = sum(usd for cause, _, usd in record[13] if cause not in _UNBROKEN)
        behind = self._cut[1]
        if self._removed and behind:
            self._broke.append(
                {
                    "turn": record[2],
                    "segments": self._removed[:5],
                    "count": len(self._removed),
                    "removed": self._cut[0],
                    "behind": behind,
                    "usd": usd,
                }
            )
        self._removed, self._cut = [], (0, 0)

    def _missed(self, record: Record) -> None:
        since, how = self._left.get(record[3], (None, "in part"))
        entry = {
            "turn": record[2],
            "segment": record[3],
            "tokens": record[4],
            "query": None,
            "outcome": None,
            "how": how,
            "since": since,
        }
        self._gone.append(entry)
        self._asked.setdefault((record[2], record[3]), []).append(entry)

    def _answer(self, record: Record) -> None:
        for entry in self._asked.get((record[2], record[5]), ()):
            if entry["outcome"] is None:
                entry["query"], entry["outcome"] = record[3], record[6]
                return
