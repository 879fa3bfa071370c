"""Removal: evict, in the order of a ranking, until the window fits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policies.parts.units import shortest_run
from sim.actions import Evict

if TYPE_CHECKING:
    from policies.parts.ranking import Ranking
    from sim.view import View

__all__ = ["EvictUntilFit"]


class EvictUntilFit:
    """Evicts the first of *ranking*, no more of them than it takes to fit."""

    def __init__(self, ranking: Ranking, reason: str = "pass") -> None:
        self._ranking = ranking
        self._reason = reason

    def start(self, view: View) -> None:
        """Let the ranking ask for its order."""
        self._ranking.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        """Evict until the window fits or nobody is left."""
        for segment in shortest_run(view, self._ranking.candidates(view, view.over), view.over):
            yield Evict(segment.id, self._reason)
