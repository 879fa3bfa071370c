"""What each token of a request is due to: the action that brought it, or that broke the prefix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sim.prefix_cache import Usage
from sim.prices import Price

__all__ = ["CAUSES", "Cause", "Tally", "own"]

CAUSES = (
    "read",
    "append",
    "rehydration",
    "refresh",
    "rewrite",
    "compaction",
    "keep-alive",
    "eviction",
    "truncation",
    "change",
    "expiry",
    "rule",
    "storage",
)
"""What a token of a request can be due to.

``read``: it came from the cache. Of the others, new ones are due to what brought them: ``append``
(the door), ``rehydration`` (a fetch), ``refresh``, ``rewrite`` (a surrogate or invented text) or
``compaction`` (the summary of a whole transcript). Ones sent before are due to the frontmost cut,
if they would have been read but for it (``eviction``, ``truncation`` by the backstop, ``change`` of
tools or effort, or one of the above); to ``expiry``, if they were stored and are no longer live;
else to the ``rule``, which never stored or does not find them. Of a call that only serves a
rewrite, a compaction or a ``keep-alive``, what was read and the output are due to that.
``storage`` is no token: what it costs to keep an entry, where that is billed.
"""

_PLACES = {cause: place for place, cause in enumerate(CAUSES)}

_MILLION = 1_000_000


class Cause(NamedTuple):
    """Tokens of one request that are due to one of :data:`CAUSES`, and their price in dollars."""

    cause: str
    tokens: int
    usd: float


def own(causes: Iterable[Cause], purpose: str, output_usd: float) -> tuple[Cause, ...]:
    """Return the *causes* of a call with one *purpose*, to which its output and reads are due."""
    found = {each.cause: each for each in causes}
    mine = [found.pop(name) for name in ("read", purpose) if name in found]
    usd = sum((each.usd for each in mine), output_usd)
    found[purpose] = Cause(purpose, sum(each.tokens for each in mine), usd)
    return _ordered(found.values())


def _ordered(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Return *causes* in the order of :data:`CAUSES`."""
    return tuple(sorted(causes, key=lambda each: _PLACES[each.cause]))


class Tally:
    """Sorts the tokens of one request by cause, each at the price of its place in the request.

    What is computed is written for the longer life first, then written, then plain.
    """

    __slots__ = ("_edges", "_found", "_price", "_usage")

    def __init__(self, usage: Usage, price: Price) -> None:
        long = usage.read + usage.written_long
        self._edges = (usage.read, long, usage.read + usage.written)
        self._found: dict[str, list[int]] = {}
        self._price = price
        self._usage = usage

    def add(self, cause: str, start: int, end: int) -> int:
        """Book what was computed of the tokens from *start* to *end*; return how many that is."""
        read, long, written = self._edges
        if end <= read or end <= start:
            return 0
        start = max(start, read)
        parts = self._found.setdefault(cause, [0, 0, 0])
        if start < long:
            parts[0] += min(end, long) - start
        if start < written and end > long:
            parts[1] += min(end, written) - max(start, long)
        if end > written:
            parts[2] += end - max(start, written)
        return end - start

    def add_old(self, cause: str, start: int, end: int, moved: int, live: int, kept: int) -> int:
        """Book tokens of the last request, which had them *moved* places further back.

        Sent again as it was, it would have read its first *live* tokens now, and its first *kept*
        ones at once. The first are due to *cause*, which broke the prefix, the next to expiry, the
        rest to the rule. Returns how many are due to *cause*.
        """
        alive = live - moved
        if end <= alive:
            return self.add(cause, start, end)
        stored = max(live, kept) - moved
        broken = self.add(cause, start, min(end, alive))
        self.add("expiry", max(start, alive), min(end, stored))
        self.add("rule", max(start, stored), end)
        return broken

    def causes(self) -> tuple[Cause, ...]:
        """Return every cause that has tokens or a price, in the order of :data:`CAUSES`."""
        usage, price = self._usage, self._price
        factor = price.cliff_input if price.over_cliff(usage.tokens) else 1.0
        long_write = price.write if price.long_write is None else price.long_write
        found = []
        if usage.read:
            usd = usage.read * price.read * factor / _MILLION
            found.append(Cause("read", usage.read, usd))
        for cause, (long, written, plain) in self._found.items():
            micro_usd = long * long_write + written * price.write + plain * price.input
            usd = micro_usd * factor / _MILLION
            found.append(Cause(cause, long + written + plain, usd))
        if usage.stored and price.storage:
            found.append(Cause("storage", 0, price.storage_cost(usage)))
        return _ordered(found)
