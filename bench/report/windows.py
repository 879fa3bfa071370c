"""The windows of some runs at every turn, as what changed from turn to turn.

Whole snapshots of a run are many times as large as its changes; `assets/window.js` puts them
together again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bench.charts.occupancy import LAYERS, layer_of

if TYPE_CHECKING:
    from bench.again import Again
    from bench.explain.findings import Told
    from bench.explain.rebuilt import Item, Rebuilt
    from sim.records import Record

__all__ = ["windows"]

_DIGITS = 4
"""Decimals that a salience keeps."""

_SAID = frozenset({"re-scored"})
"""Events that the salience shows already."""

_BACK = frozenset({"admitted", "fetched", "revealed"})
"""Entries of the ledger behind which nothing before them counts."""


def windows(runs: Iterable[Again]) -> dict[str, Any]:
    """Return *runs* as changes from turn to turn, in the types of JSON.

    What many turns name stands once, and is named by its place: ``layers``, names of the layers of
    a window; ``segments``, of each its id, kind, layer, and 1 where it is pinned; ``texts``. Each
    of ``runs`` has its ``policy``, ``ended``, why it failed if it did, ``budget`` and ``decay``. A
    turn of its ``turns`` has ``turn``, the ``tokens`` of the window as its first call found it, and
    what changed since the turn before, where anything did:

    - ``out``, the segments that left, and ``in``, pairs of a position and the segment that is
      there now, in ascending order, to be put in one after the other;
    - ``size``, pairs of a segment and its tokens;
    - ``score``, of a segment its score and the turn that it is of: its salience in a later turn is
      that score times ``decay`` to the power of the turns between;
    - ``why``, pairs of a segment that is absent and what the ledger answers about it;
    - ``did``, pairs of a segment, or null, and what happened to it in this turn, in its order;
    - ``said``, of each answer or act its id, its outcome, what was answered, and 1 if it is wrong.
    """
    names = _Names()
    told = [_run(again, names) for again in runs]
    return {
        "layers": list(LAYERS),
        "segments": [list(segment) for segment in names.segments],
        "texts": list(names.texts),
        "runs": told,
    }


class _Numbered(dict[Any, int]):
    """Things by number: one that is looked up gets the next number."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = len(self)
        return self[thing]


class _Names:
    """The segments and texts that turns name by their places."""

    def __init__(self) -> None:
        self.segments, self.texts = _Numbered(), _Numbered()
        self._places: dict[Item, int] = {}

    def of(self, item: Item) -> int:
        """Return the place of *item*."""
        if item not in self._places:
            layer = list(LAYERS).index(layer_of(item.kind))
            self._places[item] = self.segments[item.id, item.kind, layer, int(item.pinned)]
        return self._places[item]


def _run(again: Again, names: _Names) -> dict[str, Any]:
    from bench.explain.findings import tell
    from bench.explain.places import at_calls

    told = tell(again.script, again.records)
    items = told.rebuilt_whole().items
    did, said = _did(told, items, names), _said(told.records)
    book, before = _Ledger(), _State()
    turns: list[dict[str, Any]] = []
    begun, budget = 0, 0
    for index, world in at_calls(told):
        records = told.records[begun:index]
        touched = _touched(records, world.items)
        why = [(names.of(item), names.texts[says]) for item, says in book.answers(records, touched)]
        changed = _changes(world, touched, before, names)
        begun, turn, budget = index, world.turn, world.budget
        parts = {**changed, "why": why, "did": did.get(turn, ()), "said": said.get(turn, ())}
        kept = {name: list(part) for name, part in parts.items() if part}
        turns.append({"turn": turn, "tokens": world.tokens, **kept})
    row = again.row
    return {
        "policy": again.policy,
        "ended": "" if row["status"] == "completed" else str(row["reason"] or row["status"]),
        "budget": budget,
        "decay": float(told.settings["salience.decay"]),
        "turns": turns,
    }


def _touched(records: Iterable[Record], items: Mapping[str, Item]) -> list[Item]:
    """Return the items that *records* name, what they were made of, and what was made of them."""
    found: dict[Item, None] = {}
    named = dict.fromkeys(name for record in records for name in _names(record) if name in items)
    for name in named:
        item = items[name]
        for part in (item, *item.pages):
            found.update(dict.fromkeys(part.ancestry()))
            found.update(dict.fromkeys(part.successors()))
    return list(found)


