"""Step 6 of a turn: what is asked, what is fetched, and what the model answers."""

from __future__ import annotations

from sim.streams import uniform

OTHERS_THAT_LEFT = True
"""Whether, where the asked segment never entered, one that left and stated the fact is fetched."""


def answers(world, found):
    """Serve the operator, re-score, rehydrate, and answer every query of the turn."""
    queries = [s for s in found if s["type"] == "query"]
    operators = [s for s in found if s["type"] == "operator"]
    for s in found:
        if s["type"] == "act":
            _act(world, s)
    for name in [s["segment"] for s in operators] + [q["touches"][0] for q in queries]:
        source = world.sources[name]
        r = world.resident(source)
        if r is None or not world.current(r):
            world.m.add("missed_tokens", world.reduced(source))
    turn = _Turn(world)
    for s in operators:
        turn.operator(world.sources[s["segment"]])
    for q in queries:
        for name in q["touches"]:
            _score(world, world.sources[name], q["relevance"])
    turn.rehydrate(queries)
    outcomes = [turn.answer(q) for q in queries]
    if turn.called:
        world.make_fit()
        if world.failed:
            return
        world.extra_call()
    for q, outcome in zip(queries, outcomes, strict=True):
        world.m.answer(turn.settled(q, outcome), world.turn)


def _act(world, s):
    world.m.add("acts")
    for name in s["requires"]:
        source = world.sources[name]
        stand_in = world.surrogate(source)
        keys = {f["key"] for f in source.facts}
        kept = stand_in is not None and stand_in.form == "surrogate" and keys <= set(stand_in.facts)
        if world.resident(source) is None and not kept:
            world.m.add("violations")
            return


def _score(world, source, relevance):
    before = world.salience(source)
    after = max(before, relevance)
    threshold = world.set["rehydrate.threshold"]
    if world.resident(source) is None and before <= threshold < after:
        world.m.add("reversals")
    if after > before:
        source.score, source.scored = after, world.turn


class _Turn:
    """What was asked for in this turn, and whether an extra call is due."""

    def __init__(self, world):
        self.world = world
        self.asked = {}  # source -> whether it was granted
        self.called = False
        self.brought = []

    def operator(self, source):
        """Bring in what was explicitly asked for, past every gate."""
        world = self.world
        if world.resident(source) is not None or not source.copy:
            return
        self.bring(source)

    def bring(self, source):
        """Append *source*; the pass that follows comes once, when all has been asked for."""
        world = self.world
        size = world.entering(source)
        world.admit(source, size, "rehydrated" if source.entered else "admitted")
        self.brought.append(source)
        self.called = True

    def rehydrate(self, queries):
        """Ask for all that was touched, left, has a copy and is above the threshold now."""
        world = self.world
        touched = []
        for q in queries:
            for name in q["touches"]:
                source = world.sources[name]
                if source not in touched and self.may_ask(source, q):
                    touched.append(source)
        touched.sort(key=lambda s: (-world.salience(s), s.order))
        for source in touched:
            if world.resident(source) is None:
                self.ask(source)

    def may_ask(self, source, query):
        world = self.world
        if world.resident(source) is not None or not source.copy or not source.entered:
            return False
        if source.cut:
            return False
        if world.salience(source) <= world.set["rehydrate.threshold"]:
            return False
        stand_in = world.surrogate(source)
        if stand_in is None:
            return True
        if stand_in.form == "invented":
            return False
        if not stand_in.tagged:
            return world.set["reader.refetch"] == "always"
        return self.draw(query) < world.set["reader.fetch_tagged"]

    def draw(self, query):
        return uniform(self.world.seed, "reader", query["id"])

    def ask(self, source):
        """Pass the gate once a turn; return whether *source* is there afterwards."""
        world = self.world
        if source in self.asked:
            return self.asked[source] and world.resident(source) is not None
        granted = world.policy.gate(source, world.entering(source))
        if granted:
            self.bring(source)
        self.asked[source] = granted
        return granted and world.resident(source) is not None

    def through_the_door(self, source):
        """Ask for what never entered."""
        world = self.world
        size = world.entering(source)
        if source in self.asked:
            return world.resident(source) is not None
        self.asked[source] = world.policy.door(source, size)
        if self.asked[source]:
            self.bring(source)
        return world.resident(source) is not None

    def answer(self, query):
        """The first row of the table that applies."""
        world, key = self.world, query["key"]
        source = world.sources[query["touches"][0]]
        full = [r for r in world.window if r.full and r.kind != "summary"]
        kept = [r for r in world.window if r not in full]
        for among in (full, kept):
            stated = [world.states(r, key) for r in among]
            if any(stated):
                return "correct"
            if False in stated:
                return "stale"
        draw = self.draw(query)
        stand_ins = [r for r in world.window if r.form != "full" and self.stated(r, key)]
        stand_ins.sort(key=lambda r: max(s.order for s in r.sources if self.may_state(s, key)))
        if any(r.form == "invented" for r in stand_ins):
            return "confabulated"
        untagged = [r for r in stand_ins if not r.tagged]
        if untagged:
            if draw < world.set["reader.invent_untagged"]:
                if world.policy.restores:
                    world.restore(untagged[-1])
                return "confabulated"
            return "abstained"
        if stand_ins:
            fetch = world.set["reader.fetch_tagged"]
            copied = [s for r in stand_ins for s in r.sources if s.copy and self.may_state(s, key)]
            if source not in copied and copied:
                source = copied[-1]
            if draw < fetch:
                if not source.copy:
                    return "abstained"
                return self.fetched(source)
            if draw < fetch + world.set["reader.abstain_tagged"]:
                return "abstained"
            return "confabulated"
        if OTHERS_THAT_LEFT and not source.entered:
            for other in world.sources.values():
                if other.entered and other.copy and self.may_state(other, key):
                    source = other
        if not source.copy:
            return "abstained"
        return self.fetched(source)

    def may_state(self, source, key):
        return key in (f["key"] for f in source.facts)

    def stated(self, r, key):
        """Tell whether a source of *r* stated *key*."""
        return any(self.may_state(s, key) for s in r.sources)

    def fetched(self, source):
        there = self.ask(source) if source.entered else self.through_the_door(source)
        return "correct" if there else "deferred"

    def settled(self, query, outcome):
        """Return the answer once the pass after a fetch has had its say."""
        world, key = self.world, query["key"]
        source = world.sources[query["touches"][0]]
        if outcome != "correct" or source not in self.brought or self.readable(key):
            return outcome
        return "deferred"

    def readable(self, key):
        return any(self.world.states(r, key) for r in self.world.window)
