"""The world: segments, window, books, the turn and its call. All is scanned, nothing indexed."""

from __future__ import annotations

from copy import copy

from sim.streams import uniform

from .cache import Cache, cost, prefill, price_row
from .forms import LEAST_IS_OF_ARRIVAL, Forms
from .metrics import Metrics
from .policies import POLICIES
from .reader import answers

PAGE_LINES_RISE = True
"""Whether what stands for a page is re-scored with the result of the page."""
CLOCK_FROM_CALL = True
"""Whether a turn of fixed length is counted from its call, and not from its own beginning."""
EXTRA_WAITS_IN_FREE_CLOCK = False
"""Whether `clock.extra_call_seconds` counts where turns have no fixed length."""
RESTORE_IS_PRICED = False
"""Whether the text a model makes up when asked to restore is a call of its own."""

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
        self.structure, self.reduced_tokens = get("structure"), get("reduced_tokens")
        self.delta_tokens, self.pages = get("delta_tokens"), get("pages", False)
        self.facts = get("facts") or []
        self.stated = {f["key"] for f in self.facts}  # by any of its versions seen so far
        self.known = 0  # version of its path at which its tokens and facts were seen last
        self.seen = 0  # its edition when it was last admitted
        self.least = "now"  # the size to which it can be reduced, if that is settled
        self.edition = 0  # how often the world has replaced what has no path
        self.refused = False  # never admitted so far
        self.size = self.tokens  # at which it was last admitted
        self.way = "whole"  # the form in which it was last admitted
        self.rests_on = None  # the result to which it is a difference
        self.read_on = []  # its further pages, in the order in which they came
        self.kept_out = {}  # those kept out, by number
        self.last = None  # the page that came to the door last
        self.of = None  # the result of which it is a page
        self.number = 1  # its number among the pages, its result's own being 1

    def page(self, number, size, facts, turn, order):
        """Return the page *number* of this result, which is the same whenever it comes."""
        if number in self.kept_out:
            return self.kept_out.pop(number)
        stimulus = {
            "id": f"{self.id}.p{number}",
            "kind": self.kind,
            "tokens": size,
            "score": self.score,
            "copy": self.copy,
            "taggable": self.taggable,
            "tool": self.tool,
            "attempt": self.attempt,
            "facts": facts,
        }
        page = Source(stimulus, turn, order)
        page.scored, page.of, page.number = self.scored, self, number
        page.entered = page.cut = False
        return page


class Resident:
    """One place in the window: a full segment, a surrogate, or invented text."""

    def __init__(self, key, kind, tokens, order, sources):
        self.key, self.kind, self.tokens = key, kind, tokens
        self.order, self.sources = order, sources
        self.form = "full"  # full, surrogate, invented
        self.version = self.edition = 0  # of its path, and of what has none
        self.facts = {}  # keys that can be read here -> (source, its version then)
        self.made_up = set()  # keys invented here
        self.made_of_invented = False  # it is text that was made up, or stands for such text
        self.tagged = False
        self.pair = None
        self.came = 0  # turn in which it was admitted or fetched
        self.then = {}  # of the pages among the sources: their results at the time of the rewrite
        self.root, self.rounds = key, 1  # what its facts are kept by: first source, rewrites

    @property
    def full(self):
        return self.form != "surrogate"

    @property
    def copied(self):
        return all(s.copy for s in self.sources) and not self.made_of_invented

    @property
    def source(self):
        return self.sources[0]


