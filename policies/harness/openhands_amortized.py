"""openhands-amortized: past the limit, the middle goes down to half of the limit."""

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
from sim.errors import InputError

if TYPE_CHECKING:
    from sim.view import View

__all__ = ["OpenhandsAmortized"]


class OpenhandsAmortized(Dropping):
    """Forgets the middle once there are more events than the limit, so that half of it is left.

    So the prefix breaks once in as many events as half the limit has. An event is a segment other
    than the tool list; the system prompt is the first. Source: OpenHands V0, memory/condenser/impl
    at 156d0686 (read in source).
    """

    name = "openhands-amortized"
    summary = "past 100 events, drops the middle so that the first and the newest 49 are left"
    source = "OpenHands V0, AmortizedForgettingCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (
        CAP,
        whole("max_size", "events above which it forgets", "events", 100, 2),
        whole("keep_first", "first events that stay, the system prompt among them", "events", 1, 0),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser; raises InputError where no newest event would stay."""
        yield from capping(options, CAPS["openhands"])
        first, half = options["keep_first"], options["max_size"] // 2
        if first >= half:
            raise InputError(
                f"policy {self.name}: keep_first is {first} and must be less than half of "
                f"max_size, {half}"
            )
        yield _Condenser(options["max_size"], first)


class _Condenser:
    def __init__(self, most: int, keep_first: int) -> None:
        self._most = most
        self._first = keep_first
        self._events = History(is_event)

    def start(self, view: View) -> None:
        self._events.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        count = len(self._events)
        if count <= self._most:
            return
        middle = islice(self._events, self._first, count - self._most // 2 + self._first)
        for event in list(middle):
            if event.resident:
                yield Evict(event.id, "forgotten")
