"""Rehydration: whether a segment that has left may come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.actions import Grant, RehydrationBlocked

if TYPE_CHECKING:
    from policies.parts.displacement import Displacement
    from policies.parts.ranking import Ranking
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Gate"]


class Gate:
    """Grants on slack, swaps against a displaced set that is less salient, or refuses.

    A refusal is typed and goes to the planner. That salience is above the threshold has been
    tested before it is asked; an explicit request never comes here.
    """

    def __init__(self, displacement: Displacement, ranking: Ranking) -> None:
        self._displacement = displacement
        self._ranking = ranking

    def start(self, view: View) -> None:
        """Ask for what the decisions need."""
        self._displacement.start(view)
        self._ranking.start(view)

    def on_rehydrate(self, view: View, segment: Segment) -> Grant | RehydrationBlocked:
        """Decide about *segment*, which would come back at the size of its copy."""
        tokens = view.fetched_tokens(segment)
        verdict = self._displacement.weigh(view, segment, tokens, self._ranking)
        if verdict.how == "slack":
            return Grant("slack")
        if verdict.granted:
            return Grant("swap", verdict.displaced, verdict.score, verdict.floor)
        return RehydrationBlocked(
            segment.id, verdict.how, verdict.score, verdict.floor, verdict.displaced
        )
