"""Every cache rule and its bill a second time: token by token over the whole of every request.

A request is a list of segments (content key, version, tokens, kind), and is laid out as one list
of items: for each segment an item that weighs nothing, so that a segment of no tokens has an
identity too, and then one for each of its tokens. Entries and blocks hold whole lists of items;
they are found by walking them from the front. Nothing is kept from one call to the next but these
lists, and nothing is ever dropped but a block.

Readings, where the definition leaves a choice:

- `auto`: each request is an entry of its own, also where an equal one is live.
- `breakpoints`: marks count in the order of the request, and one given twice counts twice. Only
  live entries count among the latest; within a call what was read comes first, then the marks in
  order. Of entries of equally many tokens the one of more segments is the longest.
- `blocks`: a segment of no tokens belongs to the block of the token behind it. A block that is
  present though it has to be computed again is used, not stored twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cache
from math import inf
from typing import Any, NamedTuple

from sim.prices import CacheRules, Price

__all__ = ["Bill", "Segment", "dollars", "make"]

Segment = tuple[Hashable, int, int, str]
"""Content key, version, tokens, kind."""

Item = tuple[Hashable, int, int, int]
"""Content key, version and tokens of a segment, and which of its tokens, from 1; 0: its start."""

HEADS = ("tools", "system")
RUNS = ("tool_call", "tool_result")


class Bill(NamedTuple):
    """What became of the tokens of one request, in the order of the real one."""

    tokens: int
    read: int
    written: int
    plain: int
    written_long: int = 0
    stored: int = 0


class Entry:
    """A list of items that can be read until *expiry*, and the life it was stored for."""

    def __init__(self, items: list[Item], now: float, life: float) -> None:
        self.items, self.life, self.expiry = items, life, now + life


@cache
def _segment(key: Hashable, version: int, tokens: int) -> list[Item]:
    """Return the items of a segment: the same objects every time, which compare fast."""
    return [(key, version, tokens, index) for index in range(tokens + 1)]


def lay_out(request: Sequence[Segment]) -> list[Item]:
    """Return the items of a request."""
    return [item for key, version, tokens, _ in request for item in _segment(key, version, tokens)]


def weigh(items: Sequence[Item]) -> int:
    """Return how many of the items are tokens."""
    return sum(1 for item in items if item[3] > 0)


def shared(one: Sequence[Item], other: Sequence[Item]) -> int:
    """Return the tokens of the longest common beginning."""
    tokens = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        tokens += left[3] > 0
    return tokens


class Uncached:
    """The rule `none`."""

    def __init__(self, rules: CacheRules) -> None:
        self.rules = rules

    def lookup(self, request: Sequence[Segment], now: float, marks: Any = None) -> int:
        return 0

    def call(
        self, request: Sequence[Segment], now: float, marks: Any = None, long: int = 0
    ) -> Bill:
        tokens = weigh(lay_out(request))
        return Bill(tokens, 0, 0, tokens)

    def kept(self, request: Sequence[Segment], marks: Any = None) -> int:
        return 0


class Auto(Uncached):
    """Every request ever sent, in order, as far as it goes in whole steps."""

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        self.entries: list[Entry] = []

    def lookup(self, request: Sequence[Segment], now: float, marks: Any = None) -> int:
        return self._find(request, now)[0]

    def call(
        self, request: Sequence[Segment], now: float, marks: Any = None, long: int = 0
    ) -> Bill:
        read, found = self._find(request, now)
        if found is not None and self.rules.renews:
            found.expiry = now + self.rules.ttl
        items = lay_out(request)
        whole = self.kept(request)
        if whole:
            self.entries.append(Entry(_leading(items, whole), now, self.rules.ttl))
        written = max(whole - read, 0)
        tokens = weigh(items)
        return Bill(tokens, read, written, tokens - read - written)

    def kept(self, request: Sequence[Segment], marks: Any = None) -> int:
        return self._whole(weigh(lay_out(request)))

    def _find(self, request: Sequence[Segment], now: float) -> tuple[int, Entry | None]:
        items = lay_out(request)
        best, found = 0, None
        for entry in self.entries:
            if entry.expiry > now:
                read = self._whole(shared(entry.items, items))
                if read > best:
                    best, found = read, entry
        return best, found

    def _whole(self, tokens: int) -> int:
        whole = tokens - tokens % self.rules.step
        return whole if whole >= self.rules.minimum else 0


class Breakpoints(Uncached):
    """Every entry stored at a breakpoint, the one last stored or renewed at the end."""

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        self.entries: list[Entry] = []

    def lookup(
        self, request: Sequence[Segment], now: float, marks: Sequence[int] | None = None
    ) -> int:
        return weigh(lay_out(request[: self._find(request, now, self._marks(request, marks))]))

    def call(
        self,
        request: Sequence[Segment],
        now: float,
        marks: Sequence[int] | None = None,
        long: int = 0,
    ) -> Bill:
        places = self._marks(request, marks)
        length = self._find(request, now, places)
        read = weigh(lay_out(request[:length]))
        if length:
            self._renew(self._live(request[:length], now), now)
        written = written_long = stored = 0
        for number, place in enumerate(places):
            items = lay_out(request[:place])
            size = weigh(items)
            written = 0
            if size < self.rules.minimum:
                continue
            written = size - read
            asks_long = number < long
            if asks_long:
                written_long = max(written, 0)
            entry = self._live(request[:place], now)
            if entry is None:
                life = self.rules.long_ttl if asks_long else self.rules.ttl
                assert life is not None
                self.entries.append(Entry(items, now, life))
                stored += size
            else:
                self._renew(entry, now)
        tokens = weigh(lay_out(request))
        return Bill(tokens, read, written, tokens - read - written, written_long, stored)

    def kept(self, request: Sequence[Segment], marks: Sequence[int] | None = None) -> int:
        sizes = [weigh(lay_out(request[:place])) for place in self._marks(request, marks)]
        return max((size for size in sizes if size >= self.rules.minimum), default=0)

    def _marks(self, request: Sequence[Segment], marks: Sequence[int] | None) -> list[int]:
        if marks is not None:
            return sorted(marks)
        heads = [place for place, segment in enumerate(request, 1) if segment[3] in HEADS][-1:]
        if self.rules.marks == "head":
            return heads
        return sorted({*heads, *([len(request)] if request else [])})

    def _find(self, request: Sequence[Segment], now: float, places: Sequence[int]) -> int:
        """Return the number of leading segments that are read."""
        live = [entry for entry in self.entries if entry.expiry > now]
        if self.rules.matched is not None:
            live = live[-self.rules.matched :]
        ends: list[int] = []
        for place in places:
            if self.rules.lookback is None:
                ends += range(1, place + 1)
            else:
                ends += _ends(request[:place])[-1 - self.rules.lookback :]
        found = 0
        for end in ends:
            items = lay_out(request[:end])
            if any(entry.items == items for entry in live):
                found = max(found, end)
        return found

    def _live(self, request: Sequence[Segment], now: float) -> Entry | None:
        items = lay_out(request)
        for entry in self.entries:
            if entry.expiry > now and entry.items == items:
                return entry
        return None

    def _renew(self, entry: Entry | None, now: float) -> None:
        assert entry is not None
        if self.rules.renews:
            entry.expiry = now + entry.life
            self.entries.remove(entry)
            self.entries.append(entry)


class Blocks(Uncached):
    """The blocks on a server, all free between calls, the one free the longest in front."""

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        self.capacity = inf if rules.capacity is None else rules.capacity
        self.free: list[tuple[Item, ...]] = []

    def lookup(self, request: Sequence[Segment], now: float, marks: Any = None) -> int:
        chain = self._chain(request)
        present = 0
        while present < len(chain) and _held(self.free, chain[present]):
            present += 1
        return min(present * self.rules.step, self._most(request))

    def call(
        self, request: Sequence[Segment], now: float, marks: Any = None, long: int = 0
    ) -> Bill:
        read = self.lookup(request, now)
        chain = self._chain(request)
        used = []
        while len(used) < len(chain) and _held(self.free, chain[len(used)]):
            used.append(chain[len(used)])
        self.free = [block for block in self.free if not _held(used, block)]
        for block in chain[len(used) :]:
            assert not _held(self.free, block), "a block is present without the one before it"
            if len(self.free) + len(used) >= self.capacity:
                if not self.free:
                    break
                del self.free[0]
            used.append(block)
        self.free += reversed(used)
        tokens = weigh(lay_out(request))
        return Bill(tokens, read, 0, tokens - read)

    def kept(self, request: Sequence[Segment], marks: Any = None) -> int:
        present = min(len(self._chain(request)), self.capacity)
        return int(min(present * self.rules.step, self._most(request)))

    def _most(self, request: Sequence[Segment]) -> int:
        """Return the most that can be read: whole blocks, and a token left to compute."""
        rest = max(weigh(lay_out(request)) - 1, 0)
        return rest - rest % self.rules.step

    def _chain(self, request: Sequence[Segment]) -> list[tuple[Item, ...]]:
        """Return each full block as the tuple of all items up to its last token."""
        chain: list[tuple[Item, ...]] = []
        items: list[Item] = []
        tokens = 0
        for item in lay_out(request):
            items.append(item)
            tokens += item[3] > 0
            if item[3] > 0 and tokens % self.rules.step == 0:
                chain.append(tuple(items))
        return chain


RULES: dict[str, type[Uncached]] = {
    "auto": Auto,
    "blocks": Blocks,
    "breakpoints": Breakpoints,
    "none": Uncached,
}


def make(rules: CacheRules) -> Uncached:
    """Return an empty cache that follows *rules*."""
    return RULES[rules.rule](rules)


def dollars(price: Price, bill: Bill) -> Fraction:
    """Return what the input of a request costs, exactly, token by token."""
    read, write, plain = Fraction(price.read), Fraction(price.write), Fraction(price.input)
    long_write = Fraction(price.long_write or 0)
    short = bill.written - bill.written_long
    total = bill.read * read + short * write + bill.written_long * long_write + bill.plain * plain
    if price.cliff_tokens is not None:
        over = bill.tokens - price.cliff_tokens
        if over > 0 or (over == 0 and price.cliff_inclusive):
            total *= Fraction(price.cliff_input)
    if bill.stored and price.storage:
        hours = Fraction(price.rules.ttl) / 3600
        total += bill.stored * Fraction(price.storage) * hours
    return total / 1_000_000


def _held(blocks: Sequence[tuple[Item, ...]], block: tuple[Item, ...]) -> bool:
    """Return whether *block* is among *blocks*; the length is compared before the items."""
    return any(len(other) == len(block) and other == block for other in blocks)


def _leading(items: list[Item], tokens: int) -> list[Item]:
    """Return the items up to and with the token of that number."""
    seen = 0
    for place, item in enumerate(items, 1):
        seen += item[3] > 0
        if seen == tokens:
            return items[:place]
    raise AssertionError(f"there are no {tokens} tokens")


def _ends(request: Sequence[Segment]) -> list[int]:
    """Return where each position ends: a run of calls, or of results, is one position."""
    ends: list[int] = []
    for place, segment in enumerate(request, 1):
        kind = segment[3]
        if place > 1 and kind in RUNS and request[place - 2][3] == kind:
            ends[-1] = place
        else:
            ends.append(place)
    return ends
