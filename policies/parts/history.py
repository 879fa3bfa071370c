"""The history: what a harness may take out of the request, and where it can be cut.

The order is that of the request. An *event* is a segment; a *message* is one too, but that what the
model said in one turn, its calls included, is one message.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from sim.segments import SAID_KINDS, Kind

if TYPE_CHECKING:
    from sim.orders import Order
    from sim.segments import Segment
    from sim.view import View

__all__ = [
    "History",
    "before_messages",
    "before_pairs",
    "behind_pairs",
    "in_history",
    "is_event",
    "messages",
    "newest",
    "said",
    "together",
    "typed",
]

_HEAD = frozenset({Kind.TOOLS, Kind.SYSTEM})
_TYPED = frozenset({Kind.TASK, Kind.USER})


def in_history(segment: Segment) -> bool:
    """Everything but tools and system prompt, which stand apart from the history."""
    return segment.kind not in _HEAD


def is_event(segment: Segment) -> bool:
    """Everything but tools; the system prompt is the first event."""
    return segment.kind is not Kind.TOOLS


def typed(segment: Segment) -> bool:
    """What the user typed, the task included."""
    return segment.kind in _TYPED and not segment.sources


def said(segment: Segment) -> bool:
    """What the model said: words, thoughts and calls."""
    return segment.kind in SAID_KINDS


class History:
    """The resident segments that *member* accepts, in the order of the request.

    It is kept up to date, and read as a whole only where a harness compacts.
    """

    def __init__(self, member: Callable[[Segment], bool] = in_history) -> None:
        self._member = member
        self._order: Order | None = None

    def start(self, view: View) -> None:
        """Ask for the order."""
        self._order = view.position_order(self._member)

    def __len__(self) -> int:
        return 0 if self._order is None else len(self._order)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._order or ())

    def __reversed__(self) -> Iterator[Segment]:
        return reversed(self._order) if self._order is not None else iter(())


def messages(history: Sequence[Segment]) -> list[list[Segment]]:
    """Return *history* as messages, each a list of its segments."""
    runs = groupby(history, lambda s: (said(s), s.turn))
    found: list[list[Segment]] = []
    for (by_model, _), run in runs:
        found.extend([list(run)] if by_model else ([segment] for segment in run))
    return found


def newest(sizes: Sequence[int], room: int) -> int:
    """Return where the longest run at the end begins whose *sizes* sum to at most *room*."""
    totals = accumulate(reversed(sizes))
    return len(sizes) - sum(1 for total in totals if total <= room)


def before_pairs(view: View, history: Sequence[Segment], cut: int) -> int:
    """Return *cut*, or the nearest place in front of it that parts no call from its result."""
    place = {segment: index for index, segment in enumerate(history)}
    at = len(history)
    while at > cut:
        at -= 1
        cut = min(cut, *(place.get(mate, cut) for mate in view.together(history[at])))
    return cut


def before_messages(view: View, history: Sequence[Segment], cut: int) -> int:
    """Return *cut*, or the nearest place in front of it that parts no message and no pair."""
    starts = list(accumulate(map(len, messages(history)), initial=0))
    while True:
        before = starts[bisect_right(starts, before_pairs(view, history, cut)) - 1]
        if before == cut:
            return cut
        cut = before


def behind_pairs(view: View, history: Sequence[Segment], cut: int) -> int:
    """Return *cut*, or the nearest place behind it that parts no call from its result."""
    place = {segment: index for index, segment in enumerate(history)}
    at = 0
    while at < cut:
        cut = max(cut, *(place.get(mate, -1) + 1 for mate in view.together(history[at])))
        at += 1
    return cut


def together(view: View, chosen: Sequence[Segment]) -> list[Segment]:
    """Return those of *chosen* whose call or result, if it is there, is chosen, too."""
    members = set(chosen)
    return [s for s in chosen if all(mate in members for mate in view.together(s))]
