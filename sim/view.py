"""What a policy may look at: a read-only view of the window and of the loop around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sim.orders import Order, SalienceOrder
from sim.segments import Segment
from sim.settings import Settings

if TYPE_CHECKING:
    from sim.forecast import Forecast
    from sim.roles import Roles
    from sim.salience import Decay
    from sim.script import Compaction, Script
    from sim.store import Store
    from sim.window import Window

__all__ = ["View"]


class View:
    """A read-only, always current view; policies return actions and never change what they see.

    Sizes are whole tokens. Ordered access comes from :meth:`order` and :meth:`salience_order`,
    asked for once in a policy's ``start``.
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

    @property
    def budget(self) -> int:
        """The hard limit on a request."""
        return self.settings.budget

    @property
    def tokens(self) -> int:
        """What is resident."""
        return self._window.tokens

    @property
    def over(self) -> int:
        """Tokens above the budget; 0 or less if the window fits."""
        return self._window.tokens - self.settings.budget

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
