"""The program: what to hold in which turns, so that as little as possible is missed.

A column is something that may be held, over turns, at a size in each; its value is what is then not
missed. An item whose copies all have one size at a time has a column a use: from its arrival, or
the turn after it could last come back, to the turn in which it is asked for. Where a stale copy has
another size, or a call and its result are both asked for, it has a column a turn and version.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.optimum.timeline import Item, Timeline

__all__ = ["Column", "Program", "program"]

_STUB = 1
"""Tokens of a stub: the least there can be."""


@dataclass(frozen=True, slots=True)
class Column:
    """Item *id*, held in state *state* of it at the calls of *turns*; None: the current one.

    A *stub* is what stands there in place of the item, beside a call or result that stays.
    """

    id: str
    turns: range
    state: int | None
    value: int
    stub: bool = False


@dataclass(slots=True)
class Program:
    """Maximise Σ value·x over 0 ≤ x ≤ 1, where in every row Σ coefficient·x ≤ limit.

    All numbers are whole. *worth* is what is missed if nothing is held.
    """

    worth: int = 0
    columns: list[Column] = field(default_factory=list)
    closed: set[int] = field(default_factory=set)
    """Columns that are too large for the room: x = 0."""
    rows: list[dict[int, int]] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)

    def add(self, column: Column) -> int:
        """Add a column and return its number."""
        self.columns.append(column)
        return len(self.columns) - 1

    def require(self, row: Mapping[int, int], limit: int) -> None:
        """Require that the sum of *row* is at most *limit*."""
        self.rows.append(dict(row))
        self.limits.append(limit)


def program(timeline: Timeline, pins: bool = True, whole: bool = False) -> Program:
    """Return the program of *timeline*.

    With *whole* it is what can be played: what has changed takes the room of a copy that was
    brought up to date or came back, and of a call and its results none leaves alone but for a stub.
    Without, it is what no policy can do better than: sizes are the least that any way in leaves,
    and nothing is said of what leaves together, but that what is pinned keeps what it belongs to.
    With *pins*, what the scenario pins takes its room and is there; without, for runs that removed
    a pin, nothing is taken and nothing pinned counts.
    """
    return _Builder(timeline, pins, whole).build()


class _Builder:
    def __init__(self, timeline: Timeline, pins: bool, whole: bool) -> None:
        self._timeline = timeline
        self._program = Program()
        self._room = [timeline.budget] * (timeline.turns + 1)
        """Tokens left at the call of each turn."""
        self._used: list[dict[int, int]] = [defaultdict(int) for _ in self._room]
        """Tokens of each column at the call of each turn."""
        self._groups: dict[str, list[Item]] = defaultdict(list)
        self._flows: dict[str, _Flow] = {}
        self._pins = pins
        self._whole = whole

    def build(self) -> Program:
        items = self._timeline.items.values()
        for item in items:
            if item.pair is not None:
                self._groups[item.pair].append(item)
        for item in items:
            if item.pinned and not self._pinned(item):
                continue
            self._program.worth += sum(item.cost(turn) for turn in item.touches)
            if item.fixed and not item.pinned and not self._coupled(item):
                self._uses(item)
            else:
                self._flow(item)
        for group in self._groups.values():
            self._couple(group)
        for used, room in zip(self._used, self._room, strict=True):
            if sum(used.values()) > room:
                self._program.require(used, room)
                self._program.closed.update(n for n, tokens in used.items() if tokens > room)
        return self._program

    def _pinned(self, item: Item) -> bool:
        """Take the room of a pinned item; return whether it may yet be missed, being stale."""
        if not self._pins:
            return False
        if item.touches and not all(state.renews for state in item.states[1:]):
            return True
        for turn in range(item.first, self._timeline.turns + 1):
            self._room[turn] -= item.floor(turn, self._whole)
        return False

    def _coupled(self, item: Item) -> bool:
        """Whether what leaves with *item* is pinned or asked for, too."""
        return self._pins and item.pair is not None and len(self._groups[item.pair]) > 1

    # -- a column a use --------------------------------------------------------------------

    def _uses(self, item: Item) -> None:
        before, start = None, item.first
        ends = sorted(item.touches if not item.returns else item.returns | set(item.touches))
        for end in ends:
            if end > item.last:
                break
            number = None
            if end in item.touches:
                turns = range(start, end + 1)
                number = self._use(item, turns)
                if before is not None:
                    self._program.require({number: 1, before: -1}, 0)
            before = None if end in item.returns else number
            start = end + 1

    def _use(self, item: Item, turns: range) -> int:
        number = self._program.add(Column(item.id, turns, None, item.cost(turns[-1])))
        for turn in turns:
            self._used[turn][number] = self._size(item, item.current(turn))
        return number

    def _size(self, item: Item, state: int) -> int:
        held = item.states[state]
        return held.whole if self._whole else held.low

    # -- a column a turn and version -------------------------------------------------------

    def _flow(self, item: Item) -> None:
        group = self._groups[item.pair] if item.pair is not None and self._coupled(item) else [item]
        held = any(each.pinned for each in group)
        end = self._timeline.turns if held else max(each.last for each in group)
        flow = self._flows[item.id] = _Flow(item, range(item.first, end + 1))
        for turn in flow.turns:
            current = item.current(turn)
            for state in range(item.oldest(turn), current + 1):
                value = item.cost(turn) if state == current else 0
                held_turn = range(turn, turn + 1)
                number = self._program.add(Column(item.id, held_turn, state, value))
                self._used[turn][number] = self._size(item, state)
                flow.held[turn][state] = number
            self._step(flow, turn)

    def _step(self, flow: _Flow, turn: int) -> None:
        """Require of *turn* what follows from the turn before."""
        item, require = flow.item, self._program.require
        now = flow.held[turn]
        require(dict.fromkeys(now.values(), 1), 1)
        if item.pinned:
            require(dict.fromkeys(now.values(), -1), -1)
        if turn == item.first:
            return
        before = flow.held[turn - 1]
        back = turn - 1 in item.returns
        if not back:
            come = dict.fromkeys(now.values(), 1)
            require(come | dict.fromkeys(before.values(), -1), 0)
        for state, number in now.items():
            fresh = state == item.current(turn) or item.states[state].turn == turn
            if not fresh and not (back and state == item.current(turn - 1)):
                require({number: 1, before[state]: -1}, 0)

    def _couple(self, group: list[Item]) -> None:
        """Require of a call and its results that they leave together."""
        flows = [self._flows[item.id] for item in group if item.id in self._flows]
        for pin in group if self._pins else ():
            for flow in flows:
                if pin.pinned and not flow.item.pinned:
                    start = max(pin.first, flow.item.first)
                    for turn in flow.turns:
                        if turn > start:
                            leaves = dict.fromkeys(flow.held[turn - 1].values(), 1)
                            leaves |= dict.fromkeys(flow.held[turn].values(), -1)
                            self._program.require(leaves, 0)
        loose = [flow for flow in flows if not flow.item.pinned] if self._whole else []
        if len(loose) > 1:
            for one in loose:
                self._stubs(one)
                for other in loose:
                    if one is not other:
                        self._together(one, other)
                        self._entered(one, other)

    def _stubs(self, flow: _Flow) -> None:
        """Add what may stand in place of the item, a token, where the item is larger."""
        for turn in flow.turns:
            if flow.item.floor(turn, self._whole) > _STUB:
                number = self._program.add(
                    Column(flow.item.id, range(turn, turn + 1), None, 0, stub=True)
                )
                self._used[turn][number] = _STUB
                flow.stub[turn] = {0: number}

    def _together(self, one: _Flow, other: _Flow) -> None:
        """Require that *one*, or its stub, does not leave while *other* stays."""
        for turn in one.turns:
            if turn - 1 not in one.held or turn - 1 not in other.held or turn not in other.held:
                continue
            if turn - 1 in other.item.returns:
                continue
            stays: dict[int, int] = {}
            for held in (other.held[turn - 1], other.held[turn]):
                stays |= dict.fromkeys(held.values(), 1)
            stub = dict.fromkeys(one.stub[turn].values(), -1)
            here = dict.fromkeys(one.held[turn].values(), -1)
            before = dict.fromkeys(one.held[turn - 1].values(), 1)
            self._program.require(stays | before | here | stub, 2)
            if one.stub[turn - 1]:
                before = dict.fromkeys(one.stub[turn - 1].values(), 1)
                self._program.require(stays | before | stub, 2)

    def _entered(self, one: _Flow, other: _Flow) -> None:
        """Require of *one*, if it was spilled, that it had entered where *other* was held."""
        first = one.item.first
        if not one.item.spilled or first not in other.held:
            return
        entered = dict.fromkeys((*one.held[first].values(), *one.stub[first].values()), -1)
        stays = dict.fromkeys(other.held[first].values(), 1)
        for turn in one.turns:
            if turn > first and turn - 1 in one.item.returns:
                row = entered | stays | dict.fromkeys(one.held[turn].values(), 1)
                if turn - 1 > first:
                    row |= dict.fromkeys(one.held[turn - 1].values(), -1)
                self._program.require(row, 1)


@dataclass(slots=True)
class _Flow:
    """The columns of an item by turn and state."""

    item: Item
    turns: range
    held: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    stub: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    """Stubs of it by turn."""
