"""Step 6 of a turn: what is asked, what is fetched, and what the model answers."""

from __future__ import annotations

from sim.streams import uniform

NEWEST_COPY = True
"""Whether of several segments that stated the fact the newest is fetched, not the asked one."""


FIRST_TOUCH_DECIDES = True
"""Whether of several queries that touch a segment the first draws whether it is asked back."""
OPERATOR_FIRST = False
"""Whether explicit requests are served before the queries re-score, and not after."""
ASKS_FOR_OLD_FACTS = True
"""Whether a copy is asked for a fact that its newest version no longer states."""
ANY_PAGE_IN_SIGHT = False
"""Whether any page of a result shows its cursor or pointer, not the result and the last alone."""
STOPS_WHERE_A_PAGE_LEFT = True
"""Whether nothing more is asked for in a turn in which a page just read was thrown out."""
PAGE_COMES_AT_DOOR = False
"""Whether a page at the door, let in or not, ends the pin of the one before."""
POINTER_ASKS_AGAIN = False
"""Whether a page behind a pointer that was kept out is asked for by the next query, too."""
FETCHED_IS_DISTRACTED = True
"""Whether distraction spoils what was fetched in the turn, too."""


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
            world.m.add("missed_tokens", world.smallest(source))
    turn = _Turn(world)
    if OPERATOR_FIRST:
        turn.serve(operators)
    for q in queries:
        for name in q["touches"]:
            _score(world, world.sources[name], q["relevance"])
    if not OPERATOR_FIRST:
        turn.serve(operators)
    turn.rehydrate(queries)
    turn.bulk = turn.count()
    waiting = []
    for q in queries:
        turn.asked_for = None
        outcome = turn.answer(q)
        turn.waits[q["id"]] = turn.asked_for
        if outcome == "fetch":
            waiting.append(q)
        else:
            turn.say(q, outcome, at_once=True)
    while turn.called:
        turn.called, turn.round = False, []
        world.make_fit()
        if world.failed:
            return
        world.extra_call()
        for q in waiting:
            turn.go_on(q)
    for q in waiting:
        turn.say(q, turn.late(q))


