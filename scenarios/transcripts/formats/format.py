"""What a format of recordings is: how it is known by its content, and how its threads are read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scenarios.transcripts.events import Event
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.recording import Recording
from sim.errors import InputError

__all__ = ["Format", "Seen", "Series", "Thread", "objects", "only"]


class Seen:
    """What a file is known by; each view of it is made when it is first asked for."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.fault: InputError | None = None
        """Why the file is no JSON document, once :attr:`document` has been asked for."""

    @cached_property
    def head(self) -> str:
        """The first 64 KiB of the text."""
        return self._recording.head()

    @cached_property
    def sample(self) -> list[Any]:
        """The first records of the file, read as JSONL."""
        return self._recording.sample()

    @cached_property
    def document(self) -> Any:
        """The file as one JSON document, None if it is none."""
        try:
            return self._recording.document()
        except InputError as error:
            self.fault = error
            return None


@dataclass(frozen=True, slots=True)
class Thread:
    """One context window of a recording: a session, or the sub-agent of one.

    A file's threads are read one after the other, each to its end before the next is asked for.
    *name* is empty for the one that bears the file's own name.
    """

    events: Iterator[Event]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """How the files of one session are found, where a format writes several.

    *outline* makes of a file's path and its document what tells which belong together; *runs* the
    files of each session, in order.
    """

    outline: Callable[[Path, Any], Hashable]
    runs: Callable[[Iterable[Any]], list[list[Path]]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its *name*, what it is *about*, whether a file *fits* it, and its *threads*.

    *unit* is what a place in it counts, ``line`` or ``message``. *usage* says what it records of
    the tokens of a call, empty where it records none; *unheld* what its prompts had beyond the
    record where that changes from call to call, so that they follow from it by no line.
    """

    name: str
    about: str
    fits: Callable[[Seen], bool]
    threads: Callable[[Recording, Findings], Iterator[Thread]]
    unit: str = "line"
    usage: str = ""
    unheld: str = ""
    series: Series | None = None


def only(events: Iterator[Event]) -> Iterator[Thread]:
    """Yield the one thread of a file that holds one."""
    yield Thread(events)


def objects(seen: Seen) -> list[dict[str, Any]]:
    """Return those of the first records that are objects."""
    return [record for record in seen.sample if isinstance(record, dict)]
