"""The order `length-aware`: least frequently used first, and of those what lies furthest back."""

from __future__ import annotations

import sys

from sim.prefix_cache.eviction.counted import Counted, Key

__all__ = ["LengthAware"]


class LengthAware(Counted):
    """As `lfu`, but of equal counts what lies later in its request is freed first.

    How late is the number of blocks before it; ties: least recently used. Source: Mooncake,
    arXiv 2407.00079, section 4.2, table 1: LengthAwareCache is "similar to LFU but prioritizing
    cache blocks occurring later in requests". That is read as: they are evicted first. To keep them
    instead would mean to free a block before those behind it, which cannot be found without it.
    """

    __slots__ = ()

    def _key(self, count: int, last: int, depth: int) -> Key:
        return count, -depth, last

    def _most(self, key: Key, following: Key) -> int:
        count, depth, last = key
        if following[0] > count:
            return sys.maxsize
        return following[1] - depth + (last < following[2])
