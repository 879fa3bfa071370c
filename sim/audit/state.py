"""What the second reckoning knows after each record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sim.audit.books import Books
from sim.audit.history import Histories
from sim.audit.pairs import Pairs
from sim.audit.passes import PassLog
from sim.audit.window import Window
from sim.errors import AuditError

__all__ = ["Costs", "Item", "Particulars", "State", "TurnState"]


@dataclass(slots=True, eq=False)
class Item:
    """A segment of the log, or one that the policy had made, as the records describe it."""

    id: str
    kind: str | None
    """None for a surrogate or invented text."""
    copy: bool
    """For a surrogate: whether every source has a copy."""
    raw_tokens: int = 0
    pinned: bool = False
    path: str | None = None
    facts: frozenset[str] = frozenset()
    """Keys it states; for a surrogate, those it kept."""
    made_up: frozenset[str] = frozenset()
    """Keys for which it states what a model invented."""
    sources: tuple[str, ...] = ()
    """What a surrogate or invented text stands for, one step back."""
    tagged: bool = False
    invented: bool = False
    admitted: bool = False
    booked: bool = False
    """Whether what never entered of it is in the books."""
    version: int = 0
    stub: bool = False
    """Whether no model was asked for this surrogate."""
    tokens: int = 0
    """What it held when it last left the window."""
    stand_ins: int = 0
    """How many resident surrogates and invented texts stand for it."""


@dataclass(frozen=True, slots=True)
class Particulars:
    """What is particular about a surrogate that has not come yet."""

    said: bool = False
    """Whether a record said so, and so all that it makes up."""

    input: int | None = None
    made_up: frozenset[str] = frozenset()
    unseen: frozenset[str] = frozenset()
    saved: bool = False
    last: bool = False


@dataclass(slots=True)
class TurnState:
    """What one turn has seen so far."""

    calls: int = 0
    queued: bool = False
    """Whether a request has waited that was not sent yet."""
    extra: bool = False
    demanded: bool = False
    freed: int = 0
    """Tokens that the door freed in this turn."""
    refused: int = 0
    spent: str | None = None
    """A read, result or fetch without a copy that was admitted."""
    left: set[str] = field(default_factory=set)
    entered: set[str] = field(default_factory=set)
    """Segments of the log that were admitted or fetched."""
    granted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Granted and not yet fetched, with what is to leave for it."""
    at_call: dict[str, bool] = field(default_factory=dict)
    """Whether a segment was resident at the first call, for those that moved after it."""
    stand_in_left: bool = False
    """Whether a surrogate or invented text left after the first call."""
    unexplained: Counter[str] = field(default_factory=Counter)
    """Cuts of the backstop less the policy bugs that name them."""
    pages: int = 0
    """Pages asked for since the last call."""
    cut_pairs: set[str] = field(default_factory=set)
    """Pairs of which the backstop cut a member."""


@dataclass(slots=True)
class Costs:
    """Sums over the calls, and over the requests for surrogates."""

    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    plain_tokens: int = 0
    output_tokens: int = 0
    prefill_usd: float = 0.0
    output_usd: float = 0.0
    maintenance_usd: float = 0.0
    by_cause: dict[str, float] = field(default_factory=dict)
    prefill_seconds: float = 0.0
    queue_seconds: float = 0.0


@dataclass(slots=True)
class State:
    """Everything that the records up to now amount to."""

    index: int = 0
    time: float = 0.0
    turn: int = 0
    now: TurnState = field(default_factory=TurnState)
    scenario: str = ""
    policy: str = ""
    budget: int = 0
    declares: frozenset[str] = frozenset()
    begun: bool = False
    ended: bool = False
    completed_attempt: bool = False
    status: str | None = None
    reason: str | None = None
    seconds: float = 0.0
    window: Window = field(default_factory=Window)
    books: Books = field(default_factory=Books)
    histories: Histories = field(default_factory=Histories)
    pairs: Pairs = field(default_factory=Pairs)
    costs: Costs = field(default_factory=Costs)
    items: dict[str, Item] = field(default_factory=dict)
    at_door: set[str] = field(default_factory=set)
    """Arrived, and neither admitted nor refused yet."""
    pages: set[str] = field(default_factory=set)
    """Further pages of results: what never entered of them is in the books with the result."""
    versions: dict[str, int] = field(default_factory=dict)
    """The newest version of each path that has another than its first."""
    attempt: int = 0
    """The last attempt that was begun."""
    met: set[tuple[str, str]] = field(default_factory=set)
    """Queries, acts and requests of the operator."""
    promised: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Input and output of the requests for surrogates that have not come yet."""
    summaries: dict[str, Particulars] = field(default_factory=dict)
    """What was said of the surrogates that have not come yet."""
    left: int = 0
    put: int = 0
    truncated: int = 0
    """What had left, what had been put in its place and what had been cut, at the last pass."""
    passes: PassLog = field(default_factory=PassLog)
    edit_turn: int = 0
    """The last turn in which the policy evicted or rewrote."""
    counts: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    peak_tokens: int | None = None
    peak_demand_tokens: int | None = None
    first_confabulation_turn: int | None = None

    def item(self, segment: str) -> Item:
        """Return what is known of *segment*, which must have come before."""
        item = self.items.get(segment)
        if item is None:
            raise AuditError(f"{segment!r} never arrived and was never made")
        return item

    def arrived(self, segment: str) -> Item:
        """Return what is known of *segment*, which must be one of the log."""
        item = self.item(segment)
        if item.kind is None:
            raise AuditError(f"{segment!r} was made by a policy and is not in the log")
        return item

    def current(self, item: Item) -> bool:
        """Return whether *item* holds the newest version of its path."""
        return item.path is None or item.version >= self.versions.get(item.path, 0)

    def note(self, segment: str, what: str, *details: object) -> None:
        """Add an entry to the history of *segment*."""
        self.histories.note(segment, self.index, (segment, what, self.turn, *details))

    def resident_at_call(self, segment: str) -> bool:
        """Return whether *segment* was resident at this turn's first call."""
        return self.now.at_call.get(segment, segment in self.window)

    def edit(self) -> None:
        """Note that the policy evicted or rewrote in this turn."""
        if self.edit_turn != self.turn:
            self.edit_turn = self.turn
            self.counts["edit_turns"] += 1
