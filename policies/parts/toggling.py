"""Toggling: old results are hidden while the window is full, and shown again once it is not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from policies.parts.clearing import clearable, is_result
from policies.parts.ranking import ByPosition
from sim.actions import Reveal, Rewrite

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Toggled"]


class Toggled:
    """Hides every result but the *keep* newest from *start* times W on, and until below *stop*.

    W is the context window. What it hides becomes a tagged stub of *stub* tokens that keeps
    nothing; below *stop* all of it is shown again, but what was fetched meanwhile. It looks once a
    pass, at the window as that pass found it.
    """

    def __init__(self, start: float, stop: float, keep: int, stub: int) -> None:
        self._start = start
        self._stop = stop
        self._keep = keep
        self._stub = stub
        self._hides = False
        self._newest = ByPosition(is_result, last_first=True)
        self._shown = ByPosition(lambda s: is_result(s) and clearable(s, stub))
        self._hidden = ByPosition(_hides_one)

    def start(self, view: View) -> None:
        """Ask for the results and for what hides some, in the order of the request."""
        for ranking in (self._newest, self._shown, self._hidden):
            ranking.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite | Reveal]:
        """Hide what is old, or show it again, as the window stands."""
        share = view.tokens / view.context_window
        self._hides = share >= (self._stop if self._hides else self._start)
        if self._hides:
            yield from self._hide(view)
        else:
            for stub in list(self._hidden.candidates(view)):
                if not stub.sources[0].resident:
                    yield Reveal(stub.id)

    def on_overflow(self, view: View) -> Iterator[Rewrite]:
        """Hide what is old in a request that the provider has refused."""
        self._hides = True
        yield from self._hide(view)

    def _hide(self, view: View) -> Iterator[Rewrite]:
        for segment in list(self._old(view)):
            yield Rewrite((segment.id,), self._stub, True, "threshold", stub=True, preview=(0, 0))

    def _old(self, view: View) -> Iterator[Segment]:
        newest = set(islice(self._newest.candidates(view), self._keep))
        for segment in self._shown.candidates(view):
            if segment in newest:
                return
            yield segment


def _hides_one(segment: Segment) -> bool:
    return segment.stub and len(segment.sources) == 1
