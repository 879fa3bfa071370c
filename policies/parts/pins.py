"""Pins: what a policy itself never gives up, by its role in the agent's loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["RULES", "RolePins", "overtaken", "superseded"]

Rule = Callable[["View", "Segment"], bool]


def superseded(segment: Segment) -> bool:
    """Whether a newer result of its tool, or a newer attempt, has come."""
    return segment.superseded


def overtaken(segment: Segment) -> bool:
    """Whether a newer result of any tool, or a newer attempt, has come."""
    return segment.overtaken or segment.superseded


def _head(view: View, segment: Segment) -> bool:
    return segment.kind in (Kind.TOOLS, Kind.SYSTEM, Kind.TASK)


def _standing(view: View, segment: Segment) -> bool:
    return segment.standing


def _named(view: View, segment: Segment) -> bool:
    return segment.kind is Kind.FILE and view.roles.named(segment.path)


def _written(view: View, segment: Segment) -> bool:
    return segment.kind is Kind.FILE and segment.path in view.roles.written


RULES: dict[str, Rule] = {
    "pin.head": _head,
    "pin.standing": _standing,
    "pin.named": _named,
    "pin.written": _written,
}
"""Pin rules by the option that switches them; the newest results come on top."""


class RolePins:
    """Pins segments by *rules*, and each result that is not *old* (None: results are not pinned).

    Of a result that came in pages it is the page that came last.

    Pure in the roles: asked again when a role changes, it says what holds now.
    """

    def __init__(self, rules: list[Rule], old: Callable[[Segment], bool] | None) -> None:
        self._rules = rules
        self._old = old

    def pins(self, view: View, segment: Segment) -> bool:
        """Whether *segment* is pinned by its role."""
        return self._newest(segment) or any(rule(view, segment) for rule in self._rules)

    def _newest(self, segment: Segment) -> bool:
        return (
            self._old is not None
            and segment.kind is Kind.TOOL_RESULT
            and segment.tool is not None
            and not segment.turned
            and not self._old(segment)
        )
