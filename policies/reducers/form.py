"""A form: what a reducer has read of an output, ready to be laid out in the room there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from policies.reducers.log import Log, Span
    from policies.reducers.room import Room

__all__ = ["KINDS", "Form", "Found", "Laid", "Reducer"]

KINDS = ("typecheck", "lint", "tests", "build", "trace", "diff", "search", "listing", "data", "log")
"""Sorts of output: what a workload that wants the log of a test run goes by."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a reducer found in an output, by the names under which a text shows it.

    *files* are the paths with an error, as printed. Each of *failures* is one distinct failure:
    the names (test ids) any of which shows that it is there. *counts* are what was counted, by
    noun: ``errors``, ``failed``…
    """

    files: tuple[str, ...] = ()
    failures: tuple[tuple[str, ...], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Laid:
    """A text within its room, and by noun how many things of the output it does not show."""

    text: str
    dropped: Mapping[str, int] = field(default_factory=dict)


class Form(Protocol):
    """An output as a reducer understood it."""

    def found(self) -> Found:
        """Return what is in the output."""
        ...

    def lay(self, room: Room) -> Laid:
        """Return as much of it as *room* holds; what is left out is marked in the text."""
        ...


class Reducer(Protocol):
    """Knows one format of tool output.

    *kind* is what sort of tool it is, one of :data:`KINDS`. *rank* decides between two that claim
    the same lines: the higher wins. *hints* are strings of which every output of the format has at
    least one; without hints it is always asked. A reducer may also have ``quotes``: if true, what
    stands in its lines is text of its own, whatever other tools would make of it.
    """

    name: str
    about: str
    kind: str
    rank: int
    hints: tuple[str, ...]

    def find(self, log: Log) -> Iterable[Span]:
        """Yield the lines of *log* that are in this format."""
        ...

    def read(self, log: Log) -> Form | None:
        """Return what *log*, all of it in this format, says; None if it says nothing."""
        ...
