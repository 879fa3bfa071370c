"""The door and the way back: how segments enter the window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sim.actions import Admit, Evict, Refuse
from sim.errors import InadmissibleAction
from sim.reduction import (
    FORMS,
    SAVED,
    least_tokens,
    lost,
    page_size,
    raw_tokens,
    reduced_tokens,
)
from sim.segments import SPENDING_KINDS, Segment, State

if TYPE_CHECKING:
    from sim.harness import Harness
    from sim.script import Arrival
    from sim.world import World

__all__ = ["Door"]


class Door:
    """Takes arrivals into the log, asks the policy about them, and brings copies back."""

    def __init__(self, world: World, harness: Harness) -> None:
        self.world = world
        self._harness = harness
        self._pins = getattr(world.policy, "pins", None)
        self._at_door = getattr(world.policy, "on_arrival", None)

    def arrive(self, arrival: Arrival) -> Segment:
        """Make the segment of *arrival* and enter it into the log."""
        world = self.world
        tokens = raw_tokens(arrival, world.settings.image_tokens)
        path = arrival.path
        version = 0 if path is None else world.store.version(path)
        segment = Segment(
            id=arrival.id,
            kind=arrival.kind,
            tokens=tokens,
            raw_tokens=tokens,
            source_tokens=tokens,
            turn=world.view.turn,
            seq=len(world.log),
            version=version,
            source_version=version,
            score=arrival.score,
            scored_at=world.view.turn,
            copy=arrival.copy,
            pinned=arrival.pinned,
            standing=arrival.standing,
            taggable=arrival.taggable,
            path=path,
            tool=arrival.tool,
            attempt=arrival.attempt,
            pair=arrival.pair,
            rank=arrival.rank,
            names=arrival.names,
            facts=arrival.facts,
            surrogate_tokens=arrival.surrogate_tokens,
            max_result_tokens=arrival.max_result_tokens,
            least_tokens=least_tokens(arrival),
            blind=arrival.structure is None and arrival.reduced_tokens is None,
            delta_tokens=arrival.delta_tokens,
            paged=arrival.pages,
        )
        segment.reduced_tokens = reduced_tokens(segment, tokens)
        self.enter(segment)
        return segment

    def enter(self, segment: Segment) -> None:
        """Enter what has come into the log, and settle the roles it changes."""
        world = self.world
        world.log[segment.id] = segment
        world.carry(segment)
        world.record(
            "arrive",
            segment.id,
            str(segment.kind),
            segment.raw_tokens,
            segment.score,
            segment.copy,
            segment.pinned,
            segment.path,
            segment.pair,
            tuple(fact.key for fact in segment.facts),
        )
        self.roles_changed(*world.roles.arrive(segment))

    def roles_changed(self, segments: Iterable[Segment], paths: Iterable[str]) -> None:
        """Ask the policy anew what it pins, of *segments* and of the copies of *paths*."""
        world = self.world
        for segment in segments:
            self._reconsider(segment)
        for path in paths:
            for segment in list(world.window.copies(path)):
                self._reconsider(segment)

    def _reconsider(self, segment: Segment) -> None:
        world = self.world
        if segment.resident:
            segment.own_pin = self._own_pin(segment)
            world.window.hold(segment)
            world.window.touch(segment)

    def _own_pin(self, segment: Segment) -> bool:
        world = self.world
        if self._pins is None or segment.sources:
            return False
        return bool(self._pins(world.view, segment))

    def decide(self, segment: Segment, by: str = "door") -> bool:
        """Let the policy decide about *segment* at the door; return whether it is in."""
        world = self.world
        before = world.window.tokens
        self._renew(segment)
        answer = None
        if self._at_door is not None:
            actions = self._at_door(world.view, segment)
            answer = self._harness.heed(actions, by, (Admit, Refuse))
        decision: Admit | Refuse = answer or Admit(segment.tokens)
        if isinstance(decision, Refuse) and not world.allows(
            list(world.pins([segment], "it would refuse"))
        ):
            decision = Admit(segment.tokens)
        if isinstance(decision, Refuse):
            self._refuse(segment, decision)
        else:
            self.admit(segment, decision, by)
        world.freed += before - world.window.tokens + segment.tokens
        return segment.resident

    def let_in(self, segment: Segment, by: str) -> None:
        """Admit what was kept out before, whatever the policy would say."""
        self._renew(segment)
        self.admit(segment, Admit(segment.tokens), by)

    def _renew(self, segment: Segment) -> None:
        """Give what was kept out before the size that its source has by now."""
        tokens = self.world.store.fetched_tokens(segment)
        if tokens != segment.tokens:
            segment.tokens = segment.raw_tokens = tokens

    def _refuse(self, segment: Segment, refuse: Refuse) -> None:
        world = self.world
        tokens = 0 if segment.booked else segment.raw_tokens
        segment.tokens = self._possible(segment, refuse.tokens, "a refusal")
        segment.booked = True
        world.ledger.books.never_admitted += tokens
        world.ledger.note(segment.id, "never-admitted", world.view.turn, refuse.reason)
        world.record(
            "refuse",
            segment.id,
            tokens,
            refuse.reason,
            refuse.displaced,
            refuse.score,
            refuse.floor,
        )

    def admit(self, segment: Segment, admit: Admit, by: str) -> None:
        """Put *segment* at the end of the window, after what it displaces has left."""
        world = self.world
        displaced = self.displace(admit.displaced, by)
        tokens = self._possible(segment, admit.tokens, "an admission")
        how = self._form(segment, admit.how, tokens)
        never = 0 if segment.booked else segment.raw_tokens - tokens
        segment.booked = True
        segment.tokens, segment.form = tokens, how
        segment.page_size = admit.page or page_size(segment, how, tokens)
        segment.lost = lost(segment, how, tokens)
        segment.copy = segment.copy or how in SAVED
        if how == "delta":
            segment.base = segment.previous
            self.roles_changed(world.roles.rest_on(segment), ())
        world.settle_version(segment)
        self._append(segment, "append")
        if segment.page_of is not None:
            self.roles_changed(world.roles.turn(segment), ())
        world.ledger.books.enter("admitted", tokens)
        world.ledger.books.never_admitted += never
        world.ledger.note(segment.id, "admitted", world.view.turn, how)
        world.grew = f"the admission of {segment.id} ({tokens} tokens)"
        world.record(
            "admit",
            segment.id,
            tokens,
            how,
            never,
            displaced,
            admit.score,
            admit.floor,
        )
        world.balance("an admission")

    def _form(self, segment: Segment, how: str, tokens: int) -> str:
        """Return *how*, or what it can only be at *tokens*."""
        cut = tokens < segment.raw_tokens
        if how == "delta":
            before = segment.previous
            if before is not None and before.resident and tokens == segment.delta_tokens:
                return how
            says = f"{segment.id} as a difference of {tokens} tokens to what is not there"
            self.world.bug(InadmissibleAction, segment.id, segment.raw_tokens, says)
        elif how in FORMS and how != "whole" and cut:
            return how
        elif how not in FORMS:
            says = f"{segment.id} as {how!r}, which is none of {', '.join(FORMS)}"
            self.world.bug(InadmissibleAction, segment.id, segment.raw_tokens, says)
        return "reduced" if cut else "whole"

    def _possible(self, segment: Segment, tokens: int, what: str) -> int:
        """Return *tokens* if *segment* can have that size at the door, else its raw size."""
        if isinstance(tokens, int) and 1 <= tokens <= segment.raw_tokens:
            return tokens
        says = f"{what} of {segment.id} at {tokens} of {segment.raw_tokens} tokens"
        self.world.bug(InadmissibleAction, segment.id, segment.raw_tokens, says)
        return segment.raw_tokens

    def _append(self, segment: Segment, cause: str) -> None:
        world = self.world
        segment.state = State.RESIDENT
        segment.admitted = True
        segment.admitted_turn = world.view.turn
        segment.own_pin = self._own_pin(segment)
        segment.entered = cause
        world.window.append(segment)
        if segment.kind in SPENDING_KINDS:
            world.view.quiescent = False
            world.view.spent = world.view.spent or not segment.copy

    def fetch(self, segment: Segment, by: str) -> None:
        """Bring an absent segment back from its copy, to the end of the window.

        What has another size than it had is a newer version, and comes whole.
        """
        world = self.world
        tokens = world.store.fetched_tokens(segment)
        if tokens != segment.tokens:
            segment.tokens = segment.raw_tokens = tokens
            segment.form, segment.lost = "whole", frozenset()
        world.settle_version(segment)
        self._append(segment, "rehydration")
        world.view.quiescent = False
        world.ledger.books.enter("rehydrated", segment.tokens)
        world.ledger.note(segment.id, "fetched", world.view.turn)
        world.grew = f"the fetch of {segment.id} ({segment.tokens} tokens)"
        world.record("fetch", segment.id, segment.tokens, segment.version, by)
        world.balance("a fetch")

    def displace(self, names: Sequence[str], by: str) -> tuple[str, ...]:
        """Evict what a swap displaces and return what left; a result may go with its call."""
        log = self.world.log
        staying = {name for name in names if name in log and log[name].resident}
        for name in names:
            if name not in staying or log[name].resident:
                self._harness.apply(Evict(name, "swap"), by)
        return tuple(name for name in names if name in staying and not log[name].resident)
