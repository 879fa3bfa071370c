"""What leaves together: a segment alone, or a call and its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["counted", "leading", "shortest_run", "size", "under_way"]


def counted(view: View, unit: Iterable[Segment]) -> int:
    """Return the tokens that *unit* frees by leaving, as the harness counts them."""
    return sum(view.size(segment) for segment in unit)


def size(unit: Iterable[Segment]) -> int:
    """Return the tokens of *unit* as they are, by which two texts are compared."""
    return sum(segment.tokens for segment in unit)


def leading(unit: Sequence[Segment]) -> Sequence[Segment]:
    """Return those of *unit* whose salience counts: a call counts as its result does."""
    if len(unit) == 1:
        return unit
    return [segment for segment in unit if segment.kind is not Kind.TOOL_CALL] or unit


def under_way(view: View, segment: Segment) -> bool:
    """Whether *segment* is a call of this turn whose result has not come yet."""
    return (
        segment.kind is Kind.TOOL_CALL
        and segment.turn == view.turn
        and segment.pair is not None
        and len(view.together(segment)) == 1
    )


def shortest_run(view: View, candidates: Iterable[Segment], need: int) -> list[Segment]:
    """Return as many of *candidates*, in their order, as free *need* tokens, or all of them.

    One segment stands for all that leaves with it. *candidates* is read only as far as needed.
    """
    chosen: list[Segment] = []
    gone: set[Segment] = set()
    for segment in candidates if need > 0 else ():
        if segment in gone:
            continue
        unit = view.together(segment)
        gone.update(unit)
        chosen.append(segment)
        need -= counted(view, unit)
        if need <= 0:
            break
    return chosen
