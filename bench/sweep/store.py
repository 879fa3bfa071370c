"""Where what is done of a sweep is kept until its end, and how its turns are read from there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, overload

from bench.sweep.done import Done, Row, unpack

if TYPE_CHECKING:
    from bench.turns import Turns

__all__ = ["KeptTurns", "Memory", "Store"]


class Store(Protocol):
    """What keeps the tasks that are done; *finished* has the rows of each by its number,
    *met* the hash of what its policies met."""

    finished: dict[int, list[Row]]
    met: dict[int, str | None]

    def keep(self, done: Done) -> None:
        """Keep a task that is *done*; raises InputError if that fails."""

    def turns(self, task: int) -> Sequence[str | None]:
        """Return the packed turns of each row of a *task* that is kept."""


class Memory:
    """Keeps tasks for as long as the process lives: rows as they are, turns packed."""

    def __init__(self) -> None:
        self.finished: dict[int, list[Row]] = {}
        self.met: dict[int, str | None] = {}
        self._turns: dict[int, Sequence[str | None]] = {}

    def keep(self, done: Done) -> None:
        """Keep a task that is *done*."""
        self.finished[done.number] = done.rows
        self.met[done.number] = done.met
        self._turns[done.number] = done.turns

    def turns(self, task: int) -> Sequence[str | None]:
        """Return the packed turns of each row of a *task* that is kept."""
        return self._turns[task]


class KeptTurns(Sequence["Turns | None"]):
    """The turns of runs, each unpacked from a *store* when it is asked for.

    *places* says of each run its task, and which row of that it is.
    """

    def __init__(self, store: Store, places: Sequence[tuple[int, int]]) -> None:
        self._store = store
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Turns | None: ...
    @overload
    def __getitem__(self, index: slice) -> KeptTurns: ...
    def __getitem__(self, index: int | slice) -> Turns | KeptTurns | None:
        if isinstance(index, slice):
            return KeptTurns(self._store, self._places[index])
        task, row = self._places[index]
        packed = self._store.turns(task)[row]
        return None if packed is None else unpack(packed)
