"""The world: segments, window, books, the turn and its call. All is scanned, nothing indexed."""

from __future__ import annotations

from .cache import Cache, cost, prefill, price_row
from .metrics import Metrics
from .policies import POLICIES
from .reader import answers

CLOCK_FROM_CALL = True
"""Whether a turn of fixed length is counted from its call, and not from its own beginning."""
RESTORE_IS_PRICED = False
"""Whether the text a model makes up when asked to restore is a call of its own."""

SPARE_REFUSED_CALLS = True
"""Whether a call of this turn is spared after its result was refused, at the door and the gate."""

SURROGATE_KEEPS_PAIR = True
"""Whether the surrogate of a call or result alone is one itself, and leaves with the other."""

READS = ("file", "tool_result", "image")
"""Kinds that count as spending when they come without a copy."""


class Source:
    """What arrived once, and what the world knows of it."""

    def __init__(self, stimulus, turn, order):
        get = stimulus.get
        self.id, self.kind, self.tokens = stimulus["id"], stimulus["kind"], stimulus["tokens"]
        self.turn, self.order = turn, order
        self.score, self.scored = get("score", 1.0), turn
        self.copy, self.pinned = get("copy", False), get("pinned", False)
        self.standing, self.taggable = get("standing", False), get("taggable", True)
        self.path, self.tool, self.pair = get("path"), get("tool"), get("pair")
        self.attempt, self.rank = get("attempt"), get("rank")
        self.names = get("names") or []
        self.line, self.limit = get("surrogate_tokens"), get("max_result_tokens")
        self.structure = get("structure")
        self.facts = get("facts") or []
        self.version = 0  # for what has no path
        self.refused = False  # never admitted so far


class Resident:
    """One place in the window: a full segment, a surrogate, or invented text."""

    def __init__(self, key, kind, tokens, order, sources):
        self.key, self.kind, self.tokens = key, kind, tokens
        self.order, self.sources = order, sources
        self.form = "full"  # full, surrogate, invented
        self.version = 0
        self.facts = {}  # keys that can be read here -> (source, its version then)
        self.tagged = False
        self.pair = None
        self.came = 0  # turn in which it was admitted or fetched

    @property
    def full(self):
        return self.form != "surrogate"

    @property
    def source(self):
        return self.sources[0]


