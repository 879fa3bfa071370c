"""Compacting: when it is due, what a harness chooses of its history becomes a summary."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from policies.parts.history import History, in_history
from sim.summariser import Summariser

if TYPE_CHECKING:
    from policies.parts.asking import Asking
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Compacting", "OnOverflow"]

Compacted = Generator["Action", None, bool]


class Compacting:
    """Has *asking* write a summary before a call, when it is due.

    A harness says when that is and what becomes the summary; where it has an answer to a summary
    that failed, or something to do after one, it says that, too.
    """

    def __init__(self, asking: Asking, member: Callable[[Segment], bool] = in_history) -> None:
        self.asking = asking
        self.history = History(member)

    def start(self, view: View) -> None:
        """Ask for the history, in the order of the request."""
        self.history.start(view)

    def due(self, view: View) -> bool:
        """Whether it is time, as the harness sees it."""
        raise NotImplementedError

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        """Return what of *history* becomes the summary: all of it."""
        return history

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        """Return how a model is asked, and how again where nothing comes of that."""
        return (Summariser(window=view.context_window),)

    def more(self, view: View, sources: Sequence[Segment]) -> int:
        """Return the tokens that the harness itself puts on top of the summary."""
        return 0

    def afterwards(self, view: View, sources: Sequence[Segment]) -> Iterator[Action]:
        """Do what the harness does once *sources* have become a summary."""
        yield from ()

    def otherwise(self, view: View) -> Iterator[Action]:
        """Do what the harness does where no summary came."""
        yield from ()

    def compact(self, view: View) -> Compacted:
        """Make the summary; return whether one came."""
        sources = self.chosen(view, list(self.history))
        summarisers = self.summarisers(view, sources)
        more = self.more(view, sources)
        came = yield from self.asking.ask(view, sources, *summarisers, more=more)
        yield from self.afterwards(view, sources) if came else self.otherwise(view)
        return came

    def before_call(self, view: View) -> Iterator[Action]:
        """Compact if it is due."""
        if self.due(view):
            yield from self.compact(view)


class OnOverflow(Compacting):
    """Compacts, besides, when the provider has refused the request."""

    def on_overflow(self, view: View) -> Iterator[Action]:
        """Compact."""
        yield from self.compact(view)