def _act(world, s):
    world.m.add("acts")
    for name in s["requires"]:
        source = world.sources[name]
        stand_in = world.surrogate(source)
        keys = {f["key"] for f in source.facts}
        kept = keys and stand_in is not None and keys <= set(stand_in.facts) - stand_in.made_up
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
        self.asked = []
        self.asked_for = None  # what the query being answered waits for
        self.waits = {}
        self.called = False
        self.brought = []
        self.bulk = 0  # irrelevant files when the first query is answered
        self.round = []  # pages asked for since the last call
        self.reading = {}  # the page that a query asked for last

    def serve(self, operators):
        """Bring in what was explicitly asked for, past every gate."""
        for s in operators:
            source = self.world.sources[s["segment"]]
            if self.world.resident(source) is None and source.copy:
                self.asked.append(source)
                self.bring(source)

    def bring(self, source):
        """Append *source*; the pass that follows comes once, when all has been asked for."""
        world = self.world
        world.admit(source, "rehydrated" if source.entered else "admitted")
        self.brought.append(source)
        self.called = True

    def rehydrate(self, queries):
        """Ask for all that was touched, left, has a copy and is above the threshold now."""
        world = self.world
        touched, seen = [], []
        for q in queries:
            for name in q["touches"]:
                source = world.sources[name]
                if FIRST_TOUCH_DECIDES and source in seen:
                    continue
                seen.append(source)
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
        stand_ins = [r for r in world.window if r.form != "full" and source in r.sources]
        return not stand_ins or any(self.fetches(query, r) for r in stand_ins)

    def fetches(self, query, stand_in):
        """Tell whether the reader asks for what *stand_in* stands for, if that has a copy."""
        if self.world.set["reader.refetch"] == "always":
            return True
        return stand_in.tagged and self.draw(query) < self.world.set["reader.fetch_tagged"]

    def draw(self, query):
        return uniform(self.world.seed, "reader", query["id"])

    def ask(self, source):
        """Pass the gate, once a turn."""
        world = self.world
        if source not in self.asked and world.resident(source) is None:
            self.asked.append(source)
            if world.policy.gate(source, world.entering(source)):
                self.bring(source)

    def through_the_door(self, source):
        """Ask for what never entered, once a turn."""
        world = self.world
        if source not in self.asked and world.resident(source) is None:
            self.asked.append(source)
            if world.knock(source):
                self.brought.append(source)
                self.called = True

    def answer(self, query):
        """The first row of the table that applies; `fetch` where a pass may yet decide."""
        world, key = self.world, query["key"]
        full = [r for r in world.window if r.full and r.kind != "summary"]
        kept = [r for r in world.window if r not in full]
        for among in (full, kept):
            stated = [world.states(r, key) for r in among]
            if True in stated:
                source = among[stated.index(True)].source
                if among is not full or source not in self.brought:
                    return "correct"
                distracted = not FETCHED_IS_DISTRACTED and self.distracted(query, self.bulk)
                return "confabulated" if distracted else "fetch"
            if False in stated:
                return "stale"
        paged = self.behind(key)
        if paged is not None:
            return self.read_on(query, paged)
        draw = self.draw(query)
        stand_ins = [r for r in world.window if r.form != "full" and self.stated(r, key)]
        stand_ins.sort(key=lambda r: max(s.order for s in r.sources if self.may_state(s, key)))
        if any(key in r.made_up for r in stand_ins):
            return "confabulated"
        untagged = [r for r in stand_ins if not r.tagged]
        if stand_ins and self.fetches(query, (untagged or stand_ins)[-1]):
            wanted = self.wanted(query, [s for r in untagged or stand_ins for s in r.sources])
            if wanted is not None or not untagged:
                return self.fetched(wanted)
        if untagged:
            if draw < world.set["reader.invent_untagged"]:
                if world.policy.restores and untagged[-1].form == "surrogate":
                    world.restore(untagged[-1], key)
                return "confabulated"
            return "abstained"
        if stand_ins:
            return self.does_without(query)
        known = list(world.sources.values())
        known += [page for s in known for page in s.read_on]
        absent = [s for s in known if world.resident(s) is None]
        gone = self.wanted(query, [s for s in absent if s.entered])
        return self.fetched(gone or self.wanted(query, [s for s in absent if not s.entered]))

    def does_without(self, query):
        """Abstain or invent, where what is seen says that something is missing."""
        fetch, abstain, invent = (
            self.world.set[f"reader.{name}_tagged"] for name in ("fetch", "abstain", "invent")
        )
        share = abstain / (abstain + invent) if abstain + invent > 0 else 1
        draw = self.draw(query)
        return "abstained" if draw < fetch + (1 - fetch) * share else "confabulated"

    # -- cursors and pointers

    def behind(self, key):
        """Return the newest result that has *key* behind a cursor or a pointer in sight."""
        world, found = self.world, None
        for source in world.sources.values():
            facts = [f for f in source.facts if f["key"] == key]
            if not facts:
                continue
            here = world.resident(source) is not None
            number = world.page_of(source, facts[0]) if source.limit else 0
            came = [page.number for page in source.read_on]
            if ANY_PAGE_IN_SIGHT:
                here = here or any(world.resident(page) is not None for page in source.read_on)
            if source.way.endswith("pointer"):
                left_out = number not in came and not world.says(source, facts[0], source.way)
            else:
                left_out = source.way == "page" and number > 1 + len(came)
                here = here or self.last_is_here(source)
            if here and left_out:
                found = source
        return found

    def last_is_here(self, source):
        return bool(source.read_on) and self.world.resident(source.read_on[-1]) is not None

    def read_on(self, query, source):
        """Ask for the page that comes next, or for the one that holds the fact."""
        world, key = self.world, query["key"]
        if self.draw(query) >= world.set["reader.fetch_tagged"]:
            return self.does_without(query)
        number = 2 + len(source.read_on)
        if source.way.endswith("pointer"):
            fact = next(f for f in source.facts if f["key"] == key)
            number = world.page_of(source, fact)
        page = next((p for p in self.round if self.same(p, source, number)), None)
        if page is None:
            page = self.turn_to(source, number)
        self.reading[query["id"]] = page
        return "fetch"

    def same(self, page, source, number):
        """Tell whether *page* has been asked for in this round trip by who wants *number*."""
        if page.of is not source:
            return False
        if source.way == "page":
            return True
        return page.number == number and not POINTER_ASKS_AGAIN

    def turn_to(self, source, number):
        """Pass the page *number* of *source* to the door, and return it."""
        world = self.world
        facts = [f for f in source.facts if world.page_of(source, f) == number]
        size = min(source.limit, world.raw_size(source) - (number - 1) * source.limit)
        page = source.page(number, size, facts, world.turn, world.next_order())
        world.m.add("pages")
        self.round.append(page)
        if PAGE_COMES_AT_DOOR:
            source.last = page
        if world.knock(page):
            source.read_on.append(page)
            source.last = page
            self.brought.append(page)
            self.called = True
        else:
            source.kept_out[number] = page
        return page

    def wanted(self, query, sources):
        """Return which of *sources* is asked for: one that stated the fact and has a copy."""
        copied = [s for s in sources if s.copy and self.may_state(s, query["key"])]
        asked = self.world.sources[query["touches"][0]]
        if asked in copied and not NEWEST_COPY:
            return asked
        return max(copied, key=lambda s: s.order, default=None)

    def may_state(self, source, key):
        if ASKS_FOR_OLD_FACTS:
            return key in source.stated
        return key in (f["key"] for f in source.facts)

    def stated(self, r, key):
        """Tell whether a source of *r* stated *key*."""
        return any(self.may_state(s, key) for s in r.sources)

    def fetched(self, source):
        if source is None:
            return "abstained"
        self.asked_for = source
        if source.entered:
            self.ask(source)
        else:
            self.through_the_door(source)
        return "fetch"

    def late(self, query):
        """What is answered after the last round trip: a copy that came may say nothing of it."""
        if self.readable(query["key"]):
            return "correct"
        source = self.waits[query["id"]]
        came = source is not None and source.of is None and self.world.resident(source)
        return "abstained" if came else "deferred"

    def readable(self, key):
        return any(self.world.states(r, key) for r in self.world.window)

    def go_on(self, query):
        """Ask for the next page, where the last one that *query* asked for was not enough."""
        last = self.reading.get(query["id"])
        if last is None or self.readable(query["key"]):
            return
        if STOPS_WHERE_A_PAGE_LEFT and self.world.resident(last) is None:
            return
        paged = self.behind(query["key"])
        if paged is last.of:
            self.read_on(query, paged)

    def count(self):
        """Return how many resident files no current diagnostic names."""
        named = {n for s in self.world.newest() for n in s.names}
        files = [r for r in self.world.window if r.form == "full" and r.kind == "file"]
        return sum(1 for r in files if r.source.path not in named)

    def distracted(self, query, bulk):
        """Tell whether *bulk* irrelevant files spoil the answer."""
        spoilt = 1 - (1 - self.world.set["reader.distraction"]) ** bulk
        return uniform(self.world.seed, "distraction", query["id"]) < spoilt

    def say(self, query, outcome, at_once=False):
        """Book the answer, which what is irrelevant in the window may turn into a wrong one."""
        bulk = self.bulk if at_once else self.count() * FETCHED_IS_DISTRACTED
        if outcome == "correct" and self.distracted(query, bulk):
            outcome = "confabulated"
        self.world.m.answer(outcome, self.world.turn)