class World(Forms):
    """One run of a script under a policy."""

    def __init__(self, script, policy):
        self.script, self.set = script, script["settings"]
        self.budget, self.seed = self.set["budget"], script["seed"]
        name, _, options = policy.partition(":")
        self.policy = POLICIES[name](self)
        for option in filter(None, options.split(",")):
            self.policy.option(*option.split("="))
        self.m = Metrics(self.budget)
        self.row = price_row(self.set)
        self.cache = Cache(self.row)
        self.values, self.sent = {}, None  # what has changed of the requests; the last request
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
            if thing.form != "full" and not PAGE_LINES_RISE:
                return max(self.salience(thing.then.get(s, s)) for s in thing.sources)
            return max(self.salience(s) for s in thing.sources)
        if thing.of is not None:
            return self.salience(thing.of)
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
        return self.paths.get(source.path, [0])[0]

    def current(self, r):
        return r.version == self.version(r.source)

    def states(self, r, key):
        """Tell whether *r* states the current value of *key*, None if it does not state it."""
        if key not in r.facts or key in r.made_up:
            return None
        source, version = r.facts[key]
        return version == self.version(source)

    def newer(self, source):
        """Return what a write has said of the path since *source* was seen, or nothing."""
        version, tokens, facts = self.paths.get(source.path, (source.known, None, None))
        return (None, None) if version == source.known else (tokens, facts)

    def raw_size(self, source):
        """Return the size of the current version."""
        tokens, _ = self.newer(source)
        return source.tokens if tokens is None else tokens

    def see(self, source):
        """Take in the current version of *source*."""
        tokens, facts = self.newer(source)
        source.tokens = source.tokens if tokens is None else tokens
        source.facts = source.facts if facts is None else facts
        source.stated |= {f["key"] for f in source.facts}
        source.known = self.version(source)

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
        own = [r.source.line for r in unit if r.form == "full" and r.source.line is not None]
        return max(own) if own else self.set["surrogate.tokens"]

    # -- what can be done

    def tick(self):
        self.count += 1
        return self.count

    def knock(self, source):
        """Ask the policy about *source*; what it would rest on is not superseded meanwhile."""
        way, size = self.way(source)
        source.rests_on = self.before(source) if way == "delta" else None
        if not self.policy.door(source, size):
            source.rests_on = None
            return False
        self.admit(source, "admitted", (way, size))
        return True

    def admit(self, source, how="admitted", decided=None):
        raw = self.raw_size(source)
        way, size = decided or self.way(source)
        if how == "rehydrated" and source.way != "whole":
            way = source.way
            size = source.size if source.seen == source.edition else raw
            if size != source.size:
                way = "whole"
        self.see(source)
        source.size, source.seen = size, source.edition
        source.way = way
        source.rests_on = self.before(source) if way == "delta" else None
        if way.endswith("pointer"):
            source.copy = True
        r = Resident(source.id, source.kind, size, source.order, [source])
        r.version, r.edition, r.pair = self.version(source), source.edition, source.pair
        r.facts = self.fact_keys(source, way)
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
        if not source.refused and source.of is None:
            self.m.add("never_admitted_tokens", self.raw_size(source))
        source.refused = True

    def evict(self, unit):
        """Evict all of *unit*."""
        for r in list(unit):
            if r.full and any(s.pinned for s in r.sources):
                assert self.policy.ignores_pins, r.key
                self.m.add("breaches")
                self.m.add("pins_lost")
            self.window.remove(r)
            book = "copy" if r.copied else "dispensable"
            self.m.add(f"evicted_{book}_tokens", r.tokens)
            self.m.add("evictions")
            self.edited = True

    def rewrite(self, group, tokens, tagged, exempt=False, whole=None):
        """Replace *group* by one surrogate where its first member stood; *whole*: cost of input."""
        place = min(self.window.index(o) for o in group)
        before = sum(o.tokens for o in group)
        sources = [s for o in group for s in o.sources]
        facts = {k: v for o in group for k, v in o.facts.items() if self.keeps(o, k)}
        for o in group:
            self.window.remove(o)
        r = Resident(f"s{self.tick()}", "surrogate", tokens, self.next_order(), sources)
        r.form, r.tagged = "surrogate", tagged
        if SURROGATE_KEEPS_PAIR and len(group) == 1 and group[0].pair is not None:
            r.kind, r.pair = group[0].kind, group[0].pair
        r.made_up = {k for o in group for k in o.made_up if self.keeps(o, k)}
        r.facts, r.root, r.rounds = facts, group[0].root, group[0].rounds + 1
        for o in group:
            pages = {s: copy(s.of) for s in o.sources if s.of is not None}
            r.then.update(pages if o.form == "full" else o.then)
        r.came = self.turn
        self.window.insert(place, r)
        self.m.add("rewrites")
        self.m.add("rewritten_tokens", before)
        self.m.add("surrogate_tokens", tokens)
        self.edited = True
        if not tagged:
            assert self.policy.untagged
            self.m.add("breaches")
        r.made_of_invented = any(o.made_of_invented for o in group)
        if tokens >= before and not r.copied:
            assert self.policy.grows
            self.m.add("breaches")
        if self.spent and not exempt:
            assert self.policy.spends
            self.m.add("breaches")
        self.maintain(before, tokens, whole)
        return r

    def keeps(self, r, key):
        """Tell whether a rewrite of *r* keeps *key*."""
        keep = self.set["surrogate.keep"]
        return keep == 1 or uniform(self.seed, "surrogate.keep", r.root, key, r.rounds) < keep

    def look_up(self):
        """Send the window as it stands; return what was read, written and plain."""
        request = []
        for n, r in enumerate(self.window):
            here = tuple(v for v in sorted(self.values.items()) if self.scope(v[0]) == n)
            key = (r.key, here) if here else r.key
            request.append((key, (r.version, r.edition), r.tokens, r.kind))
        self.sent = request
        return self.again()

    def again(self):
        """Send the last request, as it was."""
        after = self.set.get("cache.breakpoints") or ()
        return self.cache.call(self.clock, self.sent, after, self.set.get("cache.long") or 0)

    def scope(self, what):
        """Tell how many segments stand in front of where *what* of a request comes in."""
        kinds = {"tools": (), "system": ("tools",)}.get(what, ("tools", "system"))
        n = 0
        while n < len(self.window) and self.window[n].kind in kinds:
            n += 1
        return n

    def wait(self, found):
        """Let the waits of a turn pass, with their pings; then take in what changes."""
        seconds = sum(s["seconds"] for s in found if s["type"] == "wait")
        every = [s["seconds"] for s in found if s["type"] == "keep-alive"][-1:]
        begun = self.clock
        while every and self.sent is not None and self.clock + every[0] < begun + seconds:
            self.clock += every[0]
            read, written, plain = self.again()
            usd, out = self.price(read, written, plain, 1)
            self.m.add("pings")
            self.m.add("output_tokens", 1)
            self.m.add("maintenance_cost_usd", usd + out)
        self.clock = begun + seconds
        for s in found:
            if s["type"] == "change":
                self.values.pop(s["what"], None)
                if s["value"] != "default":
                    self.values[s["what"]] = s["value"]

    def price(self, read, written, plain, output):
        """Return the dollars for the input and the output of the request just looked up."""
        total = read + written + plain
        return cost(self.row, total, read, written, plain, output, self.cache.long_written)

    def maintain(self, before, tokens, whole=None):
        """Book the model's call that wrote *tokens*."""
        read, written, plain = whole or (0, 0, before)
        if whole is None:
            self.cache.long_written = 0
        usd, out = self.price(read, written, plain, tokens)
        seconds = prefill(self.row, read + written + plain, read) + tokens / self.row["decode_rate"]
        self.writing = max(self.writing, seconds)
        self.m.add("maintenance_cost_usd", usd + out)
        self.m.add("output_tokens", tokens)

    def restore(self, r, key):
        """Replace the surrogate *r* by a text that makes up *key*."""
        size = self.set["restore_tokens"]
        self.m.add("rewritten_tokens", r.tokens)
        self.m.add("fabricated_tokens", size)
        if RESTORE_IS_PRICED:
            self.maintain(r.tokens, size)
        r.form, r.tokens, r.key = "invented", size, f"i{self.tick()}"
        r.rounds += 1
        r.made_up, r.made_of_invented, r.order = r.made_up | {key}, True, self.next_order()

    def refresh(self, r, size=None):
        """Bring *r* to the current version where it stands."""
        source = r.source
        way, size = self.way(source) if size is None else ("whole", size)
        self.m.add("refreshes")
        self.m.add("refreshed_out_tokens", r.tokens)
        self.m.add("refreshed_in_tokens", size)
        self.see(source)
        source.way = way
        source.rests_on = self.before(source) if way == "delta" else None
        r.facts = self.fact_keys(source, way)
        r.tokens, r.version, r.edition = size, self.version(source), source.edition

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
                r.form == "full" and r.source.path == path and self.current(r) for r in self.window
            )
        return "ok" if met else "failed"

    def traced(self, number):
        words = ("assistant", "thinking", "diff")
        return any(s.attempt == number and s.kind in words for r in self.window for s in r.sources)

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
            self.wait(found)
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
            self.coming = {a["pair"] for a in arrivals[n:] if a.get("pair") is not None}
            self.clock = begun + s.get("time", 0)
            self.arrive(s)
        self.coming = set()
        for s in found:
            if s["type"] == "write":
                self.write(s)
            elif s["type"] == "refresh":
                self.world_refresh(s)
        self.m.highest("peak_demand_tokens", self.occupancy() + self.freed_at_door)
        self.called_at = self.clock
        self.make_fit()
        if self.failed:
            return
        self.call()
        answers(self, found)

    def arrive(self, stimulus):
        source = Source(stimulus, self.turn, self.next_order())
        if source.kind == "image":
            source.tokens = self.set["image_tokens"]
        self.sources[source.id] = source
        source.entered = source.cut = False
        source.known = self.version(source)
        if LEAST_IS_OF_ARRIVAL:
            source.least = self.least(source)
        size = self.entering(source)
        before = self.occupancy()
        if self.knock(source):
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
        self.policy.on_write(s["path"])

    def world_refresh(self, s):
        source = self.sources.get(s["segment"])
        if source is None:
            return
        if source.path is None:
            source.tokens = s["tokens"]
            source.edition += 1
        else:
            old = self.paths.get(source.path, [0, None, None])
            self.paths[source.path] = [old[0] + 1, s["tokens"], old[2]]
        r = self.resident(source)
        if r is not None:
            self.refresh(r, s["tokens"])
        if LEAST_IS_OF_ARRIVAL and r is not None:
            source.least = None

    def check_pins(self):
        if self.policy.ignores_pins:
            return
        pinned = [r for u in self.units() if self.policy.held(u) for r in u]
        if sum(r.tokens for r in pinned) > self.budget:
            self.failed = "pins"

    def make_fit(self):
        """Check the pins, let the policy act, then cut what is still too much."""
        self.check_pins()
        if self.failed:
            return
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
                    s.cut = self.resident(s) is None and self.surrogate(s) is None
                self.m.add("truncated_tokens", r.tokens)
                self.m.add("pins_lost", r.full and any(s.pinned for s in r.sources))
                if r.form != "surrogate":
                    self.m.add("policy_bugs")

    def call(self, extra=False):
        read, written, plain = self.look_up()
        total = read + written + plain
        output = self.script["output_tokens"].get(str(self.turn), self.set["call.output_tokens"])
        usd, out = self.price(read, written, plain, output)
        seconds = prefill(self.row, total, read)
        self.m.call(total, read, written, plain, output, usd, out, seconds)
        if not self.set["clock.turn_seconds"]:
            self.clock += seconds + output / self.row["decode_rate"]

    def extra_call(self):
        if self.set["clock.turn_seconds"] or EXTRA_WAITS_IN_FREE_CLOCK:
            self.extra_seconds += self.set["clock.extra_call_seconds"]
            self.clock += self.set["clock.extra_call_seconds"]
        self.call(extra=True)


def run(script, policy):
    """Return every metric of *script* under *policy*."""
    return World(script, policy).run()
