"""What stands in a window at its largest, by how it came to be there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.records import Record

__all__ = ["CLASSES", "Anatomy", "difference", "peak_turn", "window_at"]

CLASSES = (
    "whole, never left",
    "fetched again after a drop",
    "fetched again after a rewrite",
    "shown again after a stub",
    "surrogates",
    "invented text",
)
"""Every resident segment is in exactly one of these."""

_SURROGATES, _INVENTED = CLASSES[-2:]


@dataclass(slots=True)
class Anatomy:
    """Tokens of one request by class, and the ids of those that never left."""

    tokens: Counter[str] = field(default_factory=Counter)
    whole: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Tokens of the request."""
        return sum(self.tokens.values())


def peak_turn(records: Iterable[Record]) -> int:
    """Return the turn of the largest request, the first of equals."""
    best, turn = -1, 0
    for record in records:
        if record[0] == "call" and record[3] > best:
            best, turn = record[3], record[2]
    return turn


def window_at(records: Iterable[Record], turn: int) -> Anatomy:
    """Return the anatomy of the largest request of *turn*, from the records alone."""
    resident: dict[str, tuple[str, int]] = {}
    left: dict[str, str] = {}
    found = Anatomy()
    for record in records:
        if record[2] > turn:
            break
        _follow(record, resident, left)
        if record[0] == "call" and record[2] == turn and record[3] > found.total:
            found = _dissect(resident)
    return found


def _follow(record: Record, resident: dict[str, tuple[str, int]], left: dict[str, str]) -> None:
    kind, _, _, *values = record
    match kind:
        case "admit":
            resident[values[0]] = (CLASSES[0], values[1])
        case "fetch":
            how = CLASSES[1] if left.get(values[0]) == "dropped" else CLASSES[2]
            resident[values[0]] = (how, values[1])
        case "evict" | "truncate":
            resident.pop(values[0])
            left[values[0]] = "dropped"
        case "refresh" if values[0] in resident:
            resident[values[0]] = (resident[values[0]][0], values[2])
        case "rewrite":
            for source in values[1]:
                resident.pop(source)
                left[source] = "made" if left.get(source) == "made" else "rewritten"
            resident[values[0]] = (_SURROGATES, values[3])
            left[values[0]] = "made"
        case "reveal":
            resident.pop(values[0])
            how = _SURROGATES if left.get(values[1]) == "made" else CLASSES[3]
            resident[values[1]] = (how, values[3])
        case "restore":
            resident.pop(values[0])
            resident[values[1]] = (_INVENTED, values[3])


def _dissect(resident: dict[str, tuple[str, int]]) -> Anatomy:
    anatomy = Anatomy()
    for name, (how, tokens) in resident.items():
        anatomy.tokens[how] += tokens
        if how == CLASSES[0]:
            anatomy.whole[name] = tokens
    return anatomy


def difference(mine: Anatomy, other: Anatomy) -> dict[str, Any]:
    """Return *mine* − *other* by class; what is whole only here has waited, only there was dropped.

    The parts add up to the difference of the two totals.
    """
    waiting = sum(t for name, t in mine.whole.items() if name not in other.whole)
    ahead = sum(t for name, t in other.whole.items() if name not in mine.whole)
    parts: dict[str, Any] = {
        "whole here, already gone there (deferral)": waiting,
        "whole there, already gone here": -ahead,
    }
    for name in CLASSES[1:]:
        parts[name] = mine.tokens[name] - other.tokens[name]
    return parts
