"""The door: what would displace something must be worth it, or it is never admitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sim.actions import Admit, Refuse
from sim.segments import DOOR_KINDS

if TYPE_CHECKING:
    from policies.parts.arrival import Sizing
    from policies.parts.displacement import Displacement
    from policies.parts.ranking import Ranking
    from policies.parts.tiers import Tiers
    from sim.actions import Evict, Rewrite
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Door"]


class Door:
    """Tests each read, result, diff, image or note; messages and pinned segments pass untested.

    With *lines* superseded material becomes lines first, while the arrival would not fit.
    """

    def __init__(
        self,
        sizing: Sizing,
        displacement: Displacement,
        ranking: Ranking,
        lines: Tiers | None = None,
    ) -> None:
        self._sizing = sizing
        self._displacement = displacement
        self._ranking = ranking
        self._lines = lines

    def start(self, view: View) -> None:
        """Ask for what the decisions need."""
        self._displacement.start(view)
        self._ranking.start(view)
        self._ranking.start(view)

    def on_arrival(
        self, view: View, segment: Segment
    ) -> Iterator[Rewrite | Evict | Admit | Refuse]:
        """Decide about *segment* at the door."""
        tokens, how = self._sizing(view, segment)
        if segment.pinned or segment.kind not in DOOR_KINDS:
            yield Admit(tokens, how)
            return
        base = segment.previous if how == "delta" else None
        yield from self._make_lines(view, view.size(segment, tokens), base)
        verdict = self._displacement.weigh(view, segment, tokens, self._ranking, base)
        if verdict.how == "slack":
            yield Admit(tokens, how)
        elif verdict.granted:
            yield Admit(tokens, how, verdict.displaced, verdict.score, verdict.floor)
        else:
            yield Refuse(verdict.how, tokens, verdict.displaced, verdict.score, verdict.floor)

    def _make_lines(
        self, view: View, tokens: int, base: Segment | None
    ) -> Iterator[Rewrite | Evict]:
        if self._lines is None or self._displacement.too_large(view, tokens):
            return
        held = view.tokens + 1
        while self._displacement.need(view, tokens) > 0 and view.tokens < held:
            held = view.tokens
            action = self._lines.line(view, self._displacement.need(view, tokens), base)
            if action is None:
                return
            yield action
