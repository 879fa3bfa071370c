"""Summarising: what is unpinned, all or all that is old, becomes one summary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policies.options import setting, switch
from policies.parts.ranking import unpinned
from policies.parts.units import size
from sim.actions import Rewrite

if TYPE_CHECKING:
    from policies.options import Options, Value
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = ["WHEN_FULL", "Compact", "SummariseOld", "when_full"]

WHEN_FULL = (
    switch("compact", "make a summary when the window is too full"),
    setting("compaction.at"),
    setting("compaction.share"),
)
"""Options of a policy that leaves what its own rules do not make fit to :class:`Compact`."""


def when_full(options: Options) -> Iterator[Compact]:
    """Yield the compaction of a policy with the options :data:`WHEN_FULL`, if it is on."""
    if options.on("compact"):
        yield Compact(options.value("compaction.at"), options.value("compaction.share"))


class Compact:
    """Rewrites all that is unpinned into one tagged summary, of a *share* of its tokens.

    It does so once the window holds more than *at* times the budget, and again while the window
    still does not fit and the summary can shrink. The tag names the summary's sources as a whole,
    so that an untaggable one among them is no obstacle.
    """

    def __init__(self, at: Value, share: Value) -> None:
        self._at = at
        self._share = share
        self._unpinned: Order | None = None

    def start(self, view: View) -> None:
        """Ask for what is unpinned, in the order of the request."""
        self._unpinned = view.position_order(unpinned)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        """Compact if the window is too full."""
        if view.tokens > self._at(view) * view.budget:
            summary = self._summary(view)
            while summary is not None:
                held = view.tokens
                yield summary
                again = view.over > 0 and view.tokens < held
                summary = self._summary(view) if again else None

    def _summary(self, view: View) -> Rewrite | None:
        sources = list(self._unpinned or ())
        return _summary(sources, self._share(view), "compaction", whole=True)


class SummariseOld:
    """Rewrites the oldest turns into one tagged summary, of a *share* of their tokens.

    It does so once *batch* turns have come on top of the *keep* newest, which stay as they are; the
    summary before is part of the next. It is a call of its own, with the turns as its input. What
    cannot be tagged stays.
    """

    def __init__(self, batch: int, keep: int, share: Value) -> None:
        self._batch = batch
        self._keep = keep
        self._share = share
        self._upto = 0
        """The newest turn that a summary stands for."""
        self._unpinned: Order | None = None

    def start(self, view: View) -> None:
        """Ask for what is unpinned, in the order of the request."""
        self._unpinned = view.position_order(lambda s: unpinned(s) and s.taggable)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        """Summarise if there are enough turns."""
        if view.turn - self._upto < self._batch + self._keep:
            return
        self._upto = view.turn - self._keep
        summary = _summary(list(self._old(view)), self._share(view), "summary")
        if summary is not None:
            yield summary

    def _old(self, view: View) -> Iterator[Segment]:
        for segment in self._unpinned or ():
            if all(_came(s) <= self._upto and unpinned(s) for s in view.together(segment)):
                yield segment


def _came(segment: Segment) -> int:
    """Return the turn in which it, or what it stands for alone, came in; 0 for a summary."""
    while len(segment.sources) == 1:
        (segment,) = segment.sources
    return 0 if segment.sources else segment.admitted_turn


def _summary(
    sources: Sequence[Segment], share: float, reason: str, whole: bool = False
) -> Rewrite | None:
    """Return the rewrite of *sources* into a *share* of their tokens, None if it is no shorter."""
    before = size(sources)
    tokens = max(1, math.floor(share * before))
    if not sources or tokens >= before:
        return None
    return Rewrite(tuple(s.id for s in sources), tokens, True, reason, whole=whole)
