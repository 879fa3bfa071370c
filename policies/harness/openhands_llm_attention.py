"""openhands-llm-attention: past so many events, only the first and the most relevant stay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.options import Options, whole
from policies.parts.capping import CAP, capping
from policies.parts.history import History, is_event
from policies.policy import Composed
from sim.actions import Evict
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OpenhandsLlmAttention"]


class OpenhandsLlmAttention(Composed):
    """Keeps the first events and those that a model ranks highest, half of ``max_size`` in all.

    The rest goes without a summary. The ranking is by salience, of equals the newest first; the
    request for it is not priced. A call and its result stay or go together and rank as the better
    of the two. Source: LLMAttentionCondenser of OpenHands V0, openhands/memory/condenser/impl at
    156d0686 (read in source).
    """

    name = "openhands-llm-attention"
    summary = "past so many events, keeps the first and the most relevant, and drops the rest"
    source = "OpenHands V0, LLMAttentionCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (
        CAP,
        whole("max_size", "events above which it condenses", "events", 100, 2),
        whole("keep_first", "first events that stay, the system prompt among them", "events", 1, 0),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser."""
        yield from capping(options, CAPS["openhands"])
        yield _Condenser(options["max_size"], options["keep_first"])

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that it knows no pins."""
        return ("ignores_pins",)


class _Condenser:
    def __init__(self, most: int, first: int) -> None:
        self._most = most
        self._first = first
        self._events = History(is_event)

    def start(self, view: View) -> None:
        self._events.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        if len(self._events) <= self._most:
            return
        events = list(self._events)
        staying = set(events[: self._first])
        staying |= self._ranked(view, events[self._first :], self._most // 2 - self._first)
        for segment in events:
            apart = segment.kind is not Kind.SYSTEM
            if apart and segment.resident and not staying.intersection(view.together(segment)):
                yield Evict(segment.id, "ranked low")

    def _ranked(self, view: View, events: list[Segment], places: int) -> set[Segment]:
        """Return the highest-ranked of *events*, as many as there are *places*."""

        def rank(segment: Segment) -> tuple[float, int]:
            best = max(view.salience(member) for member in view.together(segment))
            return -best, -segment.seq

        chosen: set[Segment] = set()
        for segment in sorted(events, key=rank):
            unit = [member for member in view.together(segment) if member not in chosen]
            if len(chosen) + len(unit) <= places:
                chosen.update(unit)
        return chosen
