"""An arm: some recorded calls replayed under one reading of the cache, and its errors added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from bench.gates.calls import Call
from bench.gates.replaying import Outcome, tally

__all__ = ["ALL", "BEYOND", "CONTINUES", "FIRST", "LATER", "SHRINKS", "Arm", "Replayed"]

FIRST = "first call"
SHRINKS = "after a shrink"
BEYOND = "after a gap beyond the life"
CONTINUES = "continues"

LATER = "later calls"
ALL = "all calls"

_SITUATIONS = (CONTINUES, SHRINKS, BEYOND, FIRST)


class Replayed(NamedTuple):
    """A recorded call with what the simulator says was read, and the situation it came in."""

    session: str
    situation: str
    call: Call
    predicted: int


@dataclass(frozen=True, slots=True)
class Arm:
    """Calls of one *format* under one reading of the cache, which *about* puts in words."""

    format: str
    about: str
    calls: tuple[Replayed, ...]

    def situations(self) -> list[dict[str, Any]]:
        """Return a row for each situation that occurs, then for all calls but first ones, and all.

        Hits and errors are in percent of the prompt tokens, *off* in tokens a call.
        """
        found = [
            self._row(name, (c for c in self.calls if c.situation == name)) for name in _SITUATIONS
        ]
        later = self._row(LATER, (c for c in self.calls if c.situation != FIRST))
        return [*(row for row in found if row["calls"]), later, self._row(ALL, self.calls)]

    def sessions(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each session."""
        for name in dict.fromkeys(call.session for call in self.calls):
            yield self._row(name, (call for call in self.calls if call.session == name))

    def _row(self, name: str, calls: Iterable[Replayed]) -> dict[str, Any]:
        found = tally(Outcome(call.call, call.predicted) for call in calls)
        return {
            "format": self.format,
            "arm": self.about,
            "part": name,
            "calls": found.calls,
            "recorded_hit": found.recorded_hit,
            "predicted_hit": found.predicted_hit,
            "absolute_error": found.absolute_error,
            "off": found.error / found.calls if found.calls else None,
            "wrong_flags": found.wrong_flags,
        }
