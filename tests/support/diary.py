"""Records written by hand: a small builder with the usual value for what a test leaves out."""

from __future__ import annotations

from typing import Any

from sim.records import FIELDS, Record


class Diary:
    """A list of records that grows by one call a record; time goes on by one second a record."""

    def __init__(self, budget: int = 1_000, declares: tuple[str, ...] = ()) -> None:
        self.records: list[Record] = []
        self.turn_number = 0
        self._noted = 0
        rates = (2.0, 2.5, 0.2, 10.0)
        self.put("run", "hand", "policy", 0, budget, "price", rates, declares, "digest")

    def put(self, kind: str, *values: Any) -> Diary:
        """Add a record as it stands."""
        self.records.append((kind, float(len(self.records)), self.turn_number, *values))
        return self

    def __getattr__(self, kind: str) -> Any:
        if kind not in FIELDS:
            raise AttributeError(kind)
        return lambda *values: self.put(kind, *values)

    def turn(self) -> Diary:
        self.turn_number += 1
        return self.put("turn", None, None, ())

    def arrive(
        self,
        segment: str,
        tokens: int,
        *,
        kind: str = "user",
        copy: bool = False,
        pinned: bool = False,
        path: str | None = None,
        pair: str | None = None,
        facts: tuple[str, ...] = (),
    ) -> Diary:
        return self.put("arrive", segment, kind, tokens, 1.0, copy, pinned, path, pair, facts)

    def admit(
        self,
        segment: str,
        tokens: int,
        how: str = "whole",
        never: int = 0,
        displaced: tuple[str, ...] = (),
    ) -> Diary:
        return self.put("admit", segment, tokens, how, never, displaced, None, None)

    def come(self, segment: str, tokens: int, **details: Any) -> Diary:
        """Let a segment arrive and in."""
        return self.arrive(segment, tokens, **details).admit(segment, tokens)

    def refuse(
        self,
        segment: str,
        tokens: int,
        reason: str = "margin",
        displaced: tuple[str, ...] = (),
    ) -> Diary:
        return self.put("refuse", segment, tokens, reason, displaced, 0.1, 0.2)

    def evict(
        self,
        segment: str,
        tokens: int,
        book: str = "dispensable",
        reason: str = "lowest",
        by: str = "pass",
    ) -> Diary:
        return self.put("evict", segment, tokens, book, reason, by)

    def rewrite(
        self,
        surrogate: str,
        sources: tuple[str, ...],
        before: int,
        after: int,
        *,
        tagged: bool = True,
        kept: tuple[str, ...] = (),
        reason: str = "relevance",
        by: str = "pass",
    ) -> Diary:
        """Ask the model for a surrogate, given the sources, and put it in their place."""
        self.maintain(surrogate, before, 0, after, 0.125)
        return self.put(
            "rewrite", surrogate, sources, before, after, tagged, kept, reason, by, True
        )

    def summarised(
        self,
        surrogate: str,
        sources: tuple[str, ...],
        before: int,
        after: int,
        *,
        sent: int | None = 0,
        written: int | None = None,
        kept: tuple[str, ...] = (),
        made_up: tuple[str, ...] = (),
        unseen: tuple[str, ...] = (),
        saved: bool = False,
        last: bool = False,
    ) -> Diary:
        """Put what a summariser wrote in the place of *sources*; *sent* 0: nobody was asked."""
        if sent:
            self.maintain(surrogate, sent, 0, after if written is None else written, 0.125)
        self.put("summary", surrogate, sent, made_up, unseen, saved, last)
        values = (before, after, True, kept, "compaction", "pass", bool(sent))
        return self.put("rewrite", surrogate, sources, *values)

    def stub(self, surrogate: str, source: str, before: int, after: int) -> Diary:
        """Put a fixed text in the place of *source*."""
        values = (before, after, True, (), "masked", "pass", False)
        return self.put("rewrite", surrogate, (source,), *values)

    def maintain(self, surrogate: str, given: int, read: int, written: int, usd: float) -> Diary:
        """Ask the model for a surrogate."""
        causes = (("rewrite", given, usd),)
        return self.put("maintain", surrogate, given, read, written, usd, 1, read > 0, causes)

    def wasted(
        self,
        why: str,
        sources: tuple[str, ...],
        given: int,
        read: int,
        written: int,
        usd: float,
        causes: tuple[tuple[str, int, float], ...],
        calls: int | None = None,
        prefix: bool | None = None,
    ) -> Diary:
        """Ask a summariser of whom nothing comes: once, and not at all where it overflows."""
        calls = int(why != "overflow") if calls is None else calls
        prefix = read > 0 if prefix is None else prefix
        return self.put("wasted", why, sources, given, read, written, usd, calls, prefix, causes)

    def truncate(self, segment: str, tokens: int, *, pinned: bool = False) -> Diary:
        """Cut a segment and book the policy bug that goes with it."""
        self.put("truncate", segment, tokens, pinned, False, "admit")
        return self.put("bug", "unexplained truncation", segment, tokens, "a cut")

    def rehydrate(
        self,
        segment: str,
        tokens: int,
        how: str = "granted",
        by: str = "threshold",
        reason: str | None = None,
        displaced: tuple[str, ...] = (),
    ) -> Diary:
        return self.put("rehydrate", segment, tokens, how, by, reason, displaced, 0.9, 0.1)

    def fetch(self, segment: str, tokens: int, version: int = 0, by: str = "threshold") -> Diary:
        return self.put("fetch", segment, tokens, version, by)

    def call(
        self,
        tokens: int,
        read: int = 0,
        *,
        output: int = 10,
        usd: float = 0.5,
        output_usd: float = 0.25,
        extra: bool = False,
    ) -> Diary:
        """Send a request, whatever left before it noted as a pass."""
        self.note()
        plain = tokens - read
        causes = (("read", read, usd / 5), ("append", plain, usd - usd / 5))
        values = (tokens, read, 0, plain, output, usd, output_usd, 2.0, 3.0, extra, causes)
        return self.put("call", *values)

    def note(self, behind: int = 0, live: int = 0) -> Diary:
        """Note what has left since the last pass, if anything has."""
        left = put = truncated = 0
        for kind, _, _, *values in self.records[self._noted :]:
            match kind:
                case "evict":
                    left += values[1]
                case "truncate":
                    left += values[1]
                    truncated += values[1]
                case "rewrite":
                    left += values[2]
                    put += values[3]
                case "restore" | "reveal":
                    left += values[2]
                    put += values[3]
        self._noted = len(self.records)
        if not left:
            return self
        return self.put("pass", left - put, behind, behind, live, truncated, 2.5)

    def answer(
        self, query: str, segment: str | None, outcome: str = "correct", key: str = "fact"
    ) -> Diary:
        return self.put("answer", query, key, segment, outcome, "cause", "value")

    def end(
        self, *window: str, status: str = "completed", reason: str | None = None
    ) -> list[Record]:
        """Close the run with *window* and return its records."""
        self.put("end", status, reason, window, float(len(self.records)))
        return self.records
