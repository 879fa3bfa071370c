"""What a script, as one run realised it, asks of a window: who is asked for when, and how large."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sim.records import Record
from sim.reduction import least_tokens, raw_tokens
from sim.script import Arrival, Attempt, Script, Turn, WorldRefresh
from sim.segments import Fact

__all__ = ["Item", "Realised", "State", "Timeline", "realised", "timeline"]


@dataclass(frozen=True, slots=True)
class Realised:
    """How a run took its script: the *turns* whose call was sent, and each attempt's branch.

    *pins_kept* says that no pin was removed.
    """

    turns: int
    branches: Mapping[int, str]
    pins_kept: bool = True


def realised(records: Iterable[Record]) -> Realised:
    """Return how the run that left *records* took its script."""
    turns, branches, kept = 0, {}, True
    for record in records:
        kind = record[0]
        if kind == "call" and not record[12]:
            turns += 1
        elif kind == "turn" and record[4]:
            branches[record[2]] = record[4]
        elif kind == "truncate":
            kept = kept and not record[5]
        elif kind == "breach":
            kept = kept and record[3] != "pin removed"
    return Realised(turns, branches, kept)


@dataclass(frozen=True, slots=True)
class State:
    """What a copy may hold from *turn* on: one version of its source, at its smallest *tokens*.

    That is reduced to its tool's limit, which is done at the door alone: *whole* is what a copy
    takes that this version is brought into, or that comes back with it, and *low* what one takes
    that entered as a difference to the result before, if that is less. *renews*: the world brought
    it into the copy itself, so that none holds what was before.
    """

    turn: int
    tokens: int
    whole: int
    low: int
    renews: bool = False


@dataclass(slots=True)
class Item:
    """A segment as the window sees it, from its arrival in turn *first* on.

    *states* are the versions of its source in order, the one that arrived first. *touches* count
    the queries and operator requests that ask for it, by turn; *returns* are turns in which it can
    be brought back. *spilled*: its only copy is the one that is made as it enters.
    """

    id: str
    first: int
    pinned: bool
    pair: str | None
    spilled: bool = False
    states: list[State] = field(default_factory=list)
    touches: dict[int, int] = field(default_factory=dict)
    returns: set[int] = field(default_factory=set)

    @property
    def last(self) -> int:
        """The last turn in which it is asked for, 0 if it never is."""
        return max(self.touches, default=0)

    @property
    def fixed(self) -> bool:
        """Whether every copy has the same size at the same time, however stale it is."""
        size = self.states[0]
        alike = all(replace(s, turn=size.turn, renews=False) == size for s in self.states)
        return alike or all(s.renews for s in self.states[1:])

    def current(self, turn: int) -> int:
        """Return which state is current at the call of *turn*."""
        return bisect_right(self.states, turn, key=lambda state: state.turn) - 1

    def oldest(self, turn: int) -> int:
        """Return the oldest state that a copy can hold at the call of *turn*."""
        states = range(self.current(turn), 0, -1)
        return next((n for n in states if self.states[n].renews), 0)

    def size(self, turn: int) -> int:
        """Return its smallest size, full and current, at the call of *turn*."""
        return self.states[self.current(turn)].tokens

    def floor(self, turn: int, whole: bool = False) -> int:
        """Return the smallest size of a copy, stale or not, at the call of *turn*."""
        held = self.states[self.oldest(turn) : self.current(turn) + 1]
        return min(state.whole if whole else state.low for state in held)

    def cost(self, turn: int) -> int:
        """Return what is missed if it is not there in *turn*."""
        return self.touches.get(turn, 0) * self.size(turn)


@dataclass(slots=True)
class Timeline:
    """A realised script: its *turns*, the budget, and everything that arrives, by id."""

    turns: int
    budget: int
    items: dict[str, Item]


@dataclass(slots=True)
class _Source:
    """Where an item comes from, and what is known of its size by now."""

    arrival: Arrival
    item: Item
    tokens: int
    recallable: bool
    keys: set[str]


def timeline(script: Script, taken: Realised) -> Timeline:
    """Return what *script* asks of a window, as it was *taken*.

    It has what is asked for and what is pinned; nothing else needs room. Follows sections 3, 6
    and 8 of the model: arrivals, then writes, then the call, then what is asked for.
    """
    reading = _Reading(script)
    for number, turn in _turns(script, taken):
        reading.take(number, turn)
    items = {name: source.item for name, source in reading.sources.items()}
    items = {name: item for name, item in items.items() if item.touches or item.pinned}
    return Timeline(taken.turns, script.settings["budget"], items)


def _turns(script: Script, taken: Realised) -> Iterator[tuple[int, Turn]]:
    turns = script.turns()
    attempts: Mapping[int, Attempt] = {a.turn: a for a in script.attempts}
    for number in range(1, taken.turns + 1):
        turn = turns.get(number, Turn())
        attempt = attempts.get(number)
        if attempt is not None:
            ok = taken.branches.get(number) == "ok"
            turn = turn.joined(attempt.ok if ok else attempt.failed)
        yield number, turn


class _Reading:
    """Reads a script turn by turn."""

    def __init__(self, script: Script) -> None:
        self.sources: dict[str, _Source] = {}
        self._image = script.settings["image_tokens"]
        self._sizes: dict[str, int] = {}
        self._copies: dict[str, list[_Source]] = {}
        self._carriers: dict[str, list[_Source]] = {}

    def take(self, number: int, turn: Turn) -> None:
        """Take in what comes in turn *number*, and what is asked for in it."""
        for arrival in sorted(turn.arrivals, key=lambda a: a.time):
            self._arrive(number, arrival)
        for write in turn.writes:
            if isinstance(write, WorldRefresh):
                self._refresh(number, write)
            else:
                self._write(number, write.path, write.tokens, write.facts or ())
        for query in turn.queries:
            self._asked(number, query.touches[:1])
            self._returns(number, (self.sources.get(name) for name in query.touches))
            self._returns(number, self._carriers.get(query.key, ()))
        for operator in turn.operators:
            self._asked(number, (operator.segment,))
            self._returns(number, (self.sources.get(operator.segment),))

    def _arrive(self, number: int, arrival: Arrival) -> None:
        tokens = raw_tokens(arrival, self._image)
        least = _reduced(arrival, tokens)
        spilled = least < tokens and not arrival.copy
        item = Item(arrival.id, number, arrival.pinned, arrival.pair, spilled)
        source = _Source(arrival, item, tokens, arrival.copy or spilled, set())
        item.states.append(State(number, least, least, _low(arrival, least)))
        self.sources[arrival.id] = source
        if arrival.path is not None:
            self._copies.setdefault(arrival.path, []).append(source)
        self._carries(source, arrival.facts)

    def _carries(self, source: _Source, facts: Iterable[Fact]) -> None:
        for fact in facts:
            if fact.key not in source.keys:
                source.keys.add(fact.key)
                self._carriers.setdefault(fact.key, []).append(source)

    def _write(
        self,
        number: int,
        path: str,
        tokens: int | None,
        facts: Iterable[Fact],
        renewed: str | None = None,
    ) -> None:
        if tokens is not None:
            self._sizes[path] = tokens
        known = self._sizes.get(path)
        for source in self._copies.get(path, ()):
            size = _reduced(source.arrival, source.tokens if known is None else known)
            whole = size if known is None else known
            renews = source.arrival.id == renewed
            low = _low(source.arrival, size)
            source.item.states.append(State(number, size, whole, low, renews))
            self._carries(source, facts)

    def _refresh(self, number: int, refresh: WorldRefresh) -> None:
        source = self.sources.get(refresh.segment)
        if source is None:
            return
        path = source.arrival.path
        if path is None:
            size = _reduced(source.arrival, refresh.tokens)
            low = _low(source.arrival, size)
            source.item.states.append(State(number, size, refresh.tokens, low, True))
        else:
            self._write(number, path, refresh.tokens, (), refresh.segment)

    def _asked(self, number: int, names: Iterable[str]) -> None:
        for name in names:
            if name in self.sources:
                touches = self.sources[name].item.touches
                touches[number] = touches.get(number, 0) + 1

    @staticmethod
    def _returns(number: int, sources: Iterable[_Source | None]) -> None:
        for source in sources:
            if source is not None and source.recallable:
                source.item.returns.add(number)


def _reduced(arrival: Arrival, tokens: int) -> int:
    """Return *tokens* of *arrival*, reduced to its tool's limit."""
    limit, least = arrival.max_result_tokens, least_tokens(arrival)
    if limit is None or least is None or tokens <= limit:
        return tokens
    return min(tokens, least)


def _low(arrival: Arrival, least: int) -> int:
    """Return *least*, or what the difference to the result before takes if that is less."""
    return least if arrival.delta_tokens is None else min(least, arrival.delta_tokens)
