"""The ten policies, each by its rule and nothing more.

What may leave is always a *unit*: a list of residents that leave together, a call and its result
or one resident alone. What holds for a call is what holds for its result.
"""

from __future__ import annotations

GUARDED = ("file", "tool_result", "diff", "image", "note")
"""Kinds that must pass a guarded door."""

# Readings that the definition leaves open, as the project settled them.
REFRESHED = ("file", "tool_result")
"""Kinds of which a stale copy is refreshed; one of another kind, as a diff, stays as it is."""
FRESH_IN_PASS = True
"""Whether a copy that is stale because the world replaced another of its path is refreshed, too."""
SPARE_ALL_LONE_CALLS = True
"""Whether what came this turn is spared as a call under way although its result was refused, or
it is the surrogate of a call."""
COMPACT_AGAIN = True
"""Whether a summary alone is summarised again while the window does not fit."""
ROOM_IN_PASS = True
"""Whether naive-rehydrate makes room for arrivals in its pass, the arrivals among what may go."""
LAST_TURN_AT_DOOR = True
"""Whether the rule of the last turn holds for what a door displaces in tier order."""
DROPS_ANY_TIME = True
"""Whether what cannot be tagged is dropped in a turn in which rewriting waits, too."""
LONE_CALLS_WAIT = True
"""Whether a call whose result was refused waits all the same."""
SURROGATES_COVER = True
"""Whether a surrogate that kept a fact of what comes in is spared like a summary."""


class Policy:
    """Removes nothing, admits everything, grants everything."""

    ignores_pins = untagged = grows = spends = restores = False
    arrival, delta = "off", False

    def __init__(self, world):
        self.world = world

    def option(self, name, value):
        """Set one of the options that decide in which form a result enters."""
        assert name in ("arrival", "delta"), name
        if name == "arrival":
            self.arrival = value
        else:
            self.delta = value == "on"

    def pinned(self, r):
        return r.full and any(s.pinned for s in r.sources)

    def held(self, unit):
        return any(self.pinned(r) for r in unit)

    def free(self):
        """Return the units that may leave."""
        return [u for u in self.world.units() if not self.held(u)]

    def door(self, source, size):
        return True

    def gate(self, source, size):
        return True

    def on_write(self, path):
        pass

    def act(self):
        pass

    def lowest(self, units):
        """Return *units*, least salient first, of equals the older first."""
        return sorted(units, key=lambda u: (self.salience(u), min(r.order for r in leading(u))))

    def salience(self, unit):
        return min(map(self.world.salience, leading(unit)))


def leading(unit):
    """Return those that speak for the unit: the results, not the call."""
    return [r for r in unit if r.kind != "tool_call"] or unit


def full(unit):
    return any(r.full for r in leading(unit))


def lone_call(unit):
    return len(unit) == 1 and unit[0].kind == "tool_call" and unit[0].pair is not None


def taggable(unit):
    return all(s.taggable for r in unit for s in r.sources)


def tokens(unit):
    return sum(r.tokens for r in unit)


class NaiveTrim(Policy):
    """Drops the worst-ranked file first."""

    def act(self):
        world = self.world
        while world.over():
            ranked = [
                (r.source.rank, -r.order, u)
                for u in self.free()
                for r in u
                if r.form == "full" and r.kind == "file" and r.source.rank is not None
            ]
            if not ranked:
                return
            world.evict(max(ranked)[2])


class SlidingWindow(Policy):
    """Drops the oldest by position."""

    ignores_pins = True

    def act(self):
        while self.world.over():
            self.world.evict(self.world.units()[0])


class NaiveRewrite(Policy):
    """Rewrites what is irrelevant to one untagged line, and restores it from nothing."""

    untagged = grows = spends = restores = True

    def act(self):
        world = self.world
        below = world.set["rewrite.below"]
        for u in self.lowest(u for u in self.free() if full(u)):
            if self.salience(u) < below or world.over():
                world.rewrite(u, world.line(u), False)


class NaiveRehydrate(Policy):
    """Fetches on salience alone; the least salient leave, pins included."""

    ignores_pins = True

    def door(self, source, size):
        if not ROOM_IN_PASS:
            self.displace(size)
        return True

    def displace(self, size):
        world = self.world
        while world.window and world.occupancy() + size > world.budget:
            world.evict(self.lowest(world.units())[0])

    def act(self):
        self.displace(0)


class TagOrDrop(Policy):
    """Rewrites with a tag that pays, or drops; waits where it would spend what it frees."""

    def act(self):
        world = self.world
        self.relevance()
        if not world.spent:
            for u in self.lowest(u for u in self.free() if full(u)):
                if world.over():
                    self.tag_or_drop(u, must_free=True)
        while world.over() and self.free():
            world.evict(self.lowest(self.free())[0])

    def relevant(self, unit):
        """Tell whether the relevance pass looks at *unit*."""
        return full(unit)

    def relevance(self):
        world = self.world
        for u in self.lowest(u for u in self.free() if self.relevant(u)):
            if self.salience(u) < world.set["rewrite.below"]:
                self.tag_or_drop(u)

    def tag_or_drop(self, unit, must_free=False):
        world = self.world
        line = world.line(unit) + world.set["surrogate.tag_tokens"]
        shrinks = line < tokens(unit)
        copied = all(s.copy for r in unit for s in r.sources) and not must_free
        if taggable(unit) and (shrinks or copied):
            if not world.spent:
                world.rewrite(unit, line, True)
        elif not world.spent or (DROPS_ANY_TIME and not (LONE_CALLS_WAIT and lone_call(unit))):
            world.evict(unit)


