"""Access traces as scripts: a trace of a cache simulator, met by a policy of a window.

Every object is a segment of one token with an external copy. Its first access is its arrival, each
later one a query that touches it in a turn of its own; one that is not there is a miss, comes back
after the answers, and the pass that follows makes room. So a window of *n* tokens is a cache of *n*
objects, and what a trace misses is ``missed_tokens`` and the first accesses.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policies.options import Options
from policies.parts.ranking import Stays, anyone, nobody
from policies.parts.removal import EvictUntilFit
from policies.policy import Composed
from sim.engine import run
from sim.script import Arrival, Query, Script
from sim.segments import Kind, Segment
from sim.view import View
from tests.support.scripts import BASE_SETTINGS
from tests.test_random_runs import PRICE

__all__ = ["Furthest", "FurthestOrItself", "accesses", "misses"]


def accesses(trace: Sequence[int], room: int) -> Script:
    """Return the script of *trace*, an object a turn, for a window of *room* objects."""
    seen: set[int] = set()
    stimuli: list[Arrival | Query] = []
    for turn, thing in enumerate(trace, 1):
        if thing in seen:
            stimuli.append(Query(turn, f"q{turn}", "nothing", 1.0, (f"s{thing}",)))
        else:
            seen.add(thing)
            stimuli.append(Arrival(turn, f"s{thing}", Kind.NOTE, 1, 1.0, copy=True))
    settings = {**BASE_SETTINGS, "turns": len(trace), "budget": room}
    return Script("accesses", 0, settings, tuple(stimuli))


def misses(trace: Sequence[int], room: int, policy: Any) -> int:
    """Return how many accesses of *trace* miss under *policy*, first ones included."""
    metrics = run(accesses(trace, room), policy, PRICE).metrics
    assert metrics["status"] == "completed" and not metrics["policy_bugs"]
    return len(set(trace)) + metrics["missed_tokens"]


class _ByNextUse:
    """Furthest next use first; *spares* says that what is used in this turn stays."""

    def __init__(self, spares: bool) -> None:
        self._spares = spares
        self._uses: dict[str, list[int]] = {}

    def start(self, view: View) -> None:
        assert view.future is not None
        for stimulus in view.future.stimuli:
            name = stimulus.id if isinstance(stimulus, Arrival) else stimulus.touches[0]
            self._uses.setdefault(name, []).append(stimulus.turn)
        # A segment is read anew whenever it is used, so its key is never behind.
        self._order = view.order(lambda s: -self._next(s, view.turn), anyone)

    def candidates(self, view: View, need: int, stays: Stays = nobody) -> Iterator[Segment]:
        for segment in self._order:
            if not (self._spares and view.turn in self._uses[segment.id]):
                yield segment

    def _next(self, segment: Segment, turn: int) -> float:
        uses = self._uses[segment.id]
        at = bisect_right(uses, turn)
        return uses[at] if at < len(uses) else math.inf


class Furthest(Composed):
    """Belady's rule: whatever is used comes in, and who is next used last leaves for it."""

    name = "furthest"
    requires = frozenset({"future"})
    spares = True

    def compose(self, options: Options) -> Iterable[Any]:
        yield EvictUntilFit(_ByNextUse(self.spares), "furthest")


class FurthestOrItself(Furthest):
    """Belady's rule with bypass: what comes in may be the one that leaves."""

    name = "furthest-or-itself"
    spares = False
