"""Ranking: who goes first. Every ranking reads an order that the window keeps up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from policies.parts.units import leading
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = [
    "ByPosition",
    "ByRank",
    "BySalience",
    "Ranking",
    "Stays",
    "anyone",
    "full",
    "full_but_summaries",
    "nobody",
    "ranked_files",
    "unpinned",
]

Member = Callable[["Segment"], bool]
Stays = Callable[["Segment"], bool]


def anyone(segment: Segment) -> bool:
    """Every resident segment, pinned or not."""
    return True


def unpinned(segment: Segment) -> bool:
    """What no pin holds."""
    return not segment.held


def full(segment: Segment) -> bool:
    """What no pin holds and is no surrogate; invented text counts as full."""
    return not segment.held and not segment.is_surrogate


def full_but_summaries(segment: Segment) -> bool:
    """As :func:`full`, but a summary that came as one is no full segment."""
    return full(segment) and segment.kind is not Kind.SUMMARY


def ranked_files(segment: Segment) -> bool:
    """Files that retrieval has ranked and no pin holds."""
    return (
        segment.kind is Kind.FILE
        and segment.rank is not None
        and not segment.held
        and not segment.sources
    )


class Ranking(Protocol):
    """Who goes first."""

    def start(self, view: View) -> None:
        """Ask the view for the orders it needs."""

    def candidates(self, view: View, need: int, stays: Stays = ...) -> Iterable[Segment]:
        """Yield who goes first where *need* tokens must go, without those that stay.

        What is yielded stands for all that leaves with it. Read as much as is needed before
        acting: the order changes with what leaves.
        """


def nobody(segment: Segment) -> bool:
    """Nobody stays."""
    return False


class BySalience:
    """Least salient first, ties older first; a call counts as its result does."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._order: Order | None = None

    def start(self, view: View) -> None:
        """Ask for the order, once."""
        if self._order is None:
            self._order = view.salience_order(self._member)

    def candidates(self, view: View, need: int, stays: Stays = nobody) -> Iterator[Segment]:
        """Yield who goes first, one for all that leaves together."""
        for segment in self._order or ():
            call = segment.kind is Kind.TOOL_CALL
            if call and segment not in leading(view.together(segment)):
                continue
            if not stays(segment):
                yield segment

    def below(self, view: View, limit: float) -> list[Segment]:
        """Return those whose salience is below *limit*, least salient first."""
        found: list[Segment] = []
        for segment in self._order or ():
            if view.salience(segment) >= limit:
                break
            found.append(segment)
        return found


class ByPosition:
    """By position in the request: the front first, or, *last_first*, the end first."""

    def __init__(self, member: Member, last_first: bool = False) -> None:
        self._member = member
        self._last_first = last_first
        self._order: Order | None = None

    def start(self, view: View) -> None:
        """Ask for the order, once."""
        if self._order is None:
            self._order = view.position_order(self._member)

    def candidates(self, view: View, need: int = 0, stays: Stays = nobody) -> Iterator[Segment]:
        """Yield who goes first."""
        order = self._order
        ordered = () if order is None else reversed(order) if self._last_first else order
        return (segment for segment in ordered if not stays(segment))

    def __contains__(self, segment: Segment) -> bool:
        return self._order is not None and segment in self._order


class ByRank:
    """By retrieval rank, the worst (the highest number) first."""

    def __init__(self, member: Member = ranked_files) -> None:
        self._member = member
        self._order: Order | None = None

    def start(self, view: View) -> None:
        """Ask for the order, once."""
        if self._order is None:
            self._order = view.order(lambda s: -(s.rank or 0), self._member)

    def candidates(self, view: View, need: int, stays: Stays = nobody) -> Iterator[Segment]:
        """Yield who goes first."""
        return (segment for segment in self._order or () if not stays(segment))
