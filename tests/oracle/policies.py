"""The ten policies, each by its rule and nothing more."""

from __future__ import annotations

GUARDED = ("file", "tool_result", "diff", "image", "note")
"""Kinds that must pass a guarded door."""


COMPACT_AGAIN = True
"""Whether a summary alone is summarised again while the window does not fit."""
ROOM_IN_PASS = True
"""Whether naive-rehydrate makes room for arrivals in its pass, the arrivals among what may go."""
LAST_TURN_AT_DOOR = True
"""Whether the rule of the last turn holds for what a door displaces in tier order."""


class Policy:
    """Removes nothing, admits everything, grants everything."""

    ignores_pins = untagged = grows = spends = reduces = restores = False

    def __init__(self, world):
        self.world = world

    def pinned(self, r):
        return any(s.pinned for s in r.sources) and r.full

    def free(self, r):
        """Tell whether *r* and what must leave with it may leave."""
        return not any(self.pinned(o) for o in self.world.group(r))

    def unpinned(self):
        return [r for r in self.world.window if self.free(r)]

    def door(self, source, size):
        return True

    def gate(self, source, size):
        return True

    def on_write(self):
        pass

    def act(self):
        pass


class NaiveTrim(Policy):
    """Drops the worst-ranked file first."""

    def act(self):
        world = self.world
        while world.over():
            ranked = [
                r
                for r in self.unpinned()
                if r.full and r.kind == "file" and r.source.rank is not None
            ]
            if not ranked:
                return
            world.evict(max(ranked, key=lambda r: (r.source.rank, -r.order)))


class SlidingWindow(Policy):
    """Drops the oldest by position."""

    ignores_pins = True

    def act(self):
        while self.world.over():
            self.world.evict(self.world.window[0])


class NaiveRewrite(Policy):
    """Rewrites what is irrelevant to one untagged line, and restores it from nothing."""

    untagged = grows = spends = restores = True

    def act(self):
        world = self.world
        below = world.set["rewrite.below"]
        for r in world.lowest(r for r in self.unpinned() if r.full):
            if r in world.window and (world.salience(r) < below or world.over()):
                world.rewrite([r], r.source.line or world.set["surrogate.tokens"], False)


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
            world.evict(world.lowest(world.window)[0])

    def act(self):
        self.displace(0)


class TagOrDrop(Policy):
    """Rewrites with a tag that pays, or drops; waits where it would spend what it frees."""

    def act(self):
        world = self.world
        self.relevance()
        if not world.spent:
            for r in world.lowest(r for r in self.unpinned() if r.full):
                if world.over() and r in world.window:
                    self.tag_or_drop(r)
        while world.over() and self.unpinned():
            world.evict(world.lowest(self.unpinned())[0])

    def full(self, r):
        return r.full

    def relevance(self):
        world = self.world
        if world.spent:
            return
        for r in world.lowest(r for r in self.unpinned() if self.full(r)):
            if r in world.window and world.salience(r) < world.set["rewrite.below"]:
                self.tag_or_drop(r)

    def tag_or_drop(self, r):
        world = self.world
        tokens = (r.source.line or world.set["surrogate.tokens"]) + world.set[
            "surrogate.tag_tokens"
        ]
        if r.source.taggable and (tokens < r.tokens or r.source.copy):
            world.rewrite([r], tokens, True)
        else:
            world.evict(r)


class Gated(Policy):
    """Slack, swap or refuse, for what comes back and for what comes in."""

    def limit(self):
        world = self.world
        return world.set["slack.trigger"] * world.budget

    def too_much(self, size, salience, leaving):
        """Tell whether *size* more would displace, once *leaving* has left."""
        world = self.world
        tokens = world.occupancy() + size - sum(r.tokens for r in leaving)
        if world.set["slack.occupancy"] == "mass":
            mass = sum(world.salience(r) for r in world.window if r not in leaving) + salience
            return mass > world.set["slack.trigger"] or tokens > world.budget
        return tokens > self.limit()

    def covering(self, source):
        keys = {f["key"] for f in source.facts}
        return [r for r in self.world.window if r.kind == "summary" and keys & r.facts]

    def verdict(self, source, size):
        """Return (how, displaced set)."""
        world = self.world
        salience = world.salience(source)
        held = sum(r.tokens for r in world.window if r.kind in ("system", "task"))
        if size > world.budget - held:
            return "oversize", []
        leaving = []
        while self.too_much(size, salience, leaving):
            group = self.next_out(source, size, leaving)
            if group is None:
                break
            leaving += group
        if self.too_much(size, salience, leaving):
            return "pinned", []
        if not leaving:
            return "slack", []
        scores = [world.salience(r) for r in leaving]
        against = {"min": min, "max": max, "sum": sum}[world.set["rehydrate.comparison"]](scores)
        if salience > against + world.set["rehydrate.margin"]:
            return "swap", leaving
        return "margin", []

    def may_leave(self, source, leaving):
        """Groups that may leave for *source*: unpinned, and neither its call nor its summary."""
        world = self.world
        summaries = self.covering(source)
        found = []
        for r in world.window:
            group = world.group(r)
            mine = any(o.full and o.source.pair and o.source.pair == source.pair for o in group)
            barred = mine or not self.free(r) or any(o in summaries for o in group)
            if r not in leaving and not barred:
                found.append(r)
        return found

    def next_out(self, source, size, leaving):
        found = self.world.lowest(self.may_leave(source, leaving))
        return self.world.group(found[0]) if found else None

    def leave(self, leaving):
        for r in leaving:
            if r in self.world.window:
                self.world.evict(r)

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
        while world.over() and self.unpinned():
            world.evict(world.lowest(self.unpinned())[0])


