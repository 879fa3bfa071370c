"""openhands-conversation-window: where the provider refuses, half of the history is forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Dropping
from policies.options import Options
from policies.parts.capping import CAP, capping
from policies.parts.history import History, is_event, typed
from sim.actions import Evict
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OpenhandsConversationWindow"]


class OpenhandsConversationWindow(Dropping):
    """Forgets the older half of the events when the provider refuses the request, and no sooner.

    The system prompt and the first message of the user stay; the recall that answers it is not told
    apart in the model. A result leaves with its call, so that none is left dangling. It does so
    again while the request is still refused and something can go; without a message of the user
    nothing does. Source: OpenHands V0, memory/condenser/impl at 156d0686 (read in source).
    """

    name = "openhands-conversation-window"
    summary = "where the provider refuses the request, drops the older half of the events"
    source = "OpenHands V0, ConversationWindowCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (CAP,)

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser."""
        yield from capping(options, CAPS["openhands"])
        yield _Condenser()


class _Condenser:
    def __init__(self) -> None:
        self._events = History(is_event)

    def start(self, view: View) -> None:
        self._events.start(view)

    def on_overflow(self, view: View) -> Iterator[Evict]:
        while view.over > 0:
            forgotten = self._forgotten()
            if not forgotten:
                return
            for event in forgotten:
                if event.resident:
                    yield Evict(event.id, "forgotten")

    def _forgotten(self) -> list[Segment]:
        events = list(self._events)
        first = next((event for event in events if typed(event)), None)
        if first is None:
            return []
        rest = [e for e in events if e is not first and e.kind is not Kind.SYSTEM]
        return rest[: len(rest) - max(1, len(rest) // 2)]