class Gated(Policy):
    """Slack, swap or refuse, for what comes back and for what comes in."""

    def limit(self):
        """Return the tokens up to which there is room."""
        world = self.world
        share = 1 if world.set["slack.occupancy"] == "mass" else world.set["slack.trigger"]
        return share * world.budget

    def too_much(self, size, salience, leaving):
        """Tell whether *size* more would displace, once *leaving* has left."""
        world = self.world
        amount = world.occupancy() + size - tokens(leaving)
        if world.set["slack.occupancy"] == "mass":
            mass = sum(world.salience(r) for r in world.window if r not in leaving) + salience
            return mass > world.set["slack.trigger"] or amount > self.limit()
        return amount > self.limit()

    def covers(self, r, source):
        """Tell whether *r* is a summary that covers a fact of *source*."""
        keys = {f["key"] for f in source.facts}
        summary = r.kind == "summary" or (SURROGATES_COVER and not r.full)
        return summary and any(k in r.facts for k in keys)

    def verdict(self, source, size):
        """Return (how, displaced set)."""
        world = self.world
        salience = world.salience(source)
        if size > world.budget - tokens(r for r in world.window if r.kind in ("system", "task")):
            return "oversize", []
        leaving, scores = [], []
        while self.too_much(size, salience, leaving):
            unit = self.next_out(source, size, leaving)
            if unit is None:
                return "pinned", []
            leaving += unit
            scores.append(self.salience(unit))
        if not leaving:
            return "slack", []
        against = {"min": min, "max": max, "sum": sum}[world.set["rehydrate.comparison"]](scores)
        if salience > against + world.set["rehydrate.margin"]:
            return "swap", leaving
        return "margin", []

    def may_leave(self, source, leaving):
        """Units that may leave for *source*: unpinned, no call under way, no covering summary."""
        return [
            u
            for u in self.free()
            if u[0] not in leaving
            and not any(self.covers(r, source) for r in u)
            and not self.under_way(u)
            and not any(r.pair is not None and r.pair == source.pair for r in u)
        ]

    def under_way(self, unit):
        """Tell whether *unit* is a call of this turn without its result."""
        r = unit[0]
        if not SPARE_ALL_LONE_CALLS:
            return r.form == "full" and r.pair in self.world.coming
        turn = r.source.turn if r.full else r.came
        return lone_call(unit) and turn == self.world.turn

    def next_out(self, source, size, leaving):
        found = self.lowest(self.may_leave(source, leaving))
        return found[0] if found else None

    def leave(self, leaving):
        for r in leaving:
            self.world.evict([r])

    def gate(self, source, size):
        how, leaving = self.verdict(source, size)
        name = how if how in ("slack", "swap") else "refused"
        self.world.m.add(f"rehydrated_{name}")
        self.leave(leaving)
        return name != "refused"

    def door(self, source, size):
        if source.pinned or source.kind not in GUARDED:
            return True
        how, leaving = self.verdict(source, size)
        self.leave(leaving)
        return how in ("slack", "swap")


class SlackSwapRefuse(Gated):
    """The gate, and a pass for what came in untested."""

    def act(self):
        world = self.world
        while world.over() and self.free():
            world.evict(self.lowest(self.free())[0])


