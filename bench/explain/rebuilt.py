"""The window and every segment, rebuilt record by record: what explanations look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sim.records import FIELDS
from sim.reduction import SAVED
from sim.salience import Decay

if TYPE_CHECKING:
    from bench.explain.stated import Stated
    from sim.records import Record

__all__ = ["Item", "Rebuilt", "by_world", "named"]


def named(record: Record) -> dict[str, Any]:
    """Return the values of *record* by name."""
    return dict(zip(FIELDS[record[0]], record[3:], strict=True))


def by_world(record: Record, follower: Record | None, items: Mapping[str, Item]) -> bool:
    """Whether the ``write`` *record* is a change of the world's: its copy's refresh is next."""
    if follower is None or follower[0] != "refresh" or follower[7] != "world":
        return False
    return items[follower[3]].path == record[3]


@dataclass(slots=True, eq=False)
class Item:
    """A segment, surrogate or invented text, as the records up to now have it.

    *kind* is ``surrogate`` or ``invented`` for what a rewrite or a restoration left. *keys* are the
    facts it would state as a whole, *lost* those that the form in which it entered leaves out.
    """

    id: str
    kind: str
    tokens: int
    raw_tokens: int
    score: float
    scored_at: int
    seq: int
    copy: bool = False
    pinned: bool = False
    path: str | None = None
    pair: str | None = None
    keys: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    ever: frozenset[str] = frozenset()
    """Every fact that a version of it has stated."""
    form: str = ""
    version: int = 0
    resident: bool = False
    admitted: bool = False
    refused: bool = False
    sources: tuple[Item, ...] = ()
    tagged: bool = False
    kept: frozenset[str] = frozenset()
    made_up: frozenset[str] = frozenset()
    as_of: Mapping[str, int] = field(default_factory=dict)
    input: int | None = None
    """What a summariser was sent for it, 0 if nobody was asked; None where it is no summary."""
    unseen: frozenset[str] = frozenset()
    """Facts of its sources that a summariser was not given."""
    repeated: frozenset[str] = frozenset()
    """Of what is made up, what its sources had made up before."""
    surrogates: list[Item] = field(default_factory=list)
    page_of: Item | None = None
    pages: list[Item] = field(default_factory=list)

    @property
    def original(self) -> bool:
        """Whether it arrived, rather than was made in the run."""
        return not self.sources

    def states(self, key: str) -> bool:
        """Whether its text, as it is, states *key*; made-up text counts."""
        return key in self.kept if self.sources else key in self.keys and key not in self.lost

    def successors(self) -> Iterator[Item]:
        """Yield what was made of it, and of that in turn, each once."""
        seen: set[Item] = set()
        todo = self.surrogates[::-1]
        while todo:
            item = todo.pop()
            if item not in seen:
                seen.add(item)
                yield item
                todo.extend(reversed(item.surrogates))

    def stand_ins(self) -> Iterator[Item]:
        """Yield what is resident in its place."""
        return (item for item in self.successors() if item.resident)

    def originals(self) -> Iterator[Item]:
        """Yield the arrived segments it stands for, itself if it arrived, each once."""
        return (item for item in self.ancestry() if item.original)

    def ancestry(self) -> Iterator[Item]:
        """Yield it and all that it stands for, at every remove, each once."""
        seen: set[Item] = set()
        todo: list[Item] = [self]
        while todo:
            item = todo.pop()
            if item not in seen:
                seen.add(item)
                yield item
                todo.extend(reversed(item.sources))


class Rebuilt:
    """What is resident, at which position, size and salience, after each record.

    *decay* is the run's ``salience.decay``, *stated* what the script adds to the records.
    """

    def __init__(self, decay: float, stated: Stated) -> None:
        self.items: dict[str, Item] = {}
        self.window: list[Item] = []
        self.tokens = 0
        self.turn = 0
        self.branch = ""
        self.budget = 0
        self.carriers: dict[str, list[Item]] = {}
        """Arrived segments by the key of a fact that they carry, in the order they came to it."""
        self.grew: tuple[str, str, int] | None = None
        """What last grew the window: the record's type, the segment, and by how many tokens."""
        self.versions: dict[str, int] = {}
        self._stated = stated
        self._decay = Decay(decay)
        self._path_facts: dict[str, tuple[Any, ...]] = {}
        self._writes: dict[str, int] = {}
        self._results: dict[str, Item] = {}
        self._summary: dict[str, Any] = {}
        """What the record before said of the surrogate that comes next."""

    def salience(self, item: Item, turn: int | None = None) -> float:
        """Return s of *item* in *turn*, by default the present one."""
        at = self.turn if turn is None else turn
        return item.score * self._decay.power(max(0, at - item.scored_at))

    def current(self, item: Item) -> bool:
        """Whether *item* holds the newest version of its path."""
        return item.path is None or item.version == self.versions.get(item.path, 0)

    def current_as_of(self, source: Item, surrogate: Item) -> bool:
        """Whether what *surrogate* says of *source* is of the newest version of its path."""
        return source.path is None or surrogate.as_of.get(source.id) == self.versions.get(
            source.path, 0
        )

    def apply(self, record: Record, follower: Record | None = None) -> list[Item]:
        """Take in *record* and return whom it concerns; *follower* is the record after it."""
        what = "summarised" if record[0] == "summary" else record[0]
        take = getattr(self, f"_{what}", None)
        if take is None:
            return []
        values = named(record)
        if record[0] == "write":
            values["by_world"] = by_world(record, follower, self.items)
        concerned: list[Item] = take(**values)
        return concerned

    # -- one method for each record that changes something ------------------------------------

    def _run(self, budget: int, **_: Any) -> list[Item]:
        self.budget = budget
        return []

    def _turn(self, branch: str, **_: Any) -> list[Item]:
        self.turn += 1
        self.branch = branch
        self._writes.clear()
        return []

    def _arrive(
        self,
        segment: str,
        kind: str,
        raw_tokens: int,
        score: float,
        copy: bool,
        pinned: bool,
        path: str | None,
        pair: str | None,
        facts: Iterable[str],
    ) -> list[Item]:
        page = self.items.get(segment)
        parent = None if page is None else page.page_of
        scored_at = self.turn
        if parent is not None:
            scored_at, score = parent.scored_at, parent.score
        item = Item(
            segment,
            kind,
            raw_tokens,
            raw_tokens,
            score,
            scored_at,
            len(self.items),
            copy,
            pinned,
            path,
            pair,
            frozenset(facts),
            page_of=parent,
        )
        if path is not None:
            item.version = self.versions.get(path, 0)
        if parent is not None:
            parent.pages.append(item)
        self.items[segment] = item
        self._carry(item)
        return [item]

    def _admit(self, segment: str, tokens: int, how: str, **_: Any) -> list[Item]:
        item = self.items[segment]
        self._settle(item)
        item.form, item.admitted = how, True
        item.copy = item.copy or how in SAVED
        tool = self._stated.tool(segment)
        before = None if tool is None else self._results.get(tool)
        facts = () if before is None else self._stated.facts(before.id)
        item.lost = self._stated.left_out(segment, how, tokens, facts)
        if tool is not None:
            self._results[tool] = item
        self._enter(item, tokens, "admit")
        return [item]

    def _refuse(self, segment: str, **_: Any) -> list[Item]:
        item = self.items[segment]
        item.refused = True
        tool = self._stated.tool(segment)
        if tool is not None:
            self._results[tool] = item
        return [item]

    def _page(self, segment: str, page: str, **_: Any) -> list[Item]:
        parent = self.items[segment]
        if page not in self.items:
            self.items[page] = Item(
                page, parent.kind, 0, 0, parent.score, parent.scored_at, 0, page_of=parent
            )
        return [parent]

    def _write(self, path: str, version: int, stale: Iterable[str], by_world: bool) -> list[Item]:
        self.versions[path] = version
        if not by_world:
            number = self._writes.get(path, 0)
            self._writes[path] = number + 1
            facts = self._stated.written(self.turn, self.branch, path, number)
            if facts is not None:
                self._path_facts[path] = facts
        return [item for item in self.items.values() if item.path == path]

    def _refresh(self, segment: str, before: int, after: int, version: int, by: str) -> list[Item]:
        item = self.items[segment]
        if item.resident:
            self._settle(item)
            item.version = version
            item.lost, item.form, item.raw_tokens = frozenset(), "whole", after
            self._resize(item, after - before, "refresh")
            item.tokens = after
        elif item.path is None:
            item.version = version
        return [item]

    def _score(self, segment: str, before: float, after: float, crossed: bool) -> list[Item]:
        item = self.items.get(segment)
        if item is None or after <= before:
            return []
        parts = [item, *item.pages]
        for each in (*parts, *(s for part in parts for s in part.successors())):
            if after > self.salience(each):
                each.score, each.scored_at = after, self.turn
        return []

    def _evict(self, segment: str, **_: Any) -> list[Item]:
        return self._leave(self.items[segment])

    def _truncate(self, segment: str, **_: Any) -> list[Item]:
        return self._leave(self.items[segment])

    def _summarised(self, **values: Any) -> list[Item]:
        self._summary = values
        return []

    def _rewrite(
        self,
        surrogate: str,
        sources: Iterable[str],
        before: int,
        after: int,
        tagged: bool,
        kept: Iterable[str],
        **_: Any,
    ) -> list[Item]:
        items = [self.items[name] for name in sources]
        summary, self._summary = self._summary, {}
        if summary.get("saved"):
            for item in items:
                for each in item.ancestry():
                    each.copy = True
        best = max(items, key=lambda i: (self.salience(i), -i.seq))
        keeps = frozenset(kept)
        as_of: dict[str, int] = {}
        for item in items:
            as_of.update(item.as_of)
            if item.path is not None and item.original:
                as_of[item.id] = item.version
        repeated = frozenset().union(*(item.made_up for item in items)) & keeps
        made = Item(
            surrogate,
            "surrogate",
            after,
            after,
            best.score,
            best.scored_at,
            len(self.items),
            all(item.copy for item in items),
            sources=tuple(items),
            tagged=tagged,
            kept=keeps,
            made_up=frozenset(summary["made_up"]) if summary else repeated,
            as_of=as_of,
            input=summary.get("input"),
            unseen=frozenset(summary.get("unseen", ())),
            repeated=repeated,
        )
        self._replace(items, made, "rewrite", before, after, last=summary.get("last", False))
        return [*items, made]

    def _restore(
        self, surrogate: str, segment: str, before: int, after: int, key: str
    ) -> list[Item]:
        item = self.items[surrogate]
        made = Item(
            segment,
            "invented",
            after,
            after,
            item.score,
            item.scored_at,
            len(self.items),
            sources=(item,),
            kept=item.kept | {key},
            made_up=item.made_up | {key},
            as_of=item.as_of,
        )
        self._replace([item], made, "restore", before, after)
        return [item, made]

    def _reveal(self, stub: str, segment: str, before: int, after: int) -> list[Item]:
        item, hidden = self.items[stub], self.items[segment]
        at = self.window.index(item)
        item.resident, hidden.resident = False, True
        hidden.tokens = after
        self.window[at] = hidden
        self._resize(hidden, after - before, "reveal")
        return [item, hidden]

    def _fetch(self, segment: str, tokens: int, version: int, by: str) -> list[Item]:
        item = self.items[segment]
        if tokens != item.tokens:
            item.lost, item.form, item.raw_tokens = frozenset(), "whole", tokens
        self._settle(item)
        item.version = version
        self._enter(item, tokens, "fetch")
        return [item]

    # -- what several of them do ----------------------------------------------------------------

    def would_state(self, item: Item, key: str) -> bool:
        """Whether *item*, brought in or brought back now, would state *key*."""
        if key in item.lost:
            return False
        newest = None if item.path is None else self._path_facts.get(item.path)
        if newest is None or item.version == self.versions.get(item.path or "", 0):
            return key in item.keys
        return any(fact.key == key for fact in newest)

    def _carry(self, item: Item) -> None:
        item.ever |= item.keys
        for key in sorted(item.keys):
            known = self.carriers.setdefault(key, [])
            if item not in known:
                known.append(item)

    def _settle(self, item: Item) -> None:
        """Give a copy of a file what its newest version states."""
        if item.path is None:
            return
        version = self.versions.get(item.path, 0)
        if version != item.version and item.path in self._path_facts:
            item.keys = frozenset(fact.key for fact in self._path_facts[item.path])
        item.version = version
        self._carry(item)

    def _enter(self, item: Item, tokens: int, what: str) -> None:
        item.tokens, item.resident, item.refused = tokens, True, False
        self.window.append(item)
        self._resize(item, tokens, what)

    def _resize(self, item: Item, by: int, what: str) -> None:
        self.tokens += by
        if by > 0:
            self.grew = what, item.id, by

    def _leave(self, item: Item) -> list[Item]:
        item.resident = False
        self.window.remove(item)
        self.tokens -= item.tokens
        return [item]

    def _replace(
        self,
        items: list[Item],
        made: Item,
        what: str,
        before: int,
        after: int,
        *,
        last: bool = False,
    ) -> None:
        self.items[made.id] = made
        made.resident = True
        places = [self.window.index(item) for item in items]
        at = max(places) - (len(places) - 1) if last else min(places)
        for item in items:
            item.resident = False
            item.surrogates.append(made)
            self.window.remove(item)
        self.window.insert(at, made)
        self._resize(made, after - before, what)