def _names(record: Record) -> Iterator[str]:
    """Yield the texts in *record*, which can be names of segments."""
    for value in record[3:]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple | list):
            yield from (each for each in value if isinstance(each, str))


@dataclass(slots=True)
class _State:
    """What the page knows before a turn: the order of segments, their sizes and scores."""

    order: list[int] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    scores: dict[int, tuple[float, int]] = field(default_factory=dict)


def _changes(
    world: Rebuilt, touched: Iterable[Item], before: _State, names: _Names
) -> dict[str, list[Any]]:
    """Return what of *world* differs from *before*, and bring *before* up to it."""
    order = [names.of(item) for item in world.window]
    out, into = _moved(before.order, order)
    size = []
    for number, item in zip(order, world.window, strict=True):
        if before.sizes.get(number) != item.tokens:
            before.sizes[number] = item.tokens
            size.append((number, item.tokens))
    score = []
    for item in touched:
        number, now = names.of(item), (round(item.score, _DIGITS), item.scored_at)
        if before.scores.get(number) != now:
            before.scores[number] = now
            score.append((number, *now))
    before.order = order
    return {"out": out, "in": into, "size": size, "score": score}


def _moved(old: Sequence[int], new: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return which of *old* leave and which come in at which position, so that it becomes *new*.

    As many as possible stay: those of the longest part of *new* that has the order of *old*.
    """
    place = {number: at for at, number in enumerate(old)}
    stay = _rising([place[number] for number in new if number in place])
    kept = {old[at] for at in stay}
    out = [number for number in old if number not in kept]
    return out, [(at, number) for at, number in enumerate(new) if number not in kept]


def _rising(values: Sequence[int]) -> list[int]:
    """Return the longest part of *values* that rises."""
    ends: list[int] = []  # by length, the least value that a part of that length ends with
    at: list[int] = []  # where that value stands
    before: list[int] = []  # where the value before each stands in the part that it ends
    for index, value in enumerate(values):
        length = bisect_left(ends, value)
        ends[length : length + 1] = [value]
        at[length : length + 1] = [index]
        before.append(at[length - 1] if length else -1)
    found: list[int] = []
    index = at[-1] if at else -1
    while index >= 0:
        found.append(values[index])
        index = before[index]
    return found[::-1]


class _Ledger:
    """What the ledger answers about the absent segments of a run, as far as its records go."""

    def __init__(self) -> None:
        from sim.audit import Recount

        self._recount = Recount()
        self._last: dict[Item, str] = {}

    def answers(
        self, records: Iterable[Record], touched: Iterable[Item]
    ) -> Iterator[tuple[Item, str]]:
        """Yield those of *touched* whose answer changed with *records*, with the answer."""
        for record in records:
            self._recount.add(record)
        for item in touched:
            answer = "" if item.resident else self._answer(item.id)
            if answer and self._last.get(item) != answer:
                yield item, answer
            self._last[item] = answer

    def _answer(self, name: str) -> str:
        from bench.explain.explanations import why_words

        try:
            chain = self._recount.why(name)
        except KeyError:
            return ""
        last = max(
            (at for at, entry in enumerate(chain) if entry[0] == name and entry[1] in _BACK),
            default=0,
        )
        return "; ".join(why_words(entry).removeprefix(f"{name} ") for entry in chain[last:])


def _did(
    told: Told, items: Mapping[str, Item], names: _Names
) -> dict[int, list[tuple[int | None, int]]]:
    """Return what happened in each turn: segments, and a sentence about each."""
    from bench.explain.steps import steps

    found: dict[int, list[tuple[int | None, int]]] = {}
    for step in steps(told, None):
        if step.event not in _SAID:
            item = items.get(step.segment)
            number = None if item is None else names.of(item)
            found.setdefault(step.turn, []).append((number, names.texts[step.says]))
    return found


def _said(records: Sequence[Record]) -> dict[int, list[tuple[str, str, str, int]]]:
    """Return the answers and acts of each turn."""
    from bench.explain.findings import is_wrong
    from bench.explain.rebuilt import named

    found: dict[int, list[tuple[str, str, str, int]]] = {}
    for record in records:
        if record[0] not in ("answer", "act"):
            continue
        values, wrong = named(record), int(is_wrong(record))
        if record[0] == "act":
            missing = ", ".join(values["missing"])
            told = (values["act"], "violation" if wrong else "kept", missing, wrong)
        else:
            told = (values["query"], values["outcome"], values["value"] or "", wrong)
        found.setdefault(record[2], []).append(told)
    return found
