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

_BREAKS = frozenset({"eviction", "truncation", "rewrite", "compaction", "refresh"})
"""Causes by which what a policy does to the window makes tokens be computed again."""


def facts(records: Iterable[Record]) -> dict[str, Any]:
    """Return what was gone when it was needed, and which removals broke the prefix.

    ``gone`` has an entry for each asked segment that was not resident, full and current at the
    call: `turn`, `segment`, its `path`, `tokens`, `query` and its `outcome` (both None of an
    explicit request), `how` it had gone and `since` when.
    ``broke`` has one for each call before which a removal, a rewrite or a refresh made tokens
    behind it be computed again: `turn`, `by` (which of them, by the dearest), `segments` (at most
    five), `count` of them, `removed` tokens, and `again` and `usd`, the tokens and dollars of the
    call that are due to them: gross, as what was removed saved is not taken off.
    Of both the :data:`MOST` largest are kept, by tokens and by dollars; ``gone_by`` counts all by
    how they went, ``gone_count``, ``broke_count`` and ``broke_usd`` are of all; ``asked_count`` is
    of all questions and explicit requests.
    """
    return _Reader().read(records)


class _Reader:
    """Reads the records of one run."""

    def __init__(self) -> None:
        self._left: dict[str, tuple[int, str]] = {}
        """Segment → the turn in which it left or went stale, and how."""
        self._gone: list[dict[str, Any]] = []
        self._asked: dict[int, list[dict[str, Any]]] = {}
        """Turn → what its queries asked for and did not find."""
        self._paths: dict[str, str | None] = {}
        self._keys: dict[str, frozenset[str]] = {}
        self._changed: list[str] = []
        """What has left, or was brought up to date in place, since the last call."""
        self._removed = self._made = 0
        """Tokens that have left the window, and that came in place of others, since then."""
        self._asked_count = 0
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
            "asked_count": self._asked_count,
            "gone_by": dict(sorted(Counter(each["how"] for each in gone).items())),
            "broke": broke[:MOST],
            "broke_count": len(broke),
            "broke_usd": sum(each["usd"] for each in broke),
        }

    def _leave(self, segment: str, turn: int, how: str) -> None:
        self._left[segment] = (turn, how)
        self._changed.append(segment)

    def _arrive(self, record: Record) -> None:
        self._paths[record[3]], self._keys[record[3]] = record[9], frozenset(record[11])

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
        self._removed += record[4]

    def _rewrite(self, record: Record) -> None:
        tagged = "tagged" if record[7] else "untagged"
        for segment in record[4]:
            self._leave(segment, record[2], f"rewritten, {tagged} ({record[9]})")
        self._removed += record[5] - record[6]
        self._made += record[6]

    def _reveal(self, record: Record) -> None:
        self._left.pop(record[4], None)
        self._changed.append(record[4])
        self._removed += record[5] - record[6]
        self._made += record[6]

    def _truncate(self, record: Record) -> None:
        self._leave(record[3], record[2], "cut by the backstop")
        self._removed += record[4]

    def _write(self, record: Record) -> None:
        for segment in record[5]:
            self._left[segment] = (record[2], "stale")

    def _refresh(self, record: Record) -> None:
        if self._left.get(record[3], (0, ""))[1] == "stale":
            del self._left[record[3]]
        if record[7] == "policy":
            self._changed.append(record[3])
            self._made += record[5]

    def _call(self, record: Record) -> None:
        due = [each for each in record[13] if each[0] in _BREAKS]
        again = sum(tokens for _, tokens, _ in due)
        if self._changed and again > self._made:
            due.sort(key=lambda each: -each[2])
            self._broke.append(
                {
                    "turn": record[2],
                    "by": [cause for cause, _, _ in due],
                    "segments": self._changed[:5],
                    "count": len(self._changed),
                    "removed": self._removed,
                    "again": again,
                    "usd": sum(usd for _, _, usd in due),
                }
            )
        self._changed, self._removed, self._made = [], 0, 0

    def _missed(self, record: Record) -> None:
        since, how = self._left.get(record[3], (None, "in part"))
        entry = {
            "turn": record[2],
            "segment": record[3],
            "path": self._paths.get(record[3]),
            "tokens": record[4],
            "query": None,
            "outcome": None,
            "how": how,
            "since": since,
        }
        self._gone.append(entry)
        if record[5] == "query":
            self._asked.setdefault(record[2], []).append(entry)

    def _operator(self, record: Record) -> None:
        self._asked_count += 1

    def _answer(self, record: Record) -> None:
        """Note what came of a question, with what was asked for: what states its key."""
        _, _, turn, query, key, segment, outcome, *_ = record
        self._asked_count += 1
        waiting = [each for each in self._asked.get(turn, ()) if each["outcome"] is None]
        waiting = [
            each
            for each in waiting
            if each["segment"] == segment or key in self._keys.get(each["segment"], ())
        ]
        for entry in sorted(waiting, key=lambda each: each["segment"] != segment)[:1]:
            entry["query"], entry["outcome"] = query, outcome
