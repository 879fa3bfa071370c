"""What orders by the number of uses have in common: the uses of every block, kept at ends alone."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

from sortedcontainers import SortedList

from sim.prefix_cache.eviction.order import Chains, Place

__all__ = ["Counted", "Key"]

Key = tuple[int, int, int]
"""What orders ends, the lowest first to be freed; no two are alike."""


class Counted(ABC):
    """Frees by how often, and how lately, a block was used since it came into the cache.

    A use is a request that has ended: it counts once for each block that it kept. The count of a
    block, and its last use, belong to the block and are forgotten when it is freed.

    Both are read off the ends: a block was used by the requests that ended at it or behind it, so
    its count is the sum of theirs and its last use the latest. When a tail is freed, its uses move
    to the end of what is left, as they are uses of that as well.
    """

    __slots__ = ("_chains", "_ends", "_listed", "_order", "_popped", "_uses")

    def __init__(self, chains: Chains) -> None:
        self._chains = chains
        self._uses = 0
        self._ends: dict[Place, tuple[int, int]] = {}
        """Of each end: how many requests ended there or behind it, and the number of the last."""
        self._order: Any = SortedList()
        """Ends that may be loose, each behind its key."""
        self._listed: dict[Place, Key] = {}
        self._popped = 0, 0

    @abstractmethod
    def _key(self, count: int, last: int, depth: int) -> Key:
        """Return the key of an end: its *count*, the number of its *last* use, its *depth*."""

    def _most(self, key: Key, following: Key) -> int:
        """Return how many blocks may go from the end with *key* before the *following* is due."""
        return sys.maxsize

    def add(self, end: Place) -> bool:
        """Note a use that ends at *end*; return whether it is a new end."""
        self._uses += 1
        return self._credit(end, 1, self._uses)

    def pop(self) -> tuple[Place, int] | None:
        """Forget and return the lowest end whose last block nothing else needs."""
        order = self._order
        while order:
            key, end = order.pop(0)
            del self._listed[end]
            # One that is not loose is listed again when what lies behind it is freed, or when a
            # request that holds it ends there.
            if self._chains.loose(end):
                self._popped = self._ends.pop(end)
                return end, self._most(key, order[0][0]) if order else sys.maxsize
        return None

    def put_back(self, rest: Place, alone: bool) -> bool:
        """Note the uses of the end just popped at *rest*; return whether that is a new end."""
        return self._credit(rest, *self._popped)

    def _credit(self, end: Place, uses: int, last: int) -> bool:
        """Add *uses* to those of *end*; return whether it is a new end."""
        known = self._ends.get(end)
        if known is not None:
            uses, last = uses + known[0], max(last, known[1])
        self._ends[end] = uses, last
        listed = self._listed.get(end)
        if listed is not None:
            self._order.remove((listed, end))
        key = self._listed[end] = self._key(uses, last, self._chains.depth(end))
        self._order.add((key, end))
        return known is None
