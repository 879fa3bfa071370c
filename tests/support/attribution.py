"""What each token of each request is due to, a second time: from the records, token by token.

The window is a list of segments, a request a list of tokens, the cache the naive one. For every
token that was not read one asks: is it new, or has it left and come back, and if so what brought
it; else where it stood in the request before, whether that would still be read if it were sent
again, and which change came first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sim.prices import Price
from sim.records import Record
from tests.oracle import token_cache

__all__ = ["Explained", "explain"]

BEFORE: Mapping[str, tuple[str, ...]] = {"tools": (), "system": ("tools",)}
HEAD = ("tools", "system")
FREEING = ("eviction", "truncation", "rewrite", "compaction")


class Segment(NamedTuple):
    id: str
    version: int
    tokens: int
    kind: str
    origin: str
    came: int = 0
    """Which of all that came in it is."""


class Explained(NamedTuple):
    """The record of a request, what its tokens are due to, S, what was broken, and w."""

    record: Record
    tokens: dict[str, int]
    dollars: dict[str, float]
    behind: int
    broken: int
    live: int
    write: float


class _Teller:
    def __init__(self, price: Price, long: int, placed: Sequence[str]) -> None:
        self.price = price
        self.long = long
        self.placed = placed
        self.marks: list[int] | None = None
        self.cache = token_cache.make(price.rules)
        self.window: list[Segment] = []
        self.sent: list[tuple[Any, int, int, str]] = []
        self.sent_came: list[int] = []
        self.came = 0
        self.edits: list[tuple[int, str]] = []
        self.values: dict[str, str] = {}
        self.kinds: dict[str, str] = {}

    def place(self, name: str) -> int:
        return [s.id for s in self.window].index(name)

    def put(self, name: str, tokens: int, version: int, origin: str) -> None:
        self.came += 1
        self.window.append(Segment(name, version, tokens, self.kinds[name], origin, self.came))

    def take(self, name: str, cause: str) -> None:
        at = self.place(name)
        self.edits.append((at, cause))
        del self.window[at]

    def swap(self, names: Iterable[str], new: Segment, cause: str, last: bool = False) -> None:
        places = sorted(self.place(name) for name in names)
        for at in reversed(places):
            self.edits.append((at, cause))
            del self.window[at]
        self.window.insert(places[-1] - len(places) + 1 if last else places[0], new)

    def scope(self, what: str) -> int:
        kinds = BEFORE.get(what, HEAD)
        at = 0
        while at < len(self.window) and self.window[at].kind in kinds:
            at += 1
        return at

    def request(self) -> list[tuple[Any, int, int, str]]:
        found = []
        for at, s in enumerate(self.window):
            here = tuple((w, v) for w, v in sorted(self.values.items()) if self.scope(w) == at)
            found.append(((s.id, here), s.version, s.tokens, s.kind))
        return found

    def set_marks(self) -> None:
        """Note where the breakpoints of the next request stand."""
        names = [s.id for s in self.window]
        places = {names.index(name) + 1 for name in self.placed if name in names}
        if len(places) < 4:
            places.add(len(names))
        self.marks = sorted(places - {0})[:4] if self.placed else None

    def long_marks(self, request: list[tuple[Any, int, int, str]]) -> tuple[int, int]:
        """Return how many breakpoints a request has, and how many ask for the longer life."""
        if self.marks is not None:
            count = len(self.marks)
        else:
            heads = [at for at, s in enumerate(request, start=1) if s[3] in HEAD]
            count = len({max(heads, default=0), len(request)} - {0})
        return count, min(self.long, count)

    def ask(self, record: Record, now: float, calls: int, given: int) -> Explained:
        """Send the window *calls* times, *given* tokens in all, each time with a prompt behind it.

        What the first of them breaks is what the pass before it is charged with.
        """
        prompt = given // calls - sum(s.tokens for s in self.window)
        first, *others = [self.send(record, now, prompt=prompt) for _ in range(calls)]
        tokens, dollars = Counter(first.tokens), Counter(first.dollars)
        for each in others:
            tokens.update(each.tokens)
            dollars.update(each.dollars)
        return first._replace(tokens=dict(tokens), dollars=dict(dollars))

    def send(self, record: Record, now: float, again: bool = False, prompt: int = 0) -> Explained:
        request = self.sent if again else self.request()
        live = self.cache.lookup(self.sent, now, self.marks)
        kept = self.cache.kept(self.sent, self.marks)
        if not again:
            self.set_marks()
        edits = [] if again else [e for e in self.edits if e[0] < len(self.sent)]
        first = min((at for at, _ in edits), default=None)
        cut = next((cause for at, cause in edits if at == first), None)
        before, old = 0, {}
        for came, ((name, _), version, tokens, _) in zip(self.sent_came, self.sent, strict=True):
            old[name, version, tokens, came] = before
            before += tokens
        edge = sum(s[2] for s in self.sent[:first]) if cut else before
        marks, long = self.long_marks(request)
        bill = self.cache.call(request, now, self.marks, long)
        due: Counter[str] = Counter({"read": bill.read})
        money: Counter[str] = Counter({"read": bill.read * self.price.read})
        behind = broken = position = 0
        origins = {s.id: s.origin for s in self.window}
        comings = self.sent_came if again else [s.came for s in self.window]
        for came, ((name, _), version, tokens, _) in zip(comings, request, strict=True):
            was = old.get((name, version, tokens, came))
            for offset in range(tokens):
                if position >= bill.read:
                    cause = self.cause(was, offset, live, kept, cut, origins.get(name, ""))
                    due[cause] += 1
                    money[cause] += self.rate(position, bill)
                    if cut in FREEING and was is not None and was + offset < live:
                        broken += 1
                        behind += was + offset >= edge
                position += 1
        due["read"] += prompt
        money["read"] += prompt * self.price.input
        over = self.price.over_cliff(bill.tokens + prompt)
        factor = self.price.cliff_input if over else 1.0
        if not again:
            self.sent, self.sent_came, self.edits = request, comings, []
        usd = {cause: amount * factor / 1e6 for cause, amount in money.items()}
        if bill.stored and self.price.storage:
            hours = self.price.rules.ttl / 3_600
            usd["storage"] = bill.stored / 1e6 * self.price.storage * hours
        write = self.price.write
        if long == marks and long and self.price.long_write is not None:
            write = self.price.long_write
        return Explained(record, +due, usd, behind, broken, live, write)

    def cause(
        self, was: int | None, offset: int, live: int, kept: int, cut: str | None, origin: str
    ) -> str:
        if was is None:
            return origin
        if was + offset < live:
            return cut or "rule"
        return "expiry" if was + offset < kept else "rule"

    def rate(self, position: int, bill: token_cache.Bill) -> float:
        if position < bill.read + bill.written_long:
            assert self.price.long_write is not None
            return self.price.long_write
        return self.price.write if position < bill.read + bill.written else self.price.input


def explain(
    records: Iterable[Record], price: Price, long: int = 0, placed: Sequence[str] = ()
) -> list[Explained]:
    """Return every request of a run that the cache saw, explained from its records.

    *placed* are the segments after which breakpoints stand at the beginning, *long* is how many
    ask for the longer life.
    """
    told: list[Explained] = []
    t = _Teller(price, long, placed)
    versions: Counter[str] = Counter()
    current: Counter[str] = Counter()
    paths: dict[str, str] = {}
    paired: set[str] = set()
    at_the_last: set[str] = set()
    for record in records:
        kind, now, _, *v = record
        match kind:
            case "arrive":
                t.kinds[v[0]] = v[1]
                if v[7] is not None:
                    paired.add(v[0])
                if v[6] is not None:
                    paths[v[0]] = v[6]
            case "write":
                current[v[0]] = v[1]
            case "admit":
                if v[0] in paths:
                    versions[v[0]] = current[paths[v[0]]]
                t.put(v[0], v[1], versions[v[0]], "append")
            case "fetch":
                versions[v[0]] = v[2]
                t.put(v[0], v[1], v[2], "rehydration")
            case "evict":
                t.take(v[0], "eviction")
            case "truncate":
                t.take(v[0], "truncation")
            case "refresh":
                versions[v[0]] = v[3]
                if v[1] or v[2]:
                    at = t.place(v[0])
                    t.edits.append((at, "refresh"))
                    t.window[at] = t.window[at]._replace(
                        tokens=v[2], version=v[3], origin="refresh"
                    )
            case "summary":
                if v[5]:
                    at_the_last.add(v[0])
            case "rewrite":
                cause = "compaction" if v[6] == "compaction" else "rewrite"
                half = len(v[1]) == 1 and v[1][0] in paired
                t.kinds[v[0]] = t.kinds[v[1][0]] if half else "summary"
                if half:
                    paired.add(v[0])
                new = Segment(v[0], 0, v[3], t.kinds[v[0]], cause)
                t.swap(v[1], new, cause, last=v[0] in at_the_last)
            case "restore":
                t.kinds[v[1]] = t.kinds[v[0]]
                if v[0] in paired:
                    paired.add(v[1])
                t.swap([v[0]], Segment(v[1], 0, v[3], t.kinds[v[0]], "rewrite"), "rewrite")
            case "reveal":
                shown = Segment(v[1], versions[v[1]], v[3], t.kinds[v[1]], "rewrite")
                t.swap([v[0]], shown, "rewrite")
            case "breakpoints":
                t.placed, t.long = v
            case "change":
                if t.values.get(v[0], "default") != v[1]:
                    t.values[v[0]] = v[1]
                    if v[1] == "default":
                        del t.values[v[0]]
                    t.edits.append((t.scope(v[0]), "change"))
            case "ping":
                told.append(t.send(record, now, again=True))
            case "maintain" if v[6]:
                told.append(t.ask(record, now, v[5], v[1]))
            case "wasted" if v[7]:
                told.append(t.ask(record, now, v[6], v[2]))
            case "call":
                told.append(t.send(record, now))
    return told