class Tiered(Policy):
    """Superseded lines, then bulk files, then the rest; pins by role."""

    reduces = True

    # -- pins

    def latest(self):
        """The most recent result per tool that was admitted."""
        found = {}
        for r in self.world.window:
            s = r.sources[0]
            if r.full and s.kind == "tool_result" and s.tool is not None:
                old = found.get(s.tool)
                if old is None or old.order < r.order:
                    found[s.tool] = r
        return list(found.values())

    def named(self):
        return {name for r in self.latest() for name in r.source.names}

    def written(self):
        return {p for _, attempt, p in self.world.written if attempt == self.world.attempt}

    def pinned(self, r):
        if super().pinned(r):
            return True
        if not r.full:
            return False
        if r.kind in ("tools", "system", "task") or r.source.standing or r in self.latest():
            return True
        return r.kind == "file" and r.source.path in (self.named() | self.written())

    # -- acting

    def on_write(self):
        self.fresh()

    def fresh(self):
        for r in self.world.window:
            if r.full and r.source.path is not None and not self.world.current(r):
                self.world.refresh(r)

    def act(self):
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
            group = self.pick(lines, excess, self.world.set["line_tokens"])
            self.world.rewrite(group, self.world.set["line_tokens"], True, exempt=True)
            return True
        for tier in self.tiers():
            if tier:
                self.world.evict(self.pick(tier, excess, 0)[0])
                return True
        return False

    def pick(self, groups, excess, leaves, last_turn=True):
        """Last position first; on the last turn the smallest that suffices, else the largest."""
        world = self.world
        groups = sorted(groups, key=lambda g: -max(world.window.index(o) for o in g))
        if world.turn < world.set["turns"] or not last_turn:
            return groups[0]
        size = {id(g): sum(o.tokens for o in g) - leaves for g in groups}
        enough = [g for g in groups if size[id(g)] >= excess]
        if enough:
            return min(enough, key=lambda g: size[id(g)])
        return max(groups, key=lambda g: size[id(g)])

    def lines(self, coming=None):
        """Superseded results, and the words and diffs of superseded attempts, each as a group."""
        world = self.world
        found = []
        latest = self.latest()
        for r in self.unpinned():
            s = r.sources[0]
            old = r.full and s.kind == "tool_result" and s.tool is not None and r not in latest
            if old:
                found.append([r])
        for number in {r.sources[0].attempt for r in world.window} - {None, world.attempt}:
            group = [
                r
                for r in self.unpinned()
                if r.full
                and r.source.attempt == number
                and r.kind in ("assistant", "thinking", "diff")
            ]
            if group:
                found.append(group)
        tokens = world.set["line_tokens"]
        return [
            g
            for g in found
            if sum(o.tokens for o in g) > tokens and all(o.source.taggable for o in g)
        ]

    def tiers(self):
        """Groups that may go: bulk files, those of this turn, and the rest."""
        world = self.world
        free = [r for r in self.unpinned()]
        bulk = [r for r in free if r.full and r.kind == "file"]
        old = [r for r in bulk if r.came < world.turn]
        rest = [r for r in free if r not in bulk]
        return [[world.group(r) for r in tier] for tier in (old, bulk, rest)]


class Disciplined(Tiered, Gated, TagOrDrop):
    """Reduce, superseded lines, the door, the relevance pass, the tiers."""

    at_door = False

    def full(self, r):
        return r.full and r.kind != "summary"

    def latest(self):
        coming = getattr(self, "coming", None)
        return [r for r in super().latest() if coming is None or r.source.tool != coming]

    def door(self, source, size):
        world = self.world
        if source.pinned or source.kind not in GUARDED:
            return True
        self.coming = source.tool if source.kind == "tool_result" else None
        while self.too_much(size, world.salience(source), []) and self.lines():
            group = self.pick(self.lines(), 0, 0)
            world.rewrite(group, world.set["line_tokens"], True, exempt=True)
        self.at_door = True
        admitted = Gated.door(self, source, size)
        self.at_door = False
        self.coming = None
        return admitted

    def next_out(self, source, size, leaving):
        """At the door the tiers decide who goes next."""
        if not self.at_door:
            return Gated.next_out(self, source, size, leaving)
        world = self.world
        allowed = self.may_leave(source, leaving)
        excess = world.occupancy() + size - sum(r.tokens for r in leaving) - self.limit()
        for tier in self.tiers():
            groups = [g for g in tier if g[0] in allowed]
            if groups:
                return self.pick(groups, excess, 0, LAST_TURN_AT_DOOR)
        return None

    def act(self):
        self.fresh()
        self.relevance()
        self.fit()


class Compaction(Policy):
    """Over its share of the budget, everything unpinned becomes one tagged summary."""

    spends = True

    def act(self):
        world = self.world
        if world.occupancy() <= world.set["compaction.at"] * world.budget:
            return
        group = self.unpinned()
        before = sum(r.tokens for r in group)
        if not group:
            return
        tokens = max(1, int(world.set["compaction.share"] * before))
        world.rewrite(group, tokens, True, whole=world.look_up())
        if COMPACT_AGAIN and before > 1:
            self.act()


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