class Tiered(Policy):
    """Superseded lines, then bulk files, then the rest; pins by role."""

    arrival = "on"

    # -- pins

    def standing(self):
        """The newest results and what they rest on: none of these is superseded."""
        found = []
        for s in self.world.newest():
            while s is not None:
                found.append(s)
                s = s.rests_on
        return found

    def latest(self):
        """Of each of them, what is pinned: of a result's pages only the last to come."""
        found = [s.last or s for s in self.standing()]
        return [r for r in self.world.window if r.full and r.source in found]

    def superseded(self, source):
        return (source.of or source) not in self.standing()

    def named(self):
        return {name for s in self.world.newest() for name in s.names}

    def written(self):
        """Paths written since the attempt under way began."""
        return {path for turn, path in self.world.written if turn >= self.world.attempt_turn}

    def pinned(self, r):
        if super().pinned(r):
            return True
        if not r.full:
            return False
        if r.kind in ("tools", "system", "task") or r.source.standing or r in self.latest():
            return True
        return r.kind == "file" and r.source.path in (self.named() | self.written())

    # -- acting

    def on_write(self, path):
        self.fresh(path)

    def fresh(self, path=None):
        for r in self.world.window:
            if path not in (None, r.source.path):
                continue
            if r.kind not in REFRESHED:
                continue
            if r.full and r.source.path is not None and not self.world.current(r):
                self.world.refresh(r)

    def act(self):
        if FRESH_IN_PASS:
            self.fresh()
        self.fit()

    def fit(self):
        world = self.world
        while world.over():
            if not self.step(world.occupancy() - world.budget):
                return

    def step(self, excess):
        """Take one action; return whether there was one."""
        lines = self.lines()
        if lines:
            self.make_line(self.pick(lines, excess, self.world.set["line_tokens"]))
            return True
        for tier in self.tiers():
            if tier:
                self.world.evict(self.pick(tier, excess, 0))
                return True
        return False

    def make_line(self, unit):
        """Make one line of *unit*, or evict the last of it that cannot be tagged."""
        world = self.world
        for u in reversed(world.units()):
            if u[0] in unit and not taggable(u):
                world.evict(u)
                return
        world.rewrite(unit, world.set["line_tokens"], True, exempt=True)

    def place(self, unit):
        """Position of a unit: its result's, or the front of the words of an attempt."""
        places = [self.world.window.index(r) for r in unit]
        return max(places) if len({r.pair for r in unit}) == 1 and unit[0].pair else min(places)

    def pick(self, units, excess, leaves, last_turn=True):
        """Last position first; on the last turn the smallest that suffices, else the largest."""
        world = self.world
        units = sorted(units, key=self.place, reverse=True)
        if world.turn < world.set["turns"] or not last_turn:
            return units[0]
        enough = [u for u in units if tokens(u) - leaves >= excess]
        return min(enough, key=tokens) if enough else max(units, key=tokens)

    def lines(self):
        """Superseded results, and the words and diffs of each superseded attempt."""
        world, words = self.world, {}
        found = []
        for u in self.free():
            for r in u:
                s = r.sources[0]
                if r.form != "full":
                    continue
                if r.kind == "tool_result" and s.tool is not None and self.superseded(s):
                    found.append(u)
                old = s.attempt is not None and s.attempt != world.attempt
                if old and r.kind in ("assistant", "thinking", "diff"):
                    words.setdefault(s.attempt, []).extend(u)
        return [u for u in found + list(words.values()) if tokens(u) > world.set["line_tokens"]]

    def tiers(self):
        """Units that may go: bulk files, those of this turn, and the rest."""
        free = self.free()
        bulk = [u for u in free if any(r.form == "full" and r.kind == "file" for r in u)]
        old = [u for u in bulk if max(r.came for r in leading(u)) < self.world.turn]
        return [old, bulk, [u for u in free if u not in bulk]]


class Disciplined(Tiered, Gated, TagOrDrop):
    """Reduce, superseded lines, the door, the relevance pass, the tiers."""

    at_door = False

    def relevant(self, unit):
        return any(r.full and r.kind != "summary" for r in leading(unit))

    def door(self, source, size):
        world = self.world
        if source.pinned or source.kind not in GUARDED:
            return True
        held = tokens(r for r in world.window if r.kind in ("system", "task"))
        while (
            size <= world.budget - held and world.occupancy() + size > self.limit() and self.lines()
        ):
            excess = world.occupancy() + size - self.limit()
            self.make_line(self.pick(self.lines(), excess, world.set["line_tokens"]))
        self.at_door = True
        admitted = Gated.door(self, source, size)
        self.at_door = False
        return admitted

    def next_out(self, source, size, leaving):
        """At the door the tiers decide who goes next."""
        if not self.at_door:
            return Gated.next_out(self, source, size, leaving)
        allowed = [u[0] for u in self.may_leave(source, leaving)]
        excess = self.world.occupancy() + size - tokens(leaving) - self.limit()
        for tier in self.tiers():
            units = [u for u in tier if u[0] in allowed]
            if units:
                return self.pick(units, excess, 0, LAST_TURN_AT_DOOR)
        return None

    def act(self):
        if FRESH_IN_PASS:
            self.fresh()
        self.relevance()
        self.fit()


class Compaction(Policy):
    """Over its share of the budget, everything unpinned becomes one tagged summary."""

    spends = True

    def act(self):
        world = self.world
        if world.occupancy() > world.set["compaction.at"] * world.budget:
            while self.compact() and COMPACT_AGAIN and world.over():
                pass

    def compact(self):
        """Make the summary; return whether one was made."""
        world = self.world
        everything = [r for u in self.free() for r in u]
        before = tokens(everything)
        size = max(1, int(world.set["compaction.share"] * before))
        if size >= before:
            return False
        world.rewrite(everything, size, True, whole=world.look_up())
        return True


POLICIES = {
    "no-op": Policy,
    "naive-trim": NaiveTrim,
    "sliding-window": SlidingWindow,
    "naive-rewrite": NaiveRewrite,
    "naive-rehydrate": NaiveRehydrate,
    "tag-or-drop": TagOrDrop,
    "slack-swap-refuse": SlackSwapRefuse,
    "tiered": Tiered,
    "disciplined": Disciplined,
    "compaction": Compaction,
}
