"""clairvoyant: knows the script, and holds what makes the fewest tokens be missed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from policies.options import Options
from policies.parts.ranking import unpinned
from policies.policy import Composed
from sim.actions import (
    Action,
    Admit,
    Evict,
    Grant,
    Recall,
    Refresh,
    Refuse,
    RehydrationBlocked,
    Rewrite,
)
from sim.reduction import reduced_tokens

if TYPE_CHECKING:
    from sim.optimum.plan import Plan
    from sim.optimum.timeline import Realised
    from sim.orders import Order
    from sim.script import Attempt, Script
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Clairvoyant"]


class Clairvoyant(Composed):
    """Plays the program of ``sim.optimum`` in whole uses: the least ``missed_tokens`` there is.

    What the plan does not hold stays while there is room. It promises nothing on cost or answers.
    Source: Belady's rule, for segments of unlike sizes (docs/bound.md).
    """

    name = "clairvoyant"
    summary = "knows the script, and misses as few tokens as any policy can"
    source = "Belady 1966"
    requires = frozenset({"future"})

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the plan's player."""
        self._player = _Player()
        yield self._player

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that it leaves untagged stubs, where what is gone cannot be tagged."""
        return ("untagged",)

    @property
    def settled(self) -> bool:
        """Whether its attempts end as its plan supposes; else it is not sure to be the best.

        Holding what would be best if an attempt failed may be what lets it succeed.
        """
        return self._player.settled


class _Player:
    """Plays a *plan*; without one, makes it from the script that the view shows."""

    def __init__(self, plan: Plan | None = None) -> None:
        self._plan = plan
        self.settled = True
        self._fails: dict[int, Attempt] = {}
        """Guarded attempts that the plan supposes to fail, by turn."""
        self._copies: dict[str, list[str]] = {}
        self._stating: dict[str, list[str]] = {}
        self._wanted: dict[str, set[str]] = {}
        """Ids that stay or that the plan ever holds, by the pair they belong to."""
        self._spare: Order | None = None
        self._ahead = 0
        """1 while what comes to the door comes for the next turn."""

    def start(self, view: View) -> None:
        """Make the plan, and ask for what may be given up."""
        script = view.future
        assert script is not None
        if self._plan is None:
            self._plan, self.settled = _settled(script)
        branches = self._plan.taken.branches
        self._fails = {
            a.turn: a for a in script.attempts if a.guarded and branches.get(a.turn) == "failed"
        }
        held = {name for names in self._plan.hold.values() for name in names}
        self._copies, self._stating = _carriers(script)
        for arrival in _arrivals(script):
            if arrival.pair is not None and (arrival.pinned or arrival.id in held):
                self._wanted.setdefault(arrival.pair, set()).add(arrival.id)
        self._spare = view.position_order(unpinned)

    def on_arrival(self, view: View, segment: Segment) -> Iterator[Admit | Refuse]:
        """Admit what the plan holds, and what can be given up again without it."""
        least = reduced_tokens(segment, segment.tokens)
        tokens = segment.tokens if least is None else least
        held = self._held(view.turn + self._ahead)
        wanted = self._wanted.get(segment.pair or "", set())
        free = wanted <= {segment.id} or (segment.id in wanted and wanted.isdisjoint(held))
        if segment.id in self._stubs(view.turn) or segment.id in held or segment.pinned or free:
            how = "spill" if tokens < segment.tokens else "whole"
            yield Admit(tokens, how)
        else:
            yield Refuse("margin", tokens)

    def on_write(self, view: View, path: str) -> Iterator[Refresh]:
        """Bring up to date what stays anyway, where that makes it smaller."""
        held = self._held(view.turn)
        for segment in list(view.stale(path)):
            stays = segment.pinned or held.get(segment.id) is False
            if stays and view.fetched_tokens(segment) < segment.tokens:
                yield Refresh(segment.id)

    def before_call(self, view: View) -> Iterator[Action]:
        """Bring up to date what has to be, and give up what is not held until all fits."""
        for name, current in self._held(view.turn).items():
            segment = view.log.get(name)
            if segment is None or not current or not segment.resident:
                continue
            if not view.current(segment):
                yield Refresh(name)
        held = self._held(view.turn)
        for name in sorted(self._stubs(view.turn) - held.keys()):
            segment = view.log.get(name)
            if segment is None or segment.pair is None or not segment.resident:
                continue
            if not held.keys().isdisjoint(self._wanted.get(segment.pair, set())):
                yield Rewrite((name,), 1, segment.taggable, "planned", line=True, stub=True)
        yield from self._give_up(view, lambda segment: self._spare_now(segment, held))
        yield from self._give_up(view, lambda segment: True)

    def _give_up(self, view: View, spare: Callable[[Segment], bool]) -> Iterator[Evict]:
        """Evict what is *spare*, front first, until all fits."""
        if view.over <= 0:
            return
        for segment in self._spare or ():
            if segment.resident and not segment.held and spare(segment):
                yield Evict(segment.id, "planned")
                if view.over <= 0:
                    return

    def on_rehydrate(self, view: View, segment: Segment) -> Grant | RehydrationBlocked:
        """Let back in what fits; what the plan holds comes back after the turn if it does not."""
        if view.tokens + view.fetched_tokens(segment) <= view.budget:
            return Grant()
        return RehydrationBlocked(segment.id, "margin", view.salience(segment), None)

    def after_turn(self, view: View) -> Iterator[Action]:
        """Bring back what the plan holds from the next turn on.

        What it no longer holds leaves first where its call or result stays, and takes that along.
        """
        now, then = self._held(view.turn), self._held(view.turn + 1)
        if view.turn + 1 in self._fails:
            yield from self._fail(view, self._fails[view.turn + 1], then)
        for name in self._parting(view, now, then):
            if view.log[name].resident:
                yield Evict(name, "planned")
        for name in then:
            segment = view.log.get(name)
            if segment is None:
                continue
            if not segment.resident and segment.copy and view.wants(segment):
                self._ahead = 1
                yield Recall(name)
                self._ahead = 0
            elif segment.resident and name not in now and not view.current(segment):
                yield Refresh(name)

    def _parting(
        self, view: View, now: Mapping[str, bool], then: Mapping[str, bool]
    ) -> Iterator[str]:
        """Yield what stays no longer than this turn while its call or result does.

        It was held until now, or was only left there until its call or result is held again.
        """
        stubs = self._stubs(view.turn + 1)
        for name in dict.fromkeys((*now, *self._mates(view, then.keys() - now.keys()))):
            segment = view.log.get(name)
            if segment is None or segment.pair is None or name in then or name in stubs:
                continue
            if not then.keys().isdisjoint(self._wanted.get(segment.pair, set())):
                yield name

    def _mates(self, view: View, names: Iterable[str]) -> Iterator[str]:
        for name in sorted(names):
            segment = view.log.get(name)
            if segment is not None and segment.pair is not None:
                yield from sorted(self._wanted.get(segment.pair, set()) - {name})

    def _fail(self, view: View, attempt: Attempt, then: Mapping[str, bool]) -> Iterator[Evict]:
        """Give up what the plan can spare of what *attempt* needs, as the plan supposes."""
        needs = []
        for names in (
            *map(self._stating.get, attempt.facts),
            *map(self._copies.get, attempt.paths),
        ):
            there = [view.log[name] for name in names or () if name in view.log]
            needs.append([segment for segment in there if segment.resident])
        spare = [need for need in needs if all(self._spare_now(s, then) for s in need)]
        for segment in min(spare, key=len, default=[]):
            if segment.resident:
                yield Evict(segment.id, "planned")

    def _spare_now(self, segment: Segment, then: Mapping[str, bool]) -> bool:
        pair = self._wanted.get(segment.pair or "", set())
        return not segment.held and segment.id not in then and pair.isdisjoint(then)

    def _stubs(self, turn: int) -> set[str]:
        assert self._plan is not None
        return self._plan.stubs.get(turn, set())

    def _held(self, turn: int) -> dict[str, bool]:
        assert self._plan is not None
        return self._plan.hold.get(turn, {})


def _arrivals(script: Script) -> Iterator[Any]:
    from sim.script import Arrival

    for stimulus in _stimuli(script):
        if isinstance(stimulus, Arrival):
            yield stimulus


def _stimuli(script: Script) -> Iterator[Any]:
    yield from script.stimuli
    for attempt in script.attempts:
        yield from attempt.ok
        yield from attempt.failed


def _carriers(script: Script) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the ids of the copies of each path, and of what may ever state each key."""
    from sim.script import Write

    copies: dict[str, list[str]] = {}
    stating: dict[str, list[str]] = {}
    for arrival in _arrivals(script):
        if arrival.path is not None:
            copies.setdefault(arrival.path, []).append(arrival.id)
        for fact in arrival.facts:
            stating.setdefault(fact.key, []).append(arrival.id)
    for stimulus in _stimuli(script):
        if isinstance(stimulus, Write):
            for fact in stimulus.facts or ():
                stating.setdefault(fact.key, []).extend(copies.get(stimulus.path, ()))
    return copies, stating


