"""Step 6 of a turn: what is asked, what is fetched, and what the model answers."""

from __future__ import annotations

from sim.streams import uniform


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
    for q in queries:
        if not world.failed:
            world.m.answer(turn.answer(q), world.turn)
    if turn.called and not world.failed:
        world.extra_call()


def _act(world, s):
    world.m.add("acts")
    for name in s["requires"]:
        if world.resident(world.sources[name]) is None:
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

    def operator(self, source):
        """Bring in what was explicitly asked for, past every gate."""
        world = self.world
        if world.resident(source) is not None or not source.copy:
            return
        self.bring(source)

    def bring(self, source):
        """Append *source*, then let the pass follow."""
        world = self.world
        size = world.entering(source)
        world.admit(source, size, "rehydrated" if source.entered else "admitted")
        self.called = True
        world.make_fit()

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
            if world.resident(source) is None and not world.failed:
                self.ask(source)

    def may_ask(self, source, query):
        world = self.world
        if world.resident(source) is not None or not source.copy or not source.entered:
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
        having = [r for r in world.window if key in r.facts and r.form != "invented"]
        full = [r for r in having if r.full and r.kind != "summary"]
        if any(world.current(r) for r in full):
            return "correct"
        if full:
            return "stale"
        if having:
            return "correct"
        stand_in = world.surrogate(source)
        draw = self.draw(query)
        if stand_in is not None and stand_in.form == "invented":
            return "confabulated"
        if stand_in is not None and not stand_in.tagged:
            if draw < world.set["reader.invent_untagged"]:
                if world.policy.restores:
                    world.restore(stand_in)
                return "confabulated"
            return "abstained"
        if stand_in is not None:
            fetch = world.set["reader.fetch_tagged"]
            if draw < fetch:
                if not source.copy:
                    return "abstained"
                return self.fetched(source)
            if draw < fetch + world.set["reader.abstain_tagged"]:
                return "abstained"
            return "confabulated"
        if not source.copy:
            return "abstained"
        return self.fetched(source)

    def fetched(self, source):
        there = self.ask(source) if source.entered else self.through_the_door(source)
        return "correct" if there else "deferred"
