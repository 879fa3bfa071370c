"""aider: after a turn, the older part of a done history that is too long becomes a summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from policies.harness.summarising import Summarising
from policies.options import Options, switch, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.history import History, in_history, messages, newest, said, typed
from policies.parts.staleness import RefreshInPlace
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Aider"]


class Aider(Summarising):
    """Summarises the done history in the background, and shows files as they are at each request.

    Done is what stands in front of the user's newest message; files are no part of it, nor is the
    turn under way, which is never trimmed. The harness looks when a turn is done; here that shows
    with the user's next message, so it acts after the first step of the turn that follows. The
    newest messages stay that are shorter than half of the limit together; what goes ends with words
    of the model. Up to 4 messages, or where 3 rounds more were not enough, all are summarised.
    ``summariser.price`` of the scenario makes it ask a weaker model, as it does. The map of the
    repository is no part of the window. Source: aider 0.86.2, aider/history.py and models.py (read
    in source).
    """

    name = "aider"
    summary = "after a turn, summarises the older part of the conversation; files are always fresh"
    source = "aider, history.py"
    version = "aider 0.86.2, read in source"
    options = (
        whole("part", "the limit is W over this", "parts of W", 16, 1),
        whole("least", "least limit of the done history", "tokens", 1_024, 1),
        whole("most", "most that the limit is", "tokens", 8_192, 1),
        switch("fresh", "show files as they are now, where they stand"),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the summaries and the fresh files."""
        limits = options["part"], options["least"], options["most"]
        yield _Done(Asking.of(options), *limits)
        if options.on("fresh"):
            yield RefreshInPlace()


class _Done:
    _FEW = 4
    _DEEP = 3

    def __init__(self, asking: Asking, part: int, least: int, most: int) -> None:
        self._asking = asking
        self._part, self._least, self._most = part, least, most
        self._talk = History(lambda s: in_history(s) and s.kind not in (Kind.FILE, Kind.IMAGE))
        self._typed = History(typed)
        self._seen: Segment | None = None

    def start(self, view: View) -> None:
        self._talk.start(view)
        self._typed.start(view)

    def after_turn(self, view: View) -> Iterator[Action]:
        last = next(reversed(self._typed), None)
        if last is None or last is self._seen:
            return
        self._seen = last
        limit = max(self._least, min(self._most, view.context_window // self._part))
        for depth in range(self._DEEP + 2):
            done = list(takewhile(lambda s: s is not last, self._talk))
            if sum(map(view.size, done)) <= limit:
                return
            sources = done[: self._split(view, done, limit, depth)]
            came = yield from self._asking.ask(
                view, sources, Summariser(window=view.context_window)
            )
            if not came or depth > self._DEEP:
                return

    def _split(self, view: View, done: Sequence[Segment], limit: int, depth: int) -> int:
        """Return how many of the segments that are *done* go."""
        found = messages(done)
        if len(found) <= self._FEW or depth > self._DEEP:
            return len(done)
        sizes = [sum(map(view.size, message)) for message in found]
        split = newest(sizes, limit // 2 - 1)
        while split > 1 and not said(found[split - 1][0]):
            split -= 1
        return len(done) if split <= self._FEW else sum(map(len, found[:split]))