_REHEARSALS = 4
"""How often a plan is made again of how the last was taken, where none of the ways fits."""


def _settled(script: Script) -> tuple[Plan, bool]:
    """Return a plan, and whether it is taken as it supposes: its turns, its guards met or not.

    Each way in which the attempts can end is supposed in turn, the earliest success first, and
    played once to see; so is a run whose pins may end it.
    """
    from sim.optimum.plan import plan

    ways = list(_ways(script))
    if len(ways) == 1 and not _may_end_early(script):
        return plan(script, ways[0]), True
    for taken in ways:
        made = plan(script, taken)
        came = _rehearsed(script, made)
        if _alike(came, taken):
            return made, True
    for _ in range(_REHEARSALS):
        taken, made = came, plan(script, came)
        came = _rehearsed(script, made)
        if _alike(came, taken):
            return made, True
    return made, False


def _alike(one: Realised, other: Realised) -> bool:
    return (one.turns, dict(one.branches)) == (other.turns, dict(other.branches))


def _may_end_early(script: Script) -> bool:
    """Whether what the script pins may come to exceed the budget."""
    from sim.reduction import raw_tokens

    image = script.settings["image_tokens"]
    pins = sum(raw_tokens(a, image) for a in _arrivals(script) if a.pinned)
    return pins > script.settings["budget"] or any(_changes(script))


