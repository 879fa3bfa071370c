"""Prefix-cache accounting: how much of each request is read, written or computed in full.

`make_cache` returns a cache for one provider's rules; its prompts are edited in place and sent
with `PrefixCache.call`. ``python -m sim.prefix_cache FILE`` works out the cases of a JSON file.
"""

from __future__ import annotations

from sim.prefix_cache.auto import AutoCache
from sim.prefix_cache.blocks import BlockCache
from sim.prefix_cache.breakpoints import MAX_BREAKPOINTS, BreakpointCache
from sim.prefix_cache.cache import PrefixCache, Uncached
from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = [
    "MAX_BREAKPOINTS",
    "PrefixCache",
    "Prompt",
    "Usage",
    "make_cache",
]

_CACHES: dict[str, type[PrefixCache]] = {
    "auto": AutoCache,
    "blocks": BlockCache,
    "breakpoints": BreakpointCache,
    "none": Uncached,
}


def make_cache(rules: CacheRules) -> PrefixCache:
    """Return an empty cache that follows *rules*."""
    return _CACHES[rules.rule](rules)
