"""The order `lru`: least recently used first, of one request the last block first."""

from __future__ import annotations

import sys
from collections import OrderedDict

from sim.prefix_cache.eviction.order import Chains, Place

__all__ = ["LeastRecentlyUsed"]


class LeastRecentlyUsed:
    """Frees first what was used least recently, of one use the tail (vLLM's rule).

    A use is a request, and lies where it ended. Only ends are kept: every block before one was used
    no earlier, so that what else needs a block says all that there is to know of it.
    """

    __slots__ = ("_ends",)

    def __init__(self, chains: Chains) -> None:
        self._ends: OrderedDict[Place, None] = OrderedDict()

    def add(self, end: Place) -> bool:
        """Note a use that ends at *end*; return whether it is a new end."""
        new = end not in self._ends
        self._ends[end] = None
        self._ends.move_to_end(end)
        return new

    def pop(self) -> tuple[Place, int] | None:
        """Forget and return the end of the least recent use; all of it may go."""
        if not self._ends:
            return None
        return self._ends.popitem(last=False)[0], sys.maxsize

    def put_back(self, rest: Place, alone: bool) -> bool:
        """Keep *rest* as the first to be freed, unless a later use needs it as well."""
        if not alone:
            return False
        self._ends[rest] = None
        self._ends.move_to_end(rest, last=False)
        return True