def _changes(script: Script) -> Iterator[str]:
    """Yield the pins whose size changes."""
    from sim.script import WorldRefresh, Write

    pins = [a for a in _arrivals(script) if a.pinned]
    paths = {a.path for a in pins} - {None}
    names = {a.id for a in pins}
    for stimulus in _stimuli(script):
        if isinstance(stimulus, Write) and stimulus.path in paths:
            yield stimulus.path
        elif isinstance(stimulus, WorldRefresh) and stimulus.segment in names:
            yield stimulus.segment


def _ways(script: Script) -> Iterator[Realised]:
    """Yield every way in which the attempts of *script* can end."""
    from sim.optimum.timeline import Realised

    turns = script.settings["turns"]
    attempts = sorted((a for a in script.attempts if a.turn <= turns), key=lambda a: a.turn)
    branches: dict[int, str] = {}
    for attempt in attempts:
        if attempt.guarded:
            yield Realised(attempt.turn, {**branches, attempt.turn: "ok"})
        branches[attempt.turn] = "failed" if attempt.guarded else "script"
    exhausted = bool(attempts) and not script.attempts_cut
    last = max((a.turn for a in script.attempts), default=0)
    yield Realised(min(turns, last) if exhausted else turns, branches)


def _rehearsed(script: Script, made: Plan) -> Realised:
    """Return how *script* is taken under the plan *made*."""
    from sim.engine import run
    from sim.optimum.timeline import realised

    return realised(run(script, _Rehearsal(made), _free()).records)


class _Rehearsal(Composed):
    """The player of one plan."""

    name = "rehearsal"
    requires = frozenset({"future"})

    def __init__(self, made: Plan) -> None:
        self._made = made
        super().__init__()

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the player."""
        yield _Player(self._made)


def _free() -> Any:
    """Return a price at which nothing costs anything."""
    from sim.prices import CacheRules, Price, Speed

    rules = CacheRules("auto", 1, 1, 300.0)
    return Price("free", 0.0, 0.0, 0.0, 0.0, rules, Speed(1_000.0, 10_000.0, 0.0, 100.0))
