"""The relevance pass: what has become irrelevant is rewritten or dropped, every turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.parts.ranking import BySalience
from policies.parts.rewriting import Rewriting
from policies.parts.units import leading
from sim.actions import Evict
from sim.segments import Kind

if TYPE_CHECKING:
    from policies.options import Value
    from sim.actions import Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["RelevancePass"]


class RelevancePass:
    """Rewrites each unpinned full segment whose salience is below a limit, lowest first.

    What may not be rewritten is evicted instead, at any time. With *defer* nothing is rewritten
    in a turn that has admitted something without an external copy: it waits. Without a
    *rewriting* everything below the limit is evicted.
    """

    def __init__(
        self,
        below: Value,
        member: Callable[[Segment], bool],
        rewriting: Rewriting | None,
        *,
        defer: bool,
    ) -> None:
        self._below = below
        self._rewriting = rewriting
        self._defer = defer
        self._member = member
        self._all = BySalience(member)
        self._stuck: BySalience | None = None

    def start(self, view: View) -> None:
        """Ask for who is full, and for who of them can never be rewritten as it is."""
        self._all.start(view)
        rewriting, member = self._rewriting, self._member
        if rewriting is None or not self._defer:
            return

        def never(segment: Segment) -> bool:
            """Whether it cannot be rewritten; a call is left to its result, which comes later."""
            if segment.kind is Kind.TOOL_CALL and segment.pair is not None:
                return False
            return member(segment) and rewriting.obstacle(view, view.together(segment)) is not None

        self._stuck = BySalience(never)
        self._stuck.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite | Evict]:
        """Rewrite or evict what is below the limit."""
        limit = self._below(view)
        if self._stuck is not None and view.spent:
            yield from self._drop(view, self._stuck, limit)
            return
        for segment in self._all.below(view, limit):
            unit = view.together(segment)
            if not segment.resident or segment not in leading(unit):
                continue
            if self._rewriting is None:
                yield Evict(segment.id, "relevance")
            else:
                yield self._rewriting.action(view, unit, "relevance")

    def _drop(self, view: View, stuck: BySalience, limit: float) -> Iterator[Evict]:
        """Evict what cannot be rewritten in a later turn either."""
        assert self._rewriting is not None
        for segment in stuck.below(view, limit):
            if not segment.resident:
                continue
            unit = view.together(segment)
            if any(view.salience(s) >= limit for s in leading(unit)):
                continue
            obstacle = self._rewriting.obstacle(view, unit)
            if obstacle is not None:
                yield Evict(segment.id, obstacle)
