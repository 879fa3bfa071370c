"""The rule `blocks`: a server that keeps full blocks of tokens, and frees them in some order."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from sim.prefix_cache.cache import PrefixCache
from sim.prefix_cache.eviction import ORDERS
from sim.prefix_cache.eviction.order import Place
from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.tree import Node
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = ["BlockCache", "Ticket"]


class Ticket:
    """A request that runs: it holds the blocks of its chain until it is finished.

    *usage* says how it is billed.
    """

    __slots__ = ("_base", "_cache", "_end", "_private", "usage")

    def __init__(
        self, cache: BlockCache, usage: Usage, base: Place, end: Place, private: int
    ) -> None:
        self.usage = usage
        self._cache: BlockCache | None = cache
        self._base = base
        """Up to where its blocks were there already."""
        self._end = end
        """Up to where it keeps its blocks."""
        self._private: int | None = private
        """Blocks that it computes and others cannot read yet, None when they can."""


class BlockCache(PrefixCache):
    """A pool of full blocks, each known by its tokens and all before them, shared by its prompts.

    Read: the leading run of blocks present, but the last token is always computed. Nothing is
    billed as written. What finished requests leave is freed in the order `evict` of the rules, tail
    first in each, so that a block never outlives the one before it, and a request over capacity
    keeps its head (vLLM's rule: docs/design/prefix_caching.md).

    `call` is a request that ends as soon as it has begun. One that takes time is `begin`,
    `computed` when its prefill is over and others can read its blocks, and `finish`. The blocks
    that it reads and computes cannot be freed in between. A block that two requests compute at the
    same time takes room twice until it can be read, and is one block from then on. What finds no
    room beside the blocks of running requests is computed without being kept.

    A block belongs to the node in which its last token lies. Only the end of a request is marked:
    every block before it is needed by it, and freed later.
    """

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        root = self.tree.root
        self._capacity = sys.maxsize if rules.capacity is None else rules.capacity
        self._blocks = 0
        """Blocks that take room, those that are being computed among them."""
        self._held: dict[Node, int] = {root: 0}
        """Blocks present of each node that has a mark, or a child here; all of them if a child."""
        self._children: dict[Node, int] = {root: 1}
        """Children here of each node present; the root always counts one more."""
        self._marks: dict[Node, dict[int, int]] = {}
        """Ends of running and of finished requests in a node: how many of its blocks → ends."""
        self._uses = ORDERS[rules.evict](self)

    def kept(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return the tokens of the full blocks that fit, with a token left to compute."""
        self._check_prompt(prompt)
        return min(self._readable(prompt), self._capacity) * self.rules.step

    def begin(
        self,
        prompt: Prompt,
        now: float,
        breakpoints: Sequence[int] | None = None,
        long: int = 0,
    ) -> Ticket:
        """Start a request at *now*: hold what is there of it, make room for what is not.

        Raises ValueError as `call` does.
        """
        self._check(prompt, now)
        self._check_long(prompt, breakpoints, long)
        ticket = self._begin(prompt)
        self._now = now
        return ticket

    def computed(self, ticket: Ticket) -> None:
        """Let others read what *ticket* has computed.

        Raises ValueError if they can already, or if it is finished or another cache's.
        """
        self._check_ticket(ticket)
        if ticket._private is None:
            raise ValueError("what the request has computed can be read already")
        self._publish(ticket, ticket._private)

    def finish(self, ticket: Ticket) -> None:
        """End *ticket*: its blocks may be freed from now on, its last one first.

        Raises ValueError if it is finished or another cache's.
        """
        self._check_ticket(ticket)
        self._finish(ticket)

    def depth(self, end: Place) -> int:
        """Return how many blocks a chain has up to *end*."""
        return self._first(end[0]) + end[1]

    def loose(self, end: Place) -> bool:
        """Whether the last block at a marked *end* is needed by nothing but that mark."""
        node, blocks = end
        if self._children[node] or self._held[node] > blocks:
            return False
        return self._marks[node][blocks] == 1

    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage:
        ticket = self._begin(prompt)
        self._finish(ticket)
        return ticket.usage

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        present = self._present(prompt, self._full(prompt))[1]
        return min(present, self._readable(prompt)) * self.rules.step

    def _check_ticket(self, ticket: Ticket) -> None:
        if ticket._cache is not self:
            raise ValueError("the request is finished, or belongs to another cache")

    # -- a request -------------------------------------------------------------------------

    def _begin(self, prompt: Prompt) -> Ticket:
        full = self._full(prompt)
        base, present = self._present(prompt, full)
        read = min(present, self._readable(prompt)) * self.rules.step
        self._mark(base)
        self._blocks += full - present
        self._evict()
        lacking = max(0, self._blocks - self._capacity)
        self._blocks -= lacking
        end = self._place(prompt, full - lacking)
        self.tree.pin(end[0])
        usage = Usage(prompt.tokens, read, 0, prompt.tokens - read)
        return Ticket(self, usage, base, end, full - lacking - present)

    def _publish(self, ticket: Ticket, private: int) -> None:
        self._blocks += self._bring_in(*ticket._end) - private
        self._mark(ticket._end)
        self._unmark(ticket._base)
        ticket._private = None

    def _finish(self, ticket: Ticket) -> None:
        if ticket._private is not None:
            self._publish(ticket, ticket._private)
        ticket._cache = None
        end = ticket._end
        if end[0] is self.tree.root or not self._uses.add(end):
            self._unmark(end)
        self.tree.unpin(end[0])

    # -- where a chain ends ----------------------------------------------------------------

    def _full(self, prompt: Prompt) -> int:
        """Return the number of full blocks."""
        return prompt.tokens // self.rules.step

    def _readable(self, prompt: Prompt) -> int:
        """Return the number of blocks that can be read at most."""
        return max(prompt.tokens - 1, 0) // self.rules.step

    def _first(self, node: Node) -> int:
        """Return the number of blocks before those of *node*."""
        return node.parent.end // self.rules.step

    def _owned(self, node: Node) -> int:
        """Return the number of blocks that end in *node*."""
        return node.end // self.rules.step - self._first(node)

    def _place(self, prompt: Prompt, blocks: int) -> Place:
        """Return where the leading *blocks* end."""
        at = bisect_left(prompt.path, blocks * self.rules.step, key=attrgetter("end"))
        node = prompt.path[at]
        return node, blocks - self._first(node)

    def _present(self, prompt: Prompt, full: int) -> tuple[Place, int]:
        """Return where the leading blocks that are here end, and how many they are."""
        path = prompt.path
        low = 0
        high = bisect_left(path, full * self.rules.step, key=attrgetter("end"))
        while low < high:
            middle = (low + high + 1) // 2
            if path[middle] in self._held:
                low = middle
            else:
                high = middle - 1
        end = self._last_block((path[low], self._held[path[low]]))
        return end, self.depth(end)

    def _last_block(self, end: Place) -> Place:
        """Return *end*, or, if its node has no block there, where the block before it ends.

        A mark on a node without blocks would keep those before it when all that is behind has gone.
        """
        node, blocks = end
        while not blocks and node is not self.tree.root:
            node = node.parent
            blocks = self._held[node]
        return node, blocks

    # -- blocks ----------------------------------------------------------------------------

    def _bring_in(self, node: Node, blocks: int) -> int:
        """Bring in a chain that ends after *blocks* of *node*; return how many were missing."""
        missing = 0
        wanted, chain = blocks, []
        while node not in self._held:
            chain.append((node, wanted))
            node = node.parent
            wanted = self._owned(node)
        if self._held[node] < wanted:
            missing += wanted - self._held[node]
            self._held[node] = wanted
        for node, wanted in reversed(chain):
            self._held[node] = wanted
            self._children[node] = 0
            self._children[node.parent] += 1
            missing += wanted
        return missing

    def _mark(self, place: Place) -> None:
        """Keep the blocks up to *place* until it is unmarked as often as it was marked."""
        node, blocks = place
        marks = self._marks.setdefault(node, {})
        marks[blocks] = marks.get(blocks, 0) + 1
        self.tree.pin(node)

    def _unmark(self, place: Place) -> None:
        node, blocks = place
        marks = self._marks[node]
        marks[blocks] -= 1
        if not marks[blocks]:
            del marks[blocks]
            if not marks:
                del self._marks[node]
        self.tree.unpin(node)

    def _evict(self) -> None:
        """Free blocks in the order of eviction until the rest fits or is in use."""
        while self._blocks > self._capacity:
            popped = self._uses.pop()
            if popped is None:
                return
            used, most = popped
            self.tree.pin(used[0])
            self._unmark(used)
            rest, alone = self._free_branch(used[0], most)
            if rest[0] is not self.tree.root and self._uses.put_back(rest, alone):
                self._mark(rest)
            self.tree.unpin(used[0])

    def _free_branch(self, node: Node, most: int) -> tuple[Place, bool]:
        """Free from *node* towards the root what nothing needs, as far as room is wanted.

        At most so many blocks go. Returns where the chain ends now, and whether nothing else needs
        the block there.
        """
        room = min(most, self._blocks - self._capacity)
        while True:
            held = self._held[node]
            needed = held if self._children[node] else max(self._marks.get(node, ()), default=0)
            freed = min(room, held - needed)
            self._blocks -= freed
            room -= freed
            self._held[node] = held - freed
            if held - freed > needed:
                return (node, held - freed), True
            if self._children[node] or node in self._marks:
                return self._last_block((node, needed)), False
            del self._held[node], self._children[node]
            node = node.parent
            self._children[node] -= 1
