"""opencode-prune: after each run, results behind two turns of the user and 40,000 tokens go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Clearing
from policies.options import Options, whole, words
from policies.parts.capping import CAP, capping
from policies.parts.clearing import is_result
from policies.parts.history import typed
from policies.parts.stubs import stub, stubbable
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.actions import Rewrite
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OpencodePrune"]


class OpencodePrune(Clearing):
    """Clears old results when a run is over, if more than 20,000 tokens of them can go.

    A run ends before the next message of the user, so that it prunes then, and in a session of up
    to three such messages no request is shorter for it. It goes back from the newest result in
    front of the last two turns of the user, and stops at a summary or at what it has cleared
    before. Newer versions have it off unless asked for. Source: opencode,
    packages/opencode/src/session/compaction.ts at fd78ec63 (read in source).
    """

    name = "opencode-prune"
    summary = "after each run, clears results behind two turns of the user and 40,000 tokens"
    source = "opencode, compaction.ts"
    version = "opencode fd78ec63, read in source"
    options = (
        CAP,
        whole("turns", "newest turns of the user whose results stay", "turns", 2, 1),
        whole("protect", "newest results in front of them that stay", "tokens", 40_000, 0),
        whole("minimum", "tokens of which more must go together", "tokens", 20_000, 0),
        words("exempt", "tools whose results stay", "skill"),
        whole("stub", "what is put in the place of each", "tokens", 9, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the pruning."""
        yield from capping(options, CAPS["opencode"])
        yield _Prune(options)


class _Prune:
    def __init__(self, options: Options) -> None:
        self._turns: int = options["turns"]
        self._protect: int = options["protect"]
        self._minimum: int = options["minimum"]
        self._exempt: tuple[str, ...] = options["exempt"]
        self._stub: int = options["stub"]
        self._said: Order
        self._results: Order

    def start(self, view: View) -> None:
        self._said = view.position_order(typed)
        self._results = view.position_order(lambda s: is_result(s) or s.kind is Kind.SUMMARY)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        last = self._said.last()
        if last is None or last.admitted_turn != view.turn:
            return
        due = list(self._due(view))
        if sum(map(view.size, due)) <= self._minimum:
            return
        for segment in due:
            if stubbable(segment, self._stub):
                yield stub(segment, self._stub, "pruned")

    def _due(self, view: View) -> Iterator[Segment]:
        """Yield the results that are too old, the newest first."""
        begin, counted = self._begin(view), 0
        for segment in reversed(self._results):
            if segment.slot >= begin or segment.tool in self._exempt:
                continue
            if segment.sources or segment.kind is Kind.SUMMARY:
                return
            counted += view.size(segment)
            if counted > self._protect:
                yield segment

    def _begin(self, view: View) -> float:
        """Return where the protected turns of the user begin, the new message set apart."""
        before = (s for s in reversed(self._said) if s.admitted_turn < view.turn)
        first = next(islice(before, self._turns - 1, None), None)
        return -math.inf if first is None else first.slot
