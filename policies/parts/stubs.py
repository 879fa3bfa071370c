"""Stubs: the fixed text that a harness puts in the place of what is old, whatever pins it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from policies.parts.ranking import ByPosition
from policies.parts.rewriting import taggable
from sim.actions import Rewrite

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Newest", "Unstubbed", "stub", "stubbable"]


def stubbable(segment: Segment, tokens: int) -> bool:
    """Whether a stub of *tokens* is shorter, and none has taken its place before."""
    return not segment.sources and segment.tokens > tokens


def stub(
    segment: Segment,
    tokens: int,
    reason: str,
    preview: tuple[int, int] = (0, 0),
    *,
    saves: bool = False,
) -> Rewrite:
    """Return the rewrite of *segment* into a fixed text of *tokens*, its *preview* among them.

    *preview* is tokens from its front and from its end. The stub of a result stands beside the
    call, which says what it was, so that it is tagged wherever it can be. With *saves* the text is
    kept in a file.
    """
    tagged = taggable([segment])
    return Rewrite((segment.id,), tokens, tagged, reason, stub=True, preview=preview, saves=saves)


class Unstubbed:
    """Those of *member* that no stub of *tokens* stands for yet, in the order of the request."""

    def __init__(self, member: Callable[[Segment], bool], tokens: int) -> None:
        self._order = ByPosition(lambda s: member(s) and stubbable(s, tokens))

    def start(self, view: View) -> None:
        """Ask for the order."""
        self._order.start(view)

    def in_front_of(self, view: View, slot: float) -> Iterator[Segment]:
        """Yield those that stand in front of *slot*, the front-most first."""
        for segment in self._order.candidates(view):
            if segment.slot >= slot:
                return
            yield segment


class Newest:
    """Where the newest of *member* begin; a stub of one counts as it did."""

    def __init__(self, member: Callable[[Segment], bool]) -> None:
        self._member = member

    def start(self, view: View) -> None:
        """Ask for the order."""
        self._order = view.position_order(self._member)

    def __len__(self) -> int:
        return len(self._order)

    def begin(self, keep: int) -> float:
        """Return the slot of the *keep*-th newest: behind all for 0, before all for too few."""
        if keep <= 0:
            return math.inf
        first = next(islice(reversed(self._order), keep - 1, None), None)
        return -math.inf if first is None else first.slot
