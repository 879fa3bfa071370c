"""A slow second reading of a run: plain lists, direct powers, no index, no incremental state.

It follows the records for *what happened* and works out from the script alone what the rules say
about it: saliences, needs of attempts, answers of a strict reader, who may leave first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from sim.records import Record
from sim.reduction import HEADS, SAVED, least_tokens
from sim.script import Arrival, Query, Script, Write
from sim.segments import Kind

__all__ = ["Oracle", "is_strict"]


_ENDS = frozenset({*HEADS, *SAVED}) - {"spill"}
"""Forms that leave of a result what a policy says, whatever its tool's limit."""

_PLAIN: list[Any] = [None, (), (), False, False]
"""What is particular of a surrogate about which no record says anything."""


def is_strict(script: Script) -> bool:
    """Whether the reader leaves nothing to chance."""
    flat = script.settings
    return (
        flat["reader.invent_untagged"] == 1
        and flat["reader.fetch_tagged"] == 1
        and flat["reader.distraction"] == 0
        and flat["reader.refetch"] == "tag"
    )


@dataclass
class Oracle:
    """The state of a run after the records given to :meth:`follow` so far."""

    script: Script
    window: list[tuple[str, int]] = field(default_factory=list)
    arrivals: dict[str, Arrival] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    """Order of arrival, or of making."""
    scored: dict[str, tuple[float, int]] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    """Segments that were admitted, and how."""
    sizes: dict[str, int] = field(default_factory=dict)
    """What entered of a segment, in tokens."""
    held: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tagged: dict[str, bool] = field(default_factory=dict)
    kept: dict[str, frozenset[str]] = field(default_factory=dict)
    of_old: dict[str, dict[str, int]] = field(default_factory=dict)
    """The versions that a surrogate was made from."""
    invented: set[str] = field(default_factory=set)
    made_up: dict[str, frozenset[str]] = field(default_factory=dict)
    """Keys for which a stand-in states what was invented."""
    called: list[str] = field(default_factory=list)
    """Who was resident at the last turn's first call."""
    came: dict[str, int] = field(default_factory=dict)
    """The last turn in which a segment was admitted or fetched."""
    touched: set[str] = field(default_factory=set)
    """Paths written since the last attempt began."""
    particular: dict[str, list[Any]] = field(default_factory=dict)
    """Of a surrogate: what its summariser was given, what it invented, whether the sources were
    saved, and whether it stands where the last of them stood."""
    turn: int = 0

    def __post_init__(self) -> None:
        branches = [b for a in self.script.attempts for b in (a.ok, a.failed)]
        for stimuli in (self.script.stimuli, *branches):
            self.arrivals.update((s.id, s) for s in stimuli if isinstance(s, Arrival))

    # What happened

    def follow(self, record: Record) -> None:
        """Take in one record."""
        kind, _, self.turn, *values = record
        match kind:
            case "arrive":
                self.order[values[0]] = len(self.order)
                self.scored[values[0]] = (values[3], self.turn)
            case "page":
                self._page(values[0], values[1], values[2], values[4])
            case "admit":
                self.how[values[0]] = values[2]
                self.sizes[values[0]] = values[1]
                self._enter(values[0], values[1])
            case "fetch":
                self._enter(values[0], values[1])
            case "evict" | "truncate":
                self.window = [pair for pair in self.window if pair[0] != values[0]]
            case "summary":
                self.particular[values[0]] = values[1:]
            case "rewrite":
                given, invented, _, saved, last = self.particular.get(values[0], _PLAIN)
                self._stand_in(values[0], values[1], values[3], last=last)
                if saved:
                    self._save(values[0])
                self.tagged[values[0]] = values[4]
                self.of_old[values[0]] = {
                    o: self.held[o] for o in self.originals(values[0]) if o in self.held
                }
                made_up = self._made_up(values[1]) if given is None else frozenset(invented)
                self.kept[values[0]] = frozenset(values[5]) - made_up
                self.made_up[values[0]] = frozenset(values[5]) & made_up
            case "reveal":
                self._show(values[0], values[1], values[3])
            case "restore":
                self._stand_in(values[1], (values[0],), values[3])
                self.invented.add(values[1])
                self.kept[values[1]] = self.kept[values[0]] - {values[4]}
                self.made_up[values[1]] = self.made_up[values[0]] | {values[4]}
                self.of_old[values[1]] = self.of_old[values[0]]
            case "write":
                self.versions[values[0]] = values[1]
                self.touched.add(values[0])
            case "attempt":
                self.touched.clear()
            case "refresh":
                self._refresh(*values)
            case "score":
                self.scored[values[0]] = (values[2], self.turn)
            case "call" if not values[9]:
                self.called = self.residents()

    def _page(self, segment: str, page: str, number: int, how: str) -> None:
        """A page comes with the facts that stand on it; a pointer's is as large as the limit."""
        whole = self.arrivals[segment]
        size = self.sizes[segment]
        if how == "pointer" and whole.max_result_tokens is not None:
            size = whole.max_result_tokens
        last = whole.tokens - 1
        at = {f: f.at if f.at is not None else 0 if f.reducible else last for f in whole.facts}
        facts = tuple(f for f in whole.facts if min(at[f], last) // size == number - 1)
        copy = whole.copy or how == "pointer"
        self.arrivals[page] = replace(
            whole, id=page, facts=facts, copy=copy, pair=None, pinned=False, standing=False
        )

    def _enter(self, segment: str, tokens: int) -> None:
        self.window.append((segment, tokens))
        self.held[segment] = self.version(segment)
        self.came[segment] = self.turn

    def _save(self, surrogate: str) -> None:
        """What the surrogate stands for can be fetched from now on."""
        for original in self.originals(surrogate):
            self.arrivals[original] = replace(self.arrivals[original], copy=True)

    def _stand_in(
        self, new: str, sources: tuple[str, ...], tokens: int, last: bool = False
    ) -> None:
        places = [i for i, (segment, _) in enumerate(self.window) if segment in sources]
        at = places[-1 if last else 0]
        self.window[at] = (new, tokens)
        self.window = [pair for pair in self.window if pair[0] not in sources]
        self.sources[new] = tuple(sources)
        self.order[new] = len(self.order)

    def _show(self, stub: str, source: str, tokens: int) -> None:
        """The text that *stub* hides stands in its place again, of the version that it had."""
        self.window = [(source, tokens) if s == stub else (s, n) for s, n in self.window]

    def _made_up(self, sources: tuple[str, ...]) -> frozenset[str]:
        """Keys that no source states but as an invention."""
        told = {f.key for s in sources if s in self.arrivals for f in self.arrivals[s].facts}
        told.update(*(self.kept[s] for s in sources if s in self.sources))
        return frozenset().union(*(self.made_up.get(s, ()) for s in sources)) - told

    def _refresh(self, segment: str, before: int, after: int, version: int, by: str) -> None:
        path = self.arrivals[segment].path
        if path is not None:
            self.versions[path] = max(version, self.versions.get(path, 0))
        if before:
            self.held[segment] = version
        self.window = [(s, after if s == segment else tokens) for s, tokens in self.window]

    # What the rules say about it

    def residents(self) -> list[str]:
        """Ids of the window from front to back."""
        return [segment for segment, _ in self.window]

    def version(self, segment: str) -> int:
        path = self.arrivals[segment].path
        return self.held.get(segment, 0) if path is None else self.versions.get(path, 0)

    def current(self, segment: str) -> bool:
        return self.held.get(segment, 0) >= self.version(segment)

    def cut(self, segment: str) -> bool:
        """Whether less of the resident *segment* entered than its tool's limit leaves of it."""
        if segment in self.sources or (segment, self.sizes.get(segment)) not in self.window:
            return False
        arrival = self.arrivals[segment]
        limit = arrival.max_result_tokens
        over = limit is not None and arrival.tokens > limit
        whole = least_tokens(arrival) if over else arrival.tokens
        return self.how[segment] in _ENDS and whole is not None and self.sizes[segment] < whole

    def originals(self, segment: str) -> set[str]:
        """What *segment* stands for in the end; itself if it is of the log."""
        if segment not in self.sources:
            return {segment}
        return set().union(*(self.originals(source) for source in self.sources[segment]))

    def salience(self, segment: str, turn: int | None = None) -> float:
        """r·d^(t−τ); of a surrogate its best source's."""
        decay = self.script.settings["salience.decay"]
        now = self.turn if turn is None else turn
        best = 0.0
        for original in self.originals(segment):
            r, tau = self.scored[original]
            best = max(best, r * decay ** (now - tau))
        return best

    def kind(self, segment: str) -> Kind | None:
        """The kind of a segment of the log, None for what was made."""
        return None if segment in self.sources else self.arrivals[segment].kind

    def full(self, segment: str) -> bool:
        """Whether *segment* is no surrogate."""
        return segment not in self.sources or segment in self.invented

    def pinned(self, segment: str) -> bool:
        """Whether the script pins *segment*."""
        return segment not in self.sources and self.arrivals[segment].pinned

    def loose_file(self, segment: str) -> bool:
        """Whether *segment* is a file that no result names and nothing has just written."""
        if self.kind(segment) is not Kind.FILE:
            return False
        path = self.arrivals[segment].path
        named = {name for s in self.order if s in self.arrivals for name in self.arrivals[s].names}
        return path not in named and path not in self.touched

    def unit(self, segment: str) -> list[str]:
        """What leaves with the resident *segment*, itself among it: calls and results, or what
        stands for them."""
        found = {segment}
        while True:
            pairs = {self.arrivals[o].pair for s in found for o in self.originals(s)} - {None}
            more = {
                s
                for s in self.residents()
                if not pairs.isdisjoint(self.arrivals[o].pair for o in self.originals(s))
            }
            if more <= found:
                return [s for s in self.residents() if s in found]
            found |= more

    def stand_ins(self, segment: str, window: list[str]) -> list[str]:
        """What of *window* stands for *segment*."""
        return [s for s in window if s in self.sources and segment in self.originals(s)]

    def states(self, segment: str, key: str) -> bool | None:
        """Whether the resident *segment* states *key*; None where that is not for us to say."""
        if segment in self.sources:
            return key in self.kept[segment]
        arrival = self.arrivals[segment]
        if self.how[segment] != "whole" or self._rewritten(arrival.path):
            return None
        return any(fact.key == key for fact in arrival.facts)

    def _rewritten(self, path: str | None) -> bool:
        """Whether some write says what a new version of *path* states."""
        branches = [b for a in self.script.attempts for b in (a.ok, a.failed)]
        return any(
            isinstance(s, Write) and s.path == path and s.facts is not None
            for stimuli in (self.script.stimuli, *branches)
            for s in stimuli
        )

    def outcomes(self, query: Query) -> set[str] | None:
        """What a strict reader can answer now; None where the rules leave it open.

        Looks at the window of the first call and at the present one: a query may be answered
        from either, since only its own fetch comes between them.
        """
        return self._outcome(query, self.called) | self._outcome(query, self.residents()) or None

    def _outcome(self, query: Query, window: list[str]) -> set[str]:
        said = {segment: self.states(segment, query.key) for segment in window}
        asked = query.touches[0]
        if any(says is None for says in said.values()) or self._rewritten(
            self.arrivals[asked].path
        ):
            return {"correct", "stale", "confabulated", "abstained", "deferred"}
        full = [s for s, says in said.items() if says and s not in self.sources]
        if any(self.current(s) for s in full):
            return {"correct"}
        if full:
            return {"stale"}
        kept = [s for s in window if said[s]]
        if kept:
            return {"correct" if self._fresh(s, query.key) else "stale" for s in kept}
        if any(query.key in self.made_up.get(s, ()) for s in window):
            return {"confabulated"}
        return self._without(asked, window)

    def _fresh(self, segment: str, key: str) -> bool:
        """Whether what *segment* states of *key* is of the newest version."""
        if segment not in self.sources:
            return self.current(segment)
        made_from = self.of_old.get(segment, {})
        carriers = [o for o in made_from if any(f.key == key for f in self.arrivals[o].facts)]
        return all(made_from[o] >= self.version(o) for o in carriers)

    def _without(self, asked: str, window: list[str]) -> set[str]:
        """The rows for a fact that nothing of *window* states."""
        back = {"correct", "deferred"} if self.arrivals[asked].copy else {"abstained"}
        stand_ins = self.stand_ins(asked, window)
        if any(s in self.invented for s in stand_ins):
            return {"confabulated"}
        if not stand_ins:
            return back
        thrown_out = {"deferred"} if self.came.get(asked) == self.turn else set()
        rows = (back if self.tagged[s] else {"confabulated"} for s in stand_ins)
        return thrown_out.union(*rows)

    def unmet(self, facts: tuple[str, ...], paths: tuple[str, ...]) -> Iterator[str] | None:
        """Needs that no resident segment meets; None where that is not for us to say."""
        window = self.residents()
        said: dict[str, Any] = {
            key: [self.states(s, key) and self._fresh(s, key) for s in window] for key in facts
        }
        if any(says is None for answers in said.values() for says in answers):
            return None
        copies = {
            self.arrivals[s].path for s in window if s not in self.sources and self.current(s)
        }
        return iter(
            [key for key in facts if not any(said[key])] + [p for p in paths if p not in copies]
        )