class World:
    """One run of a script under a policy."""

    def __init__(self, script, policy, option=None):
        self.script, self.set = script, script["settings"]
        self.budget, self.seed = self.set["budget"], script["seed"]
        self.policy = POLICIES[policy](self)
        self.m = Metrics(self.budget)
        self.row = price_row(self.set["price"], self.set)
        self.cache = Cache(self.row)
        self.sources, self.window = {}, []
        self.paths = {}  # path -> [version, tokens or None, facts or None]
        self.written = []  # (turn, path)
        self.turn, self.clock, self.attempt, self.count = 0, 0.0, None, 0
        self.failed, self.writing, self.attempt_turn = None, 0.0, 0
        self.powers = [1.0]
        for _ in range(self.set["turns"] + 1):
            self.powers.append(self.powers[-1] * self.set["salience.decay"])

    # -- what can be seen

    def salience(self, thing):
        """Return s(t) of a source, or of a resident: its best source's."""
        if isinstance(thing, Resident):
            return max(self.salience(s) for s in thing.sources)
        return thing.score * self.powers[self.turn - thing.scored]

    def occupancy(self):
        return sum(r.tokens for r in self.window)

    def over(self):
        return self.occupancy() > self.budget

    def resident(self, source):
        """Return where *source* stands in full, or None."""
        return next((r for r in self.window if r.form == "full" and r.source is source), None)

    def surrogate(self, source):
        """Return the surrogate or invented text that stands for *source*, or None."""
        return next((r for r in self.window if r.form != "full" and source in r.sources), None)

    def version(self, source):
        if source.path is not None:
            return self.paths.get(source.path, [0])[0]
        return source.version

    def current(self, r):
        return r.version == self.version(r.source)

    def states(self, r, key):
        """Tell whether *r* states the current value of *key*, None if it does not state it."""
        if key not in r.facts or r.form == "invented":
            return None
        source, version = r.facts[key]
        return version == self.version(source)

    def raw_size(self, source):
        """Return the size of the current version."""
        written = self.paths.get(source.path) if source.path is not None else None
        if written and written[1] is not None:
            return written[1]
        return source.tokens

    def reduced(self, source):
        """Return the size after a reduction at arrival."""
        raw, structure = self.raw_size(source), source.structure
        if source.limit is None or raw <= source.limit:
            return raw
        if structure is None:
            return source.limit
        fit = (source.limit - structure["notice_tokens"]) // structure["entry_tokens"]
        fit = max(0, min(fit, structure["groups"]))
        return fit * structure["entry_tokens"] + structure["notice_tokens"]

    def entering(self, source):
        """Return the size at which *source* would enter under this policy."""
        return self.reduced(source) if self.policy.reduces else self.raw_size(source)

    def fact_keys(self, source, reduced):
        facts = source.facts
        written = self.paths.get(source.path) if source.path is not None else None
        if written and written[2] is not None:
            facts = written[2]
        keys = {f["key"] for f in facts if not reduced or f.get("reducible", True)}
        return dict.fromkeys(keys, (source, self.version(source)))

    def units(self):
        """Return the window as lists of what leaves together: a call and its results, or one."""
        units = []
        for r in self.window:
            mates = [u for u in units if u[0].pair is not None and u[0].pair == r.pair]
            if mates:
                mates[0].append(r)
            else:
                units.append([r])
        return units

    def line(self, unit):
        """Return the length of the text that a rewrite of *unit* would leave."""
        own = [r.source.line for r in unit if r.full and r.source.line is not None]
        return max(own) if own else self.set["surrogate.tokens"]

    # -- what can be done

    def tick(self):
        self.count += 1
        return self.count

    def admit(self, source, size, how="admitted"):
        raw = self.raw_size(source)
        r = Resident(source.id, source.kind, size, source.order, [source])
        r.version, r.pair = self.version(source), source.pair
        r.facts = self.fact_keys(source, size < raw)
        r.came = self.turn
        self.window.append(r)
        self.m.add(f"{how}_tokens", size)
        if how == "admitted":
            if not source.refused:
                self.m.add("never_admitted_tokens", raw - size)
            if source.kind in READS and not source.copy:
                self.spent = True
        else:
            self.m.add("fetches")
        source.refused = source.cut = False
        source.entered = True
        return r

    def refuse(self, source):
        if not source.refused:
            self.m.add("never_admitted_tokens", self.raw_size(source))
        source.refused = True

    def evict(self, unit):
        """Evict all of *unit*."""
        for r in list(unit):
            if r.full and any(s.pinned for s in r.sources):
                assert self.policy.ignores_pins, r.key
                self.m.add("breaches")
            self.window.remove(r)
            copy = all(s.copy for s in r.sources) and r.form != "invented"
            self.m.add("evicted_copy_tokens" if copy else "evicted_dispensable_tokens", r.tokens)
            self.m.add("evictions")
            self.edited = True

    def rewrite(self, group, tokens, tagged, exempt=False, whole=None):
        """Replace *group* by one surrogate where its first member stood; *whole*: cost of input."""
        place = min(self.window.index(o) for o in group)
        before = sum(o.tokens for o in group)
        sources = [s for o in group for s in o.sources]
        facts = {k: v for o in group for k, v in o.facts.items()}
        for o in group:
            self.window.remove(o)
        r = Resident(f"s{self.tick()}", "surrogate", tokens, self.next_order(), sources)
        r.form, r.tagged = "surrogate", tagged
        if SURROGATE_KEEPS_PAIR and len(group) == 1 and group[0].pair is not None:
            r.kind, r.pair = group[0].kind, group[0].pair
        r.facts = facts if self.set["surrogate.keep"] == 1 else {}
        r.came = self.turn
        self.window.insert(place, r)
        self.m.add("rewrites")
        self.m.add("rewritten_tokens", before)
        self.m.add("surrogate_tokens", tokens)
        self.edited = True
        if not tagged:
            assert self.policy.untagged
            self.m.add("breaches")
        if tokens >= before and not all(s.copy for s in sources):
            assert self.policy.grows
            self.m.add("breaches")
        if self.spent and not exempt:
            assert self.policy.spends
            self.m.add("breaches")
        self.maintain(before, tokens, whole)
        return r

    def look_up(self):
        """Send the window as it stands; return what was read, written and plain."""
        request = [(r.key, r.version, r.tokens, r.kind) for r in self.window]
        return self.cache.call(self.clock, request, self.set.get("cache.breakpoints") or ())

    def maintain(self, before, tokens, whole=None):
        """Book the model's call that wrote *tokens*."""
        read, written, plain = whole or (0, 0, before)
        usd, out = cost(self.row, read + written + plain, read, written, plain, tokens)
        seconds = prefill(self.row, read + written + plain, read) + tokens / self.row["decode_rate"]
        self.writing = max(self.writing, seconds)
        self.m.add("maintenance_cost_usd", usd + out)
        self.m.add("output_tokens", tokens)

    def restore(self, r):
        """Replace the surrogate *r* by text made up."""
        size = self.set["restore_tokens"]
        self.m.add("rewritten_tokens", r.tokens)
        self.m.add("fabricated_tokens", size)
        if RESTORE_IS_PRICED:
            self.maintain(r.tokens, size)
        r.form, r.tokens, r.key = "invented", size, f"i{self.tick()}"

    def refresh(self, r):
        """Bring *r* to the current version where it stands."""
        source = r.source
        size = self.entering(source)
        self.m.add("refreshes")
        self.m.add("refreshed_out_tokens", r.tokens)
        self.m.add("refreshed_in_tokens", size)
        r.facts = self.fact_keys(source, size < self.raw_size(source))
        r.tokens, r.version = size, self.version(source)

    def next_order(self):
        self.orders += 1
        return self.orders

    # -- a turn

    def stimuli(self, turn):
        found = [s for s in self.script["stimuli"] if s["turn"] == turn]
        here = next((a for a in self.script["attempts"] if a["turn"] == turn), None)
        outcome = None
        if here is not None:
            outcome = self.begin_attempt(here)
            found = found + list(here.get(outcome) or [])
        return found, here, outcome

    def begin_attempt(self, attempt):
        number = attempt["number"]
        if self.attempt is not None and not self.traced(self.attempt):
            self.m.add("repeated_attempts")
        self.attempt, self.attempt_turn = number, self.turn
        self.m.add("attempts")
        needs = attempt.get("needs")
        if needs is None:
            return "failed"
        met = all(self.readable(k) for k in needs.get("facts", ()))
        for path in needs.get("paths", ()):
            met = met and any(
                r.full and r.source.path == path and self.current(r) for r in self.window
            )
        return "ok" if met else "failed"

    def traced(self, number):
        for r in self.window:
            for s in r.sources:
                words = s.kind in ("assistant", "thinking", "user", "diff")
                if s.attempt == number and (words or not r.full):
                    return True
        return False

    def readable(self, key):
        return any(self.states(r, key) for r in self.window)

    def run(self):
        self.orders = len(self.script["stimuli"]) * 100
        status, reason = "completed", ""
        for turn in range(1, self.set["turns"] + 1):
            self.turn = turn
            self.m.add("turns")
            self.spent = self.edited = False
            found, attempt, outcome = self.stimuli(turn)
            self.clock += sum(s["seconds"] for s in found if s["type"] == "wait")
            begun = self.clock
            self.play(found)
            if self.edited:
                self.m.add("edit_turns")
            if self.failed:
                status, reason = "failed", self.failed
                break
            if self.set["clock.turn_seconds"]:
                start = self.called_at if CLOCK_FROM_CALL else begun
                self.clock = start + self.set["clock.turn_seconds"] + self.extra_seconds
            if attempt is not None:
                if outcome == "ok":
                    break
                last = attempt is self.script["attempts"][-1]
                if last and not self.script["attempts_cut"]:
                    status, reason = "failed", "attempts exhausted"
                    break
        self.m.values["total_seconds"] = self.clock
        self.m.values["resident_tokens"] = self.occupancy()
        return {"status": status, "reason": reason, **self.m.finish()}

    def play(self, found):
        self.freed_at_door = 0  # what a door displaced or refused this turn
        self.extra_seconds = 0.0
        arrivals = [s for s in found if s["type"] == "arrival"]
        arrivals.sort(key=lambda s: s.get("time", 0))
        begun = self.clock
        for n, s in enumerate(arrivals):
            self.clock = begun + s.get("time", 0)
            self.under_way = self.spared(arrivals[:n], arrivals[n:])
            self.arrive(s)
        self.under_way = self.spared(arrivals, [])
        for s in found:
            if s["type"] == "write":
                self.write(s)
            elif s["type"] == "refresh":
                self.world_refresh(s)
        self.m.highest("peak_demand_tokens", self.occupancy() + self.freed_at_door)
        self.called_at = self.clock
        self.check_pins()
        if self.failed:
            return
        self.make_fit()
        if self.failed:
            return
        self.call()
        answers(self, found)

    def spared(self, before, coming):
        """Return the pairs of calls that are not displaced: their results are still to come."""
        pairs = {a["pair"] for a in coming if a.get("pair") is not None}
        if SPARE_REFUSED_CALLS:
            pairs |= {a["pair"] for a in before if a.get("pair") and self.sources[a["id"]].refused}
        return pairs

    def arrive(self, stimulus):
        source = Source(stimulus, self.turn, self.next_order())
        self.sources[source.id] = source
        source.entered = source.cut = False
        size = self.entering(source)
        before = self.occupancy()
        if self.policy.door(source, size):
            self.admit(source, size)
            self.freed_at_door += before + size - self.occupancy()
        else:
            self.refuse(source)
            self.freed_at_door += before + size - self.occupancy()

    def write(self, s):
        old = self.paths.get(s["path"], [0, None, None])
        tokens = s.get("tokens") if s.get("tokens") is not None else old[1]
        facts = s.get("facts") if s.get("facts") is not None else old[2]
        self.paths[s["path"]] = [old[0] + 1, tokens, facts]
        self.written.append((self.turn, s["path"]))
        self.policy.on_write()

    def world_refresh(self, s):
        source = self.sources[s["segment"]]
        if source.path is not None:
            old = self.paths.get(source.path, [0, None, None])
            self.paths[source.path] = [old[0] + 1, s["tokens"], old[2]]
        else:
            source.version += 1
        source.tokens = s["tokens"]
        r = self.resident(source)
        if r is not None:
            self.refresh(r)

    def check_pins(self):
        if self.policy.ignores_pins:
            return
        pinned = [r for u in self.units() if self.policy.held(u) for r in u]
        if sum(r.tokens for r in pinned) > self.budget:
            self.failed = "pins"

    def make_fit(self):
        """Let the policy act, then check, then cut what is still too much."""
        self.policy.act()
        if not self.set["clock.turn_seconds"]:
            self.clock += self.writing
        self.writing = 0.0
        if not self.over():
            return
        if not self.policy.ignores_pins and not self.policy.free():
            self.failed = "pins"
            return
        while self.over():
            for r in self.units()[0]:
                self.window.remove(r)
                for s in r.sources:
                    s.cut = True
                self.m.add("truncated_tokens", r.tokens)
                if r.form != "surrogate":
                    self.m.add("policy_bugs")

    def call(self, extra=False):
        read, written, plain = self.look_up()
        total = read + written + plain
        output = self.script["output_tokens"].get(str(self.turn), self.set["call.output_tokens"])
        usd, out = cost(self.row, total, read, written, plain, output)
        seconds = prefill(self.row, total, read)
        self.m.call(total, read, written, plain, output, usd, out, seconds)
        if not self.set["clock.turn_seconds"]:
            self.clock += seconds + output / self.row["decode_rate"]

    def extra_call(self):
        if self.set["clock.turn_seconds"]:
            self.extra_seconds += self.set["clock.extra_call_seconds"]
        self.clock += self.set["clock.extra_call_seconds"]
        self.call(extra=True)


def run(script, policy):
    """Return every metric of *script* under *policy*."""
    return World(script, policy).run()
