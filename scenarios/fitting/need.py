"""The budget of a fitted scenario: for which policies it has room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scenarios.fitting.setting import Part
from sim.script import Arrival, Script, Turn, Write
from sim.segments import Kind

__all__ = ["held", "roomy"]

_WHAT = (
    "what a policy that pins by role in the loop, as `tiered` does, holds on to (system and task, "
    "the newest result of each tool, the files written)"
)


def roomy(part: Part, holds: Sequence[int]) -> Part:
    """Return *part*, the budget, with a comment that says for whom it has room.

    *holds* are the most tokens :func:`held` in each of the first seeds. The budget stays what it
    was fitted to.
    """
    budget = int(part.settings[0].value)
    more = [size for size in holds if size > budget]
    if more:
        says = (
            f"It is less than {_WHAT} in {len(more)} of the first {len(holds)} seeds, which hold "
            f"up to {max(more):,}: such a policy fails there; --budget sets another."
        )
    else:
        says = f"It has room for {_WHAT} in all of the first {len(holds)} seeds."
    return replace(part, why=f"{part.why} {says}")


_HEAD = frozenset({Kind.TOOLS, Kind.SYSTEM, Kind.TASK})


def held(script: Script) -> int:
    """Return the most tokens, at any turn, that a policy holds on to which pins by role.

    These are what is pinned, the head, standing constraints, the newest result of each tool and
    every read of a file that has been written, each with its call, as they come (S3's pins).
    Attempts are left out: a recording marks none.
    """
    work = _Work()
    return max((work.after(turn) for _, turn in sorted(script.turns().items())), default=0)


class _Work:
    """Adds up what is held, turn by turn."""

    def __init__(self) -> None:
        self._always = 0
        self._newest: dict[str, int] = {}
        self._reads: dict[str, list[tuple[int, int]]] = defaultdict(list)
        """Of each path, the sizes of what was read and of the call."""
        self._written: dict[str, int | None] = {}
        """The size that each written path has now, None if it is that of each read."""

    def after(self, turn: Turn) -> int:
        """Return what is held once all of *turn* has come."""
        calls = {a.pair: a.tokens for a in turn.arrivals if a.kind is Kind.TOOL_CALL}
        for arrival in turn.arrivals:
            self._add(arrival, calls.get(arrival.pair, 0) if arrival.pair else 0)
        for write in turn.writes:
            if isinstance(write, Write):
                self._written[write.path] = write.tokens
        return self._always + sum(self._newest.values()) + sum(self._files())

    def _add(self, arrival: Arrival, call: int) -> None:
        if arrival.pinned or arrival.standing or arrival.kind in _HEAD:
            self._always += arrival.tokens + call
        elif arrival.kind is Kind.FILE and arrival.path is not None:
            self._reads[arrival.path].append((arrival.tokens, call))
        elif arrival.kind is Kind.TOOL_RESULT and arrival.tool is not None:
            self._newest[arrival.tool] = arrival.tokens + call

    def _files(self) -> Iterator[int]:
        for path, now in self._written.items():
            for tokens, call in self._reads[path]:
                yield (tokens if now is None else now) + call
