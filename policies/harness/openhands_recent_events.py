"""openhands-recent-events: the first event and the newest ones; the middle goes silently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Dropping
from policies.options import Options, whole
from policies.parts.capping import CAP, capping
from policies.parts.history import History, is_event
from sim.actions import Evict

if TYPE_CHECKING:
    from sim.view import View

__all__ = ["OpenhandsRecentEvents"]


class OpenhandsRecentEvents(Dropping):
    """Drops what stands between the first events and the newest at every step past the limit.

    An event is a segment other than the tool list; the system prompt is the first. 100 is the
    default of the configuration, 10 that of the class. Source: OpenHands V0, memory/condenser/impl
    and core/config/condenser_config.py at 156d0686 (read in source).
    """

    name = "openhands-recent-events"
    summary = "keeps the first event and the newest 99, and drops what is between, every step"
    source = "OpenHands V0, RecentEventsCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (
        CAP,
        whole("keep_first", "first events that stay, the system prompt among them", "events", 1, 0),
        whole("max_events", "events that stay, the first among them", "events", 100, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser."""
        yield from capping(options, CAPS["openhands"])
        yield _Condenser(options["keep_first"], options["max_events"])


class _Condenser:
    def __init__(self, keep_first: int, most: int) -> None:
        self._first = keep_first
        self._most = most
        self._events = History(is_event)

    def start(self, view: View) -> None:
        self._events.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        for event in islice(self._events, self._first, None):
            if len(self._events) <= self._most:
                return
            yield Evict(event.id, "not recent")
