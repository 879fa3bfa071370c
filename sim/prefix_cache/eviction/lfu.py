"""The order `lfu`: least frequently used first, counted while a block is in the cache."""

from __future__ import annotations

from sim.prefix_cache.eviction.counted import Counted, Key

__all__ = ["LeastFrequentlyUsed"]


class LeastFrequentlyUsed(Counted):
    """Frees first what the fewest requests used since it came in; ties: least recently, deepest.

    One chain's blocks of equal count and last use go from the tail, all of them before any other.
    """

    __slots__ = ()

    def _key(self, count: int, last: int, depth: int) -> Key:
        return count, last, 0
