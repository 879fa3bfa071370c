"""The orders in which a server of the rule `blocks` frees what finished requests leave."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sim.prefix_cache.eviction.length_aware import LengthAware
from sim.prefix_cache.eviction.lfu import LeastFrequentlyUsed
from sim.prefix_cache.eviction.lru import LeastRecentlyUsed
from sim.prefix_cache.eviction.order import EvictionOrder

__all__ = ["ORDERS"]

ORDERS: Mapping[str, type[EvictionOrder]] = MappingProxyType(
    {
        "length-aware": LengthAware,
        "lfu": LeastFrequentlyUsed,
        "lru": LeastRecentlyUsed,
    }
)
"""The orders by name: `CacheRules.evict`."""
