"""What a policy may look at: a read-only view of the window and of the loop around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sim.orders import Order, SalienceOrder
from sim.segments import Kind, Segment
from sim.settings import Settings

if TYPE_CHECKING:
    from sim.forecast import Forecast
    from sim.roles import Roles
    from sim.salience import Decay
    from sim.script import Compaction, Script
    from sim.store import Store
    from sim.window import Window

__all__ = ["View"]

_EPSILON = 1e-9
"""What a product may be below a whole number and still is that number."""


class View:
    """A read-only, always current view; policies return actions and never change what they see.

    Sizes are whole tokens. Ordered access comes from :meth:`order` and :meth:`salience_order`,
    asked for once in a policy's ``start``.

    What a policy is shown of sizes is what its harness would know of them, by ``count.by`` of the
    scenario: :attr:`tokens`, :attr:`over` and :meth:`size` are exact; or of the window what the
    provider last reported, to which only what the model wrote since and what the policy did since
    is added (``usage``); or an estimate, by what a token of each kind is taken for (``estimate``).
    """

    def __init__(
        self,
        settings: Settings,
        window: Window,
        store: Store,
        roles: Roles,
        decay: Decay,
        log: Mapping[str, Segment],
    ) -> None:
        self.settings = settings
        self.log = log
        """Everything that ever arrived or was made, by id."""
        self.roles = roles
        self.turn = 0
        self.future: Script | None = None
        """The script of the run, for a policy that needs to know what comes."""
        self.compaction: Compaction | None = None
        """The compaction that the recording's own harness made before this call, if it did."""
        self.turns = settings.turns
        self.spent = False
        """Whether this turn has admitted a read, result, page or fetch without external copy."""
        self.cache: Forecast
        """What the prefix cache holds, and what a cut would cost."""
        self.wants: Callable[[Segment], bool]
        """Whether this turn asks for a segment, so that it may be recalled; once it is answered."""
        self.quiescent = True
        """Whether this turn has admitted no read, result, page or fetch at all so far."""
        self._window = window
        self._store = store
        self._decay = decay
        self._exact = settings.count_by == "exact"
        self._called: float | None = None
        self.refused = False
        """Whether the provider has refused the request as it is, and so said how long it is."""
        self.now = 0.0
        """Seconds since the run began."""

    def called(self, now: float) -> None:
        """Note that a request is sent *now*."""
        self._called = now

    @property
    def seconds_since_call(self) -> float | None:
        """Seconds since the last request was sent, None if there was none."""
        return None if self._called is None else self.now - self._called

    @property
    def context_window(self) -> int:
        """W, what the model takes in all: the budget and what it leaves for the answer."""
        return self.settings.budget + self.settings.output_reserve

    @property
    def budget(self) -> int:
        """The hard limit on a request."""
        return self.settings.budget

    @property
    def tokens(self) -> int:
        """What is resident, as the harness counts it."""
        window = self._window
        if self._exact or self.refused:
            return window.tokens
        if self.settings.count_by == "usage":
            if self._called is None:
                return 0
            return window.tokens - sum(segment.tokens for segment in window.unsent)
        ratios = self.settings.estimate
        return math.floor(sum(n * ratios[kind] for kind, n in window.of_kind.items()) + _EPSILON)

    @property
    def over(self) -> int:
        """Tokens above the budget, as the harness counts them; 0 or less if the window fits."""
        return self.tokens - self.settings.budget

    def size(self, segment: Segment, tokens: int | None = None) -> int:
        """Return what *tokens* of a segment, by default all, count for the harness; at least 1."""
        exact = segment.tokens if tokens is None else tokens
        if self.settings.count_by != "estimate":
            return exact
        return max(1, math.floor(exact * self.settings.estimate[segment.kind] + _EPSILON))

    def characters(self, segment: Segment) -> int:
        """Return how many characters a segment has, by what a token of its kind has."""
        return math.floor(segment.tokens * self.settings.characters[segment.kind] + _EPSILON)

    def lines(self, segment: Segment) -> int:
        """Return how many lines a segment has: its characters by those of a line, rounded up."""
        return math.ceil(self.characters(segment) / self.settings.line_characters - _EPSILON)

    def tokens_of(self, characters: float, kind: Kind) -> int:
        """Return how many tokens so many *characters* of a *kind* are, rounded down."""
        return math.floor(characters / self.settings.characters[kind] + _EPSILON)

    @property
    def last_turn(self) -> bool:
        """Whether no turn follows this one."""
        return self.turn >= self.turns

    @property
    def window(self) -> Sequence[Segment]:
        """The resident segments in the order of the request."""
        return self._window.segments

    def order(self, key: Callable[[Segment], object], member: Callable[[Segment], bool]) -> Order:
        """Return the resident segments *member* accepts by *key*, kept up to date from now on."""
        order = Order(key, member)
        self._window.attach(order)
        return order

    def position_order(self, member: Callable[[Segment], bool]) -> Order:
        """Return the resident segments *member* accepts, first position first."""
        return self.order(lambda segment: segment.slot, member)

    def salience_order(self, member: Callable[[Segment], bool]) -> SalienceOrder:
        """Return the resident segments *member* accepts, least salient first."""
        order = SalienceOrder(self._decay, lambda: self.turn, member)
        self._window.attach(order)
        return order

    def salience(self, segment: Segment) -> float:
        """Return s of a segment now, resident or not; a surrogate's is its best source's."""
        return self._decay.at(segment, self.turn)

    def position(self, segment: Segment) -> int:
        """Return how many segments stand in front of a resident one."""
        return self._window.index(segment)

    def together(self, segment: Segment) -> list[Segment]:
        """Return *segment* and what leaves with it: its call or its result."""
        return [segment, *self._window.mates(segment)]

    def current(self, segment: Segment) -> bool:
        """Whether the copy is of the newest version of its path."""
        return self._store.current(segment)

    def stale(self, path: str) -> Iterator[Segment]:
        """Yield the resident copies of *path* that a write has left behind."""
        return (s for s in tuple(self._window.copies(path)) if not self._store.current(s))

    def fetched_tokens(self, segment: Segment) -> int:
        """Return the size at which an absent segment would come back."""
        return self._store.fetched_tokens(segment)
