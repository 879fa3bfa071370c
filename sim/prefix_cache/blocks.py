"""The rule `blocks`: a server that keeps full blocks of tokens, least recently used out first."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from operator import attrgetter

from sim.prefix_cache.cache import PrefixCache
from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.tree import Node
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = ["BlockCache"]


class BlockCache(PrefixCache):
    """A pool of full blocks, each known by its tokens and all before them, shared by its prompts.

    Read: the leading run of blocks present, but the last token is always computed. Nothing is
    billed as written. A finished request frees its blocks tail first, so a block never outlives
    the one before it, and a request over capacity keeps its head (vLLM's rule:
    docs/design/prefix_caching.md).

    A block belongs to the node in which its last token lies. Only the last use of a request's
    end is noted: every block before it was used no earlier and freed later.
    """

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        root = self.tree.root
        self._capacity = sys.maxsize if rules.capacity is None else rules.capacity
        self._blocks = 0
        self._held: dict[Node, int] = {root: 0}
        """Blocks present of each node that has a use, or a child here; all of them if a child."""
        self._needs: dict[Node, int] = {root: 1}
        """Children here, and one more for a use noted; the root always counts one."""
        self._uses: OrderedDict[Node, None] = OrderedDict()
        """Ends of requests, the least recently used first."""

    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage:
        end = self._last_owner(prompt)
        held = self._held_length(prompt, end)
        read = self._readable(prompt, held)
        self._hold(prompt, held, end)
        self._evict()
        return Usage(prompt.tokens, read, 0, prompt.tokens - read)

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        return self._readable(prompt, self._held_length(prompt, self._last_owner(prompt)))

    def _last_owner(self, prompt: Prompt) -> int:
        """Return the number of segments up to the one in which the last full block ends."""
        full = prompt.tokens - prompt.tokens % self.rules.step
        return bisect_left(prompt.path, full, key=attrgetter("end"))

    def _held_length(self, prompt: Prompt, end: int) -> int:
        """Return the number of leading segments held, at least in part."""
        low, high = 0, end
        while low < high:
            middle = (low + high + 1) // 2
            if prompt.path[middle] in self._held:
                low = middle
            else:
                high = middle - 1
        return low

    def _readable(self, prompt: Prompt, held: int) -> int:
        step, node = self.rules.step, prompt.path[held]
        present = node.parent.end // step + self._held[node]
        return min(present, max(prompt.tokens - 1, 0) // step) * step

    def _hold(self, prompt: Prompt, held: int, end: int) -> None:
        """Bring in the missing blocks of a request and note its use."""
        if not end:
            return
        path, step, needs = prompt.path, self.rules.step, self._needs
        for node in path[max(held, 1) : end + 1]:
            if node not in needs:
                needs[node] = 0
                needs[node.parent] += 1
            owned = node.end // step - node.parent.end // step
            self._blocks += owned - self._held.get(node, 0)
            self._held[node] = owned
        self._use(path[end])

    def _use(self, node: Node) -> None:
        if node in self._uses:
            self._uses.move_to_end(node)
        else:
            self._uses[node] = None
            self._needs[node] += 1
            self.tree.pin(node)

    def _evict(self) -> None:
        """Free blocks from the tail of the least recent use until the rest fits."""
        while self._blocks > self._capacity:
            used, _ = self._uses.popitem(last=False)
            self._needs[used] -= 1
            rest = self._free_branch(used)
            if not self._needs[rest]:
                self._use(rest)
                self._uses.move_to_end(rest, last=False)
            self.tree.unpin(used)

    def _free_branch(self, node: Node) -> Node:
        """Free from *node* towards the root what nothing else needs; return where it stops."""
        while self._blocks > self._capacity and not self._needs[node]:
            freed = min(self._blocks - self._capacity, self._held[node])
            self._blocks -= freed
            self._held[node] -= freed
            if not self._held[node]:
                del self._held[node], self._needs[node]
                node = node.parent
                self._needs[node] -= 1
        return node
