"""The second reckoning: one pass over the records of a run, sharing nothing with the engine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sim.audit.dealings import DEALINGS
from sim.audit.figures import figures
from sim.audit.history import Entry
from sim.audit.moves import MOVES
from sim.audit.state import State
from sim.errors import AuditError
from sim.records import FIELDS, Record

__all__ = ["Audit", "Recount", "audit"]

_HANDLERS = {**MOVES, **DEALINGS}
_LENGTHS = {kind: 3 + len(names) for kind, names in FIELDS.items()}


class Recount:
    """Window, books and counts after every record that :meth:`add` was given.

    Raises AuditError as soon as a record cannot follow from those before it.
    """

    def __init__(self) -> None:
        self._state = State()

    def add(self, record: Record) -> None:
        """Take in the next record."""
        state = self._state
        try:
            self._add(record)
        except AuditError as error:
            raise AuditError(f"{_place(state.index, record)}: {error}") from None
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise AuditError(f"{_place(state.index, record)}: malformed values ({error})") from None
        state.index += 1

    def _add(self, record: Record) -> None:
        state = self._state
        kind, time, turn, *values = record
        if len(record) != _LENGTHS.get(kind):
            if kind not in _LENGTHS:
                raise AuditError(f"there is no record type {kind!r}")
            raise AuditError(
                f"a record {kind!r} has {_LENGTHS[kind] - 3} values, this has {len(values)}"
            )
        self._follow_clock(kind, time, turn)
        _HANDLERS[kind](state, *values)
        resident = state.books.resident()
        if resident != state.window.total:
            raise AuditError(
                f"the window holds {state.window.total} tokens, the books say {resident}"
            )

    def _follow_clock(self, kind: str, time: float, turn: int) -> None:
        """Check that the record stands where time, turn and the run's own limits allow it."""
        state = self._state
        if state.begun == (kind == "run"):
            raise AuditError("a run begins with its only record 'run'")
        if state.ended:
            raise AuditError("nothing comes after the record 'end'")
        if not (math.isfinite(time) and time >= state.time):
            raise AuditError(f"time goes from {state.time} to {time}")
        if turn != state.turn and (kind != "turn" or turn != state.turn + 1):
            raise AuditError(f"turn {state.turn} is followed by turn {turn}")
        if kind == "turn" and turn == state.turn:
            raise AuditError(f"turn {turn} begins twice")
        state.begun = True
        state.time, state.turn = time, turn

    @property
    def window(self) -> tuple[tuple[str, int], ...]:
        """Resident segments with their tokens, from front to back."""
        sizes = self._state.window.sizes
        return tuple((segment, sizes[segment]) for segment in self._state.window.order())

    @property
    def books(self) -> dict[str, int]:
        """Every book of tokens by the name of its metric, ``resident_tokens`` among them."""
        return self._state.books.totals()

    @property
    def counts(self) -> dict[str, int]:
        """Everything that was counted, by name."""
        return {
            name: value
            for name, value in figures(self._state).items()
            if value.__class__ is int and name != "first_confabulation_turn"
        }

    def why(self, segment: str) -> tuple[Entry, ...]:
        """Return the chain of *segment*: see ``sim.audit.history.Histories.why``."""
        return self._state.histories.why(segment)

    def close(self) -> Audit:
        """Return the finished reckoning; the last record must have been the run's end."""
        if not self._state.ended:
            raise AuditError("the records stop before the record 'end'")
        return Audit(self.window, self.books, self.counts, self._state)


@dataclass(frozen=True, slots=True)
class Audit:
    """What the records of a finished run amount to.

    *window* holds resident segments with their tokens from front to back, *books* tokens by the
    name of their metric, *counts* whatever was counted.
    """

    window: tuple[tuple[str, int], ...]
    books: dict[str, int]
    counts: dict[str, int]
    _state: State

    def why(self, segment: str) -> tuple[Entry, ...]:
        """Return the chain of *segment*: see ``sim.audit.history.Histories.why``."""
        return self._state.histories.why(segment)

    def metrics(self) -> dict[str, float | int | str | None]:
        """Return every metric by name; a rate or peak of nothing is None."""
        return {**figures(self._state), "paid_back": self._state.passes.paid_back()}


def audit(records: Iterable[Record]) -> Audit:
    """Rebuild a run from its records alone.

    Raises AuditError, which names the record and what was expected, where a record contradicts
    those before it or the run stops short.
    """
    recount = Recount()
    for record in records:
        recount.add(record)
    return recount.close()


def _place(index: int, record: Record) -> str:
    try:
        kind, _, turn, *_ = record
    except (TypeError, ValueError):
        return f"record {index}"
    return f"record {index} ({kind}, turn {turn})"
