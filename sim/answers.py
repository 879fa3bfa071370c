"""Answers: what follows a call, from re-scoring over rehydration to what the model says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sim.actions import Grant, RehydrationBlocked
from sim.errors import InadmissibleAction
from sim.paging import Paging, wanted_page
from sim.reader import Reading
from sim.reduction import SAVED
from sim.script import Turn
from sim.segments import Kind, Segment, State, stand_ins, successors

if TYPE_CHECKING:
    from sim.door import Door
    from sim.harness import Harness
    from sim.orders import Order
    from sim.reader import Reader
    from sim.script import Query
    from sim.world import World

__all__ = ["Answers"]


class Answers:
    """Serves one turn's queries, acts and operator requests after its call."""

    def __init__(self, world: World, harness: Harness, door: Door, reader: Reader) -> None:
        self._world = world
        self._harness = harness
        self._door = door
        self._reader = reader
        self._gate = getattr(world.policy, "on_rehydrate", None)
        self._restore = getattr(world.policy, "on_restore", None)
        self._bulk: Order | None = None
        self._asked: dict[str, bool] = {}
        """What was asked for in this turn, and whether it was let in."""
        self._open: list[tuple[Query, Reading]] = []
        self._paging = Paging(world, door)
        self._turn = Turn()
        harness.bring_back = self._recall
        harness.reread = self._reread
        self._turned: dict[Segment, Segment] = {}
        """Results of which a page was asked for in this round trip, and that page."""

    def start(self) -> None:
        """Ask for the count of bulk files, if they can distract."""
        world = self._world
        if world.settings.reader_distraction > 0.0:
            self._bulk = world.view.position_order(
                lambda s: s.kind is Kind.FILE and not s.sources and not world.roles.named(s.path)
            )

    def at_call(self, turn: Turn) -> None:
        """Read acts, and note what is missed, in the window of the call."""
        world = self._world
        for act in turn.acts:
            missing = tuple(name for name in act.requires if not self._readable(name))
            world.record("act", act.id, act.requires, missing)
        for name, by in (
            *((q.touches[0], "query") for q in turn.queries if q.touches),
            *((o.segment, "operator") for o in turn.operators),
        ):
            segment = world.log.get(name)
            if segment is None:
                continue
            least = world.store.least_tokens(segment)
            full = segment.tokens >= least or segment.form == "delta"
            if not (segment.resident and full and world.store.current(segment)):
                world.record("missed", name, least, by)

    def _readable(self, name: str) -> bool:
        segment = self._world.log.get(name)
        if segment is None:
            return False
        if segment.resident:
            return True
        keys = {fact.key for fact in segment.facts}
        return bool(keys) and any(
            keys <= surrogate.kept - surrogate.made_up for surrogate in stand_ins(segment)
        )

    def answer(self, turn: Turn) -> bool:
        """Re-score, rehydrate and read; return whether anything was let in."""
        self._turn = turn
        self._asked.clear()
        self._turned.clear()
        self._open.clear()
        touched = self._rescore(turn.queries)
        for operator in turn.operators:
            self._serve(operator.id, operator.segment)
        for segment in self._risen(touched):
            self._request(segment, "threshold")
        bulk = self._bulk_files()
        for query in turn.queries:
            reading = self._reader.read(query.id, query.key)
            reading = self._reader.distracted(query.id, reading, bulk)
            if reading.page and reading.wanted is not None:
                page = self._turn_to(query, reading.wanted, reading.page)
                reading = replace(reading, wanted=page)
            elif reading.wanted is not None:
                self._request(reading.wanted, "reader")
            elif not self._just_let_in(reading):
                self._say(query, reading)
                if reading.outcome == "confabulated" and reading.cause == "untagged":
                    self._made_up(query, reading.segment)
                continue
            self._open.append((query, reading))
        return any(self._asked.values())

    def read_on(self) -> bool:
        """Ask for the next pages of what is still being read; return whether one was let in."""
        came = False
        self._turned.clear()
        for number, (query, reading) in enumerate(self._open):
            page = reading.wanted
            if page is None or page.page_of is None or not page.resident:
                continue
            if self._reader.meets(query.key) is not None:
                continue
            wanted = wanted_page(page.page_of, query.key)
            if wanted is not None:
                page = self._turn_to(query, page.page_of, wanted)
                self._open[number] = (query, replace(reading, wanted=page))
                came = came or page.resident
        return came

    def _turn_to(self, query: Query, segment: Segment, number: int) -> Segment:
        """Return page *number* of *segment*, asked for at the door.

        With a cursor one page comes in a round trip: who asks second in one gets the same.
        """
        page = self._turned.get(segment)
        if segment.form in SAVED:
            page = next((p for p in segment.pages if p.number == number), None)
            page = page if page is not None and page.id in self._asked else None
        if page is None:
            page = self._turned[segment] = self._paging.bring(segment, number, query.id)
            self._asked[page.id] = page.resident
        return page

    def settle(self) -> None:
        """Answer what had to wait until the pass after a fetch was over."""
        for query, reading in self._open:
            if reading.wanted is not None:
                after = self._after(query, reading.wanted)
                cause = f"{reading.cause}, {after.cause}"
                reading = replace(after, cause=cause, segment=after.segment or reading.segment)
            elif reading.segment is not None and not reading.segment.resident:
                after = self._after(query, reading.segment)
                reading = replace(after, segment=after.segment or reading.segment)
            self._say(query, self._reader.distracted(query.id, reading, self._bulk_files()))
        self._open.clear()

    def _bulk_files(self) -> int:
        return 0 if self._bulk is None else len(self._bulk)

    def _just_let_in(self, reading: Reading) -> bool:
        """Whether an answer rests on what the pass that follows may yet throw out."""
        segment = reading.segment
        return segment is not None and reading.cause == "full" and segment.id in self._asked

    def _say(self, query: Query, reading: Reading) -> None:
        name = None if reading.segment is None else reading.segment.id
        self._world.record(
            "answer", query.id, query.key, name, reading.outcome, reading.cause, reading.value
        )

    def _after(self, query: Query, wanted: Segment) -> Reading:
        """Answer from what the pass left: the fetched copy, a surrogate with the fact, or not."""
        reading = self._reader.meets(query.key)
        if reading is not None:
            return replace(reading, cause="fetched" if reading.cause == "full" else "kept")
        if wanted.resident and wanted.page_of is None:
            return Reading("abstained", "not stated")
        let_in = self._asked.get(wanted.id, False)
        return Reading("deferred", "thrown out" if let_in else "blocked")

    # -- salience --------------------------------------------------------------------------

    def _rescore(self, queries: list[Query]) -> dict[Segment, Query]:
        touched: dict[Segment, Query] = {}
        for query in queries:
            for name in query.touches:
                segment = self._world.log.get(name)
                if segment is not None:
                    touched.setdefault(segment, query)
                    self._score(segment, query.relevance)
        return touched

    def _score(self, segment: Segment, relevance: float) -> None:
        world = self._world
        view = world.view
        before = view.salience(segment)
        after = max(before, relevance)
        threshold = world.settings.rehydrate_threshold
        crossed = not segment.resident and before <= threshold < after
        world.record("score", segment.id, before, after, crossed)
        if relevance <= before:
            return
        parts = (segment, *segment.pages)
        for each in (*parts, *(s for part in parts for s in successors(part))):
            if relevance > view.salience(each):
                each.score, each.scored_at = relevance, view.turn
                if each.resident:
                    world.window.touch(each)

    def _risen(self, touched: dict[Segment, Query]) -> list[Segment]:
        """Return what the harness itself asks back, most salient first, ties older first."""
        view = self._world.view
        threshold = self._world.settings.rehydrate_threshold
        risen = [
            segment
            for segment, query in touched.items()
            if segment.copy and self._recallable(segment, query)
            if view.salience(segment) > threshold
        ]
        return sorted(risen, key=lambda s: (-view.salience(s), s.seq))

    def _recallable(self, segment: Segment, query: Query) -> bool:
        if segment.state is State.EVICTED:
            return True
        if segment.state is not State.REWRITTEN:
            return False
        return any(self._reader.fetches(query.id, s) for s in stand_ins(segment))

    # -- rehydration -----------------------------------------------------------------------

    def _request(self, segment: Segment, by: str) -> None:
        """Ask for an absent segment: through the door, or through the gate."""
        world = self._world
        if segment.id in self._asked or segment.resident:
            return
        if not segment.admitted:
            self._asked[segment.id] = self._door.decide(segment, by)
            return
        decision = self._decision(segment)
        if isinstance(decision, Grant):
            how, reason = decision.how or "granted", ""
            displaced = self._door.displace(decision.displaced, "gate")
        else:
            how, reason, displaced = "blocked", decision.reason, decision.displaced
        world.record(
            "rehydrate",
            segment.id,
            world.view.fetched_tokens(segment),
            how,
            by,
            reason,
            displaced,
            decision.score,
            decision.floor,
        )
        self._asked[segment.id] = how != "blocked"
        if how != "blocked":
            self._door.fetch(segment, by)

    def _decision(self, segment: Segment) -> Grant | RehydrationBlocked:
        """Ask the gate; a policy that has none, or no answer, grants."""
        world = self._world
        decision = None if self._gate is None else self._gate(world.view, segment)
        if isinstance(decision, Grant | RehydrationBlocked):
            return decision
        if decision is not None:
            says = f"{decision!r} is no answer of the gate"
            world.bug(InadmissibleAction, segment.id, 0, says)
        return Grant()

    def wants(self, segment: Segment) -> bool:
        """Whether this turn asks for *segment*: it is touched, or states the key of a query."""
        carriers = self._world.carriers
        return any(
            segment.id in query.touches or segment in carriers.get(query.key, ())
            for query in self._turn.queries
        ) or any(operator.segment == segment.id for operator in self._turn.operators)

    def _recall(self, segment: Segment) -> str:
        """Bring back what the turn asked for; return why that cannot be, empty if it can."""
        if segment.resident:
            return "is there"
        if not segment.copy or segment.page_of is not None:
            return "has no copy"
        if not self.wants(segment):
            return "this turn did not ask for"
        if not segment.admitted:
            self._door.decide(segment, "policy")
            return ""
        self._bring_back(segment, "policy")
        return ""

    def _reread(self, segment: Segment) -> str:
        """Read an absent segment anew from its copy; return why that cannot be, empty if it can."""
        if segment.resident:
            return "is there"
        if segment.sources:
            return "is no segment of the log"
        if not segment.admitted:
            return "never entered"
        if not segment.copy or segment.page_of is not None:
            return "has no copy"
        self._bring_back(segment, "harness")
        return ""

    def _bring_back(self, segment: Segment, by: str) -> None:
        tokens = self._world.view.fetched_tokens(segment)
        self._world.record("rehydrate", segment.id, tokens, "granted", by, "", (), None, None)
        self._door.fetch(segment, by)

    def _serve(self, operator: str, name: str) -> None:
        """Serve an explicit request, whatever the gate would say."""
        world = self._world
        segment = world.log.get(name)
        how = "unavailable"
        if segment is not None:
            if segment.resident:
                how = "resident"
            elif segment.copy and not segment.admitted:
                self._door.let_in(segment, "operator")
                self._asked[name] = True
                how = "admitted"
            elif segment.copy:
                self._door.fetch(segment, "operator")
                self._asked[name] = True
                how = "fetched"
        world.record("operator", operator, name, how)

    def _made_up(self, query: Query, stand_in: Segment | None) -> None:
        """Let the policy put the invented text in the place of its surrogate.

        Text that has been invented before stays as it is, whatever else is asked of it.
        """
        if self._restore is not None and stand_in is not None and stand_in.is_surrogate:
            actions = self._restore(self._world.view, stand_in, query.key)
            self._harness.obey(actions, "restore")
