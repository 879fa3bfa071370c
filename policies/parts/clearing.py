"""Clearing: the harness puts a short stub in the place of an old result; no model is asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from policies.parts.ranking import ByPosition
from policies.parts.rewriting import taggable
from policies.parts.units import counted
from sim.actions import Rewrite
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["AllButNewest", "AtBoundaries", "clear", "clearable", "is_result"]

_RESULTS = frozenset({Kind.FILE, Kind.TOOL_RESULT})


def is_result(segment: Segment) -> bool:
    """Whether a call brought it: a result, or a file that was read; a stub of one counts, too."""
    return segment.kind in _RESULTS and segment.pair is not None


def clearable(segment: Segment, stub: int) -> bool:
    """Whether a tagged stub of *stub* tokens can stand for it and is shorter."""
    plain = not segment.held and not segment.sources
    return plain and segment.tokens > stub and taggable([segment])


def clear(segment: Segment, stub: int, reason: str) -> Rewrite:
    """Return the rewrite that puts a tagged stub of *stub* tokens in the place of *segment*."""
    return Rewrite((segment.id,), stub, True, reason, stub=True)


class AllButNewest:
    """Clears every result but the *keep* newest, those further back in the request.

    It begins once the request, with all that it has cleared counted in full, is longer than
    *trigger* tokens, and then acts whenever at least *at_least* tokens can go. What was fetched
    again is new.
    """

    def __init__(self, keep: int, trigger: int, at_least: int, stub: int) -> None:
        self._keep = keep
        self._trigger = trigger
        self._at_least = at_least
        self._stub = stub
        self._saved = 0
        """Tokens that it has cleared, less the stubs."""
        self._newest = ByPosition(is_result, last_first=True)
        self._waiting = ByPosition(lambda s: is_result(s) and clearable(s, stub))

    def start(self, view: View) -> None:
        """Ask for the results, in the order of the request and against it."""
        self._newest.start(view)
        self._waiting.start(view)

    def first(self, view: View) -> Segment | None:
        """Return the front-most segment that it will clear, or None."""
        return next(iter(self._waiting.candidates(view)), None)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        """Clear what is further back, if it is time and enough."""
        if view.tokens + self._saved <= self._trigger:
            return
        due = list(self._due(view))
        if counted(view, due) < self._at_least:
            return
        for segment in due:
            self._saved += view.size(segment) - view.size(segment, self._stub)
            yield clear(segment, self._stub, "masked")

    def _due(self, view: View) -> Iterator[Segment]:
        newest = set(islice(self._newest.candidates(view), self._keep))
        for segment in self._waiting.candidates(view):
            if segment in newest:
                return
            yield segment


class AtBoundaries:
    """Clears, when the user has something new to say, every long result of the turns before.

    Such a message is where one task ends and the next begins. Long is from *least* tokens on.
    """

    def __init__(self, least: int, stub: int) -> None:
        self._least = least
        self._stub = stub
        self._said = ByPosition(lambda s: s.kind is Kind.USER, last_first=True)
        self._long: ByPosition

    def start(self, view: View) -> None:
        """Ask for what the user has said, and for long results, in the order of the request."""
        self._said.start(view)

        def long(segment: Segment) -> bool:
            known = is_result(segment) and view.size(segment) >= self._least
            return known and clearable(segment, self._stub)

        self._long = ByPosition(long)
        self._long.start(view)

    def first(self, view: View) -> Segment | None:
        """Return the front-most segment that it will clear, or None."""
        return next(iter(self._long.candidates(view)), None)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        """Clear if the user's last message came in this turn."""
        last = next(iter(self._said.candidates(view)), None)
        if last is None or last.admitted_turn != view.turn:
            return
        for segment in list(self._long.candidates(view)):
            if segment.admitted_turn < view.turn:
                yield clear(segment, self._stub, "boundary")
