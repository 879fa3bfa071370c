"""Compaction: everything unpinned becomes one summary, and the run goes on from it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policies.parts.ranking import unpinned
from policies.parts.units import size
from sim.actions import Rewrite

if TYPE_CHECKING:
    from policies.options import Value
    from sim.orders import Order
    from sim.view import View

__all__ = ["Compact"]


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
        before = size(sources)
        tokens = max(1, math.floor(self._share(view) * before))
        if not sources or tokens >= before:
            return None
        return Rewrite(tuple(s.id for s in sources), tokens, True, "compaction", whole=True)
