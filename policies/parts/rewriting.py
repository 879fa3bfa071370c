"""Rewriting: the size of a surrogate, and whether it may stand for its sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from policies.parts.units import size
from sim.actions import Evict, Rewrite
from sim.segments import originals

if TYPE_CHECKING:
    from policies.options import Value
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Rewriting", "taggable"]


def taggable(unit: Iterable[Segment]) -> bool:
    """Whether a surrogate of *unit* can say what it stands for."""
    return all(all(o.taggable for o in originals([s])) if s.sources else s.taggable for s in unit)


class Rewriting:
    """Makes one surrogate of what leaves together, or says why it may not.

    *tagged*: the surrogate says what it stands for, so an untaggable source has none.
    *shrinks*: it must be shorter than what it replaces, unless that has an external copy.
    """

    def __init__(
        self, text_tokens: Value, tag_tokens: Value, *, tagged: bool, shrinks: bool
    ) -> None:
        self._text_tokens = text_tokens
        self._tag_tokens = tag_tokens
        self._tagged = tagged
        self._shrinks = shrinks

    def tokens(self, view: View, unit: Sequence[Segment]) -> int:
        """Return the size of the surrogate of *unit*, with its tag if it has one."""
        own = [s.surrogate_tokens for s in unit if s.surrogate_tokens is not None]
        text = max(own) if own else int(self._text_tokens(view))
        return max(1, text + (int(self._tag_tokens(view)) if self._tagged else 0))

    def obstacle(self, view: View, unit: Sequence[Segment]) -> str | None:
        """Return why *unit* may not be rewritten, ``untaggable`` or ``grows``, or None."""
        if self._tagged and not taggable(unit):
            return "untaggable"
        if self._shrinks and not self.frees(view, unit) and not all(s.copy for s in unit):
            return "grows"
        return None

    def frees(self, view: View, unit: Sequence[Segment]) -> bool:
        """Whether the surrogate is shorter than what it replaces."""
        return self.tokens(view, unit) < size(unit)

    def action(self, view: View, unit: Sequence[Segment], reason: str) -> Rewrite | Evict:
        """Return the rewrite of *unit*, or its eviction where it may not be rewritten."""
        obstacle = self.obstacle(view, unit)
        if obstacle is not None:
            return Evict(unit[0].id, obstacle)
        tokens = self.tokens(view, unit)
        return Rewrite(tuple(s.id for s in unit), tokens, self._tagged, reason)
