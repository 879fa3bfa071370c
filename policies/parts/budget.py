"""The budget pass of a policy that rewrites: what it does while the window does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.parts.ranking import BySalience
from policies.parts.rewriting import Rewriting
from policies.parts.units import counted, size
from sim.actions import Evict, Rewrite

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["RewriteUntilFit"]


class RewriteUntilFit:
    """Rewrites the least salient full segments until the window fits.

    With *defer* not in a turn that has admitted something without an external copy. With *drop*
    a segment whose surrogate would free nothing is evicted in its place; what is left over is
    for the parts after this one.
    """

    def __init__(
        self,
        member: Callable[[Segment], bool],
        rewriting: Rewriting,
        *,
        defer: bool,
        drop: bool,
    ) -> None:
        self._ranking = BySalience(member)
        self._rewriting = rewriting
        self._defer = defer
        self._drop = drop

    def start(self, view: View) -> None:
        """Ask for who is full."""
        self._ranking.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite | Evict]:
        """Rewrite until the window fits or nothing full is left."""
        if view.over > 0 and not (self._defer and view.spent):
            yield from self._plan(view)

    def _plan(self, view: View) -> list[Rewrite | Evict]:
        plan: list[Rewrite | Evict] = []
        need = view.over
        for segment in self._ranking.candidates(view, need):
            unit = view.together(segment)
            action = self._rewriting.action(view, unit, "budget")
            if self._drop and isinstance(action, Rewrite) and action.tokens >= size(unit):
                action = Evict(segment.id, "grows")
            plan.append(action)
            need -= counted(view, unit) - (action.tokens if isinstance(action, Rewrite) else 0)
            if need <= 0:
                break
        return plan
