"""The state of a run: window, books, log and records, and the rules that guard them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sim.errors import InadmissibleAction, PinRemoved, PolicyError
from sim.ledger import Ledger
from sim.roles import Roles
from sim.salience import Decay
from sim.segments import Segment, State
from sim.store import Store
from sim.view import View
from sim.window import Window

if TYPE_CHECKING:
    from sim.meter import Meter, Sent
    from sim.policy import Policy
    from sim.prices import Price
    from sim.records import Record
    from sim.settings import Settings

__all__ = ["Breach", "World"]


class Breach(NamedTuple):
    """A rule that an action breaks, and what a policy must declare to break it."""

    error: type[PolicyError]
    declared: str
    segment: str
    tokens: int
    says: str


class World:
    """Everything a run changes, with the one place where records and errors are written.

    With *strict*, an action that breaks a rule its policy did not declare raises the rule's
    PolicyError; without, it is refused and recorded as a policy bug. *reserved* are ids that
    surrogates must not take.
    """

    def __init__(
        self,
        settings: Settings,
        policy: Policy,
        seed: int,
        reserved: frozenset[str],
        strict: bool,
    ) -> None:
        self.settings = settings
        self.policy = policy
        self.seed = seed
        self.strict = strict
        self.declares: frozenset[str] = frozenset(policy.declares)
        self.window = Window()
        self.ledger = Ledger()
        self.store = Store()
        self.roles = Roles()
        self.decay = Decay(settings.salience_decay)
        self.log: dict[str, Segment] = {}
        self.view = View(settings, self.window, self.store, self.roles, self.decay, self.log)
        self.records: list[Record] = []
        self.carriers: dict[str, list[Segment]] = {}
        """Arrived segments by the key of a fact that they carry, oldest first."""
        self.now = 0.0
        self.meter: Meter
        self.writer: Price | None = None
        """The price of another model that writes the summaries; None: the agent's own does."""
        self.calls = 0
        """Calls of the agent's own so far."""
        self.rewriting_seconds = 0.0
        """Time that the rewriting calls since the last request take, side by side."""
        self._left = 0
        self._net = 0
        self._cut = 0
        self.freed = 0
        """Tokens that the door freed or refused in this turn."""
        self.grew = "nothing"
        """The last action that grew the window."""
        self._reserved = reserved
        self._made = 0

    def tick(self, now: float) -> None:
        """Take in what time it is, in seconds since the run began."""
        self.now = self.view.now = now

    def record(self, kind: str, *values: Any) -> None:
        """Append a record of the current time and turn."""
        self.records.append((kind, self.now, self.view.turn, *values))

    def balance(self, where: str) -> None:
        """Check that the books agree with the window."""
        self.ledger.check(self.window.tokens, where)

    def request(self, prompt: int = 0, due: str = "append") -> Sent:
        """Send the window as it is; what left it since the last request is recorded as one pass.

        *prompt* is text behind it, in tokens, that is *due* to that cause and that no cache keeps.
        """
        books = self.ledger.books
        sent = self.meter.request(self.now, self.log, prompt, due)
        self.view.called(self.now)
        left, net = books.left(), books.removed()
        if left != self._left:
            cut = books.truncated
            self.record(
                "pass",
                net - self._net,
                sent.behind,
                sent.broken,
                sent.live,
                cut - self._cut,
                sent.write,
            )
            self._left, self._net, self._cut = left, net, cut
        return sent

    def new_id(self) -> str:
        """Return an id for a segment that is made here."""
        while True:
            self._made += 1
            name = f"s{self._made}"
            if name not in self._reserved:
                return name

    def free_id(self, name: str) -> str:
        """Return *name*, or the next like it that no segment has or will have."""
        while name in self._reserved or name in self.log:
            name += "'"
        return name

    def carry(self, segment: Segment) -> None:
        """Enter *segment* under every fact it carries."""
        for fact in segment.facts:
            carriers = self.carriers.setdefault(fact.key, [])
            if segment not in carriers:
                carriers.append(segment)

    def settle_version(self, segment: Segment) -> None:
        """Give a path-backed segment the newest version and what that states."""
        if segment.path is not None:
            segment.facts = self.store.fetched_facts(segment)
            segment.version = self.store.version(segment.path)
            self.carry(segment)

    def gone(self, segment: Segment, state: State) -> None:
        """Mark *segment*, and what it alone stood for, as having left."""
        todo = [segment]
        while todo:
            leaving = todo.pop()
            leaving.state = state
            leaving.own_pin = False
            for source in leaving.sources:
                if leaving in source.surrogates:
                    source.surrogates.remove(leaving)
                if source.state is State.REWRITTEN and not source.surrogates:
                    todo.append(source)

    # -- rules -----------------------------------------------------------------------------

    def bug(self, error: type[PolicyError], segment: str, tokens: int, says: str) -> bool:
        """Refuse an inadmissible action: raise if strict, else record it. Returns False."""
        if self.strict:
            raise error(f"{self.policy.label}, turn {self.view.turn}: {says}")
        self.record("bug", error.rule, segment, tokens, says)
        return False

    def allows(self, breaches: Sequence[Breach]) -> bool:
        """Whether the policy has declared that it breaks these rules; each is counted then."""
        for breach in breaches:
            if breach.declared not in self.declares:
                return self.bug(breach.error, breach.segment, breach.tokens, breach.says)
        for breach in breaches:
            self.record("breach", breach.error.rule, breach.segment)
        return True

    def pins(self, group: Iterable[Segment], what: str) -> Iterator[Breach]:
        """Yield a breach for each pin that is broken if *group* leaves."""
        for segment in group:
            if segment.pinned:
                says = f"{what} {segment.id}, which is pinned"
            elif segment.own_pin and "ignores_pins" not in self.declares:
                says = f"{what} {segment.id}, which it pins itself"
            else:
                continue
            yield Breach(PinRemoved, "ignores_pins", segment.id, segment.tokens, says)

    def resident(self, name: str, what: str) -> Segment | None:
        """Return the resident segment *name*, or refuse *what* was asked of it."""
        segment = self.log.get(name)
        if segment is None or not segment.resident:
            self.bug(InadmissibleAction, name, 0, f"{what} of {name!r}, which is not resident")
            return None
        return segment
