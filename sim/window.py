"""The window: the ordered, resident segments that the next request holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from sim.orders import Order
from sim.segments import SAID_KINDS, Kind, Segment

__all__ = ["Window"]


class Window:
    """Resident segments in the order of the request, with running totals and kept-up orders.

    Totals are whole tokens. A segment is *held* if it, or the call or result it belongs to, is
    pinned by the scenario or by the policy: a call and its result leave together.
    """

    __slots__ = (
        "_next_slot",
        "_orders",
        "_pairs",
        "_paths",
        "_slots",
        "broken_by",
        "first_changed",
        "held_tokens",
        "of_kind",
        "segments",
        "tokens",
        "unsent",
    )

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.tokens = 0
        self.held_tokens = 0
        self.of_kind: dict[Kind, int] = {}
        """Tokens of each kind that is or was there."""
        self.unsent: dict[Segment, None] = {}
        """What others than the model have brought since the last request, in order of arrival."""
        self.first_changed = 0
        """Index of the first segment that differs from the last request sent."""
        self.broken_by = ""
        """What first changed the segment there, a cause; empty if all that was sent is the same."""
        self._slots: list[int] = []
        self._next_slot = 0
        self._orders: list[Order] = []
        self._pairs: dict[str, list[Segment]] = {}
        self._paths: dict[str, list[Segment]] = {}

    def __len__(self) -> int:
        return len(self.segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    def attach(self, order: Order) -> None:
        """Keep *order* up to date from now on."""
        self._orders.append(order)
        for segment in self.segments:
            order.update(segment, True)

    def index(self, segment: Segment) -> int:
        """Return the position of a resident segment, from 0."""
        return bisect_left(self._slots, segment.slot)

    def mates(self, segment: Segment) -> list[Segment]:
        """Return the other resident segments of its call/result pair."""
        if segment.pair is None:
            return []
        return [s for s in self._pairs.get(segment.pair, ()) if s is not segment]

    def copies(self, path: str) -> list[Segment]:
        """Return the resident full copies of *path*, in order of arrival there."""
        return self._paths.get(path, [])

    def append(self, segment: Segment) -> None:
        """Put *segment* at the end."""
        segment.slot = self._next_slot
        self._next_slot += 1
        segment.sent_at = -1
        self.segments.append(segment)
        self._slots.append(segment.slot)
        if segment.kind not in SAID_KINDS:
            self.unsent[segment] = None
        self._enter(segment)

    def sent(self) -> None:
        """Note that a request has been sent of the window as it is."""
        self.first_changed = len(self.segments)
        self.unsent.clear()
        self.broken_by = ""

    def breaks(self, index: int, cause: str) -> None:
        """Note that *cause* changes what was sent from *index* on."""
        if index < self.first_changed:
            self.first_changed = index
            self.broken_by = cause

    def replace(self, old: Segment, new: Segment, cause: str) -> None:
        """Put *new* where *old* stands, for this *cause*; *old* leaves."""
        at = self.index(old)
        new.slot = old.slot
        self._leave(old)
        self.segments[at] = new
        self.breaks(at, cause)
        self._enter(new)

    def remove(self, segment: Segment, cause: str) -> int:
        """Take *segment* out for this *cause* and return the position it had."""
        at = self.index(segment)
        del self.segments[at]
        del self._slots[at]
        self.breaks(at, cause)
        self._leave(segment)
        return at

    def resize(self, segment: Segment, tokens: int, cause: str) -> None:
        """Give a resident segment new content of *tokens*, in place, for this *cause*."""
        self.breaks(self.index(segment), cause)
        self.tokens += tokens - segment.tokens
        self.of_kind[segment.kind] += tokens - segment.tokens
        if segment.held:
            self.held_tokens += tokens - segment.tokens
        segment.tokens = tokens
        segment.sent_at = -1
        self.touch(segment)

    def touch(self, segment: Segment) -> None:
        """Bring the orders up to date after a field of a resident segment has changed."""
        for order in self._orders:
            order.update(segment, True)

    def hold(self, segment: Segment) -> None:
        """Recompute whether *segment* and its pair are held, after a pin has changed."""
        group = [segment, *self.mates(segment)]
        held = any(s.pinned or s.own_pin for s in group)
        for s in group:
            if s.held != held:
                s.held = held
                self.held_tokens += s.tokens if held else -s.tokens
                self.touch(s)

    def _enter(self, segment: Segment) -> None:
        self.tokens += segment.tokens
        self.of_kind[segment.kind] = self.of_kind.get(segment.kind, 0) + segment.tokens
        if segment.pair is not None:
            self._pairs.setdefault(segment.pair, []).append(segment)
        if segment.path is not None and not segment.sources:
            self._paths.setdefault(segment.path, []).append(segment)
        segment.held = False
        self.hold(segment)
        self.touch(segment)

    def _leave(self, segment: Segment) -> None:
        self.tokens -= segment.tokens
        self.of_kind[segment.kind] -= segment.tokens
        self.unsent.pop(segment, None)
        if segment.held:
            self.held_tokens -= segment.tokens
            segment.held = False
        mates = self.mates(segment)
        for key, index in ((segment.pair, self._pairs), (segment.path, self._paths)):
            if key is not None and segment in index.get(key, ()):
                index[key].remove(segment)
                if not index[key]:
                    del index[key]
        for order in self._orders:
            order.update(segment, False)
        if mates:
            self.hold(mates[0])
