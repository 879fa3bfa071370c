"""The rule `auto`: the provider finds the longest common prefix by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.prefix_cache.cache import PrefixCache
from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.tree import Node
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = ["AutoCache"]


class _Entry:
    """A stored request: its node, its stored tokens, its rank by age and its last live moment."""

    __slots__ = ("expiry", "node", "order", "stored")

    def __init__(self, node: Node, stored: int, order: int, expiry: float) -> None:
        self.node = node
        self.stored = stored
        self.order = order
        self.expiry = expiry


class AutoCache(PrefixCache):
    """A cache of whole requests in steps of tokens, matched by longest common prefix.

    Read: the longest prefix shared with a live entry, in whole steps, 0 below the minimum; of
    entries that share equally many steps the earliest stored is renewed. Stored: the request in
    whole steps, from the minimum on (OpenAI's rule before GPT-5.6: cookbook,
    "Prompt Caching 201"). Where *renews* is false nothing is renewed, but a request sent again is
    stored again.
    """

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        self._entries: dict[int, _Entry] = {}
        """Entries by age; the last stored or renewed, which lives longest, comes last."""
        self._orders = 0

    def kept(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return the tokens of the request in whole steps, 0 if they are below the minimum."""
        self._check_prompt(prompt)
        return self._whole_steps(prompt.tokens)

    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage:
        self._expire(now)
        read, hit = self._find(prompt, reversed(self._entries.values()))
        expiry = now + self.rules.ttl
        if hit is not None and self.rules.renews:
            hit.expiry = expiry
            self._entries[hit.order] = self._entries.pop(hit.order)
        tokens = prompt.tokens
        stored = self._whole_steps(tokens)
        # What was read in full is kept by the entry renewed, which is older and lives as long.
        if stored > read or (stored and not self.rules.renews):
            self._orders += 1
            node = prompt.path[-1]
            self._entries[self._orders] = _Entry(node, stored, self._orders, expiry)
            self.tree.pin(node)
        written = max(stored - read, 0)
        return Usage(tokens, read, written, tokens - read - written)

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        entries = reversed(self._entries.values())
        return self._find(prompt, (entry for entry in entries if entry.expiry > now))[0]

    def _find(self, prompt: Prompt, entries: Iterator[_Entry]) -> tuple[int, _Entry | None]:
        best = 0
        hit: _Entry | None = None
        for entry in entries:
            if entry.stored < best:
                continue
            read = self._whole_steps(prompt.shared(entry.node).end)
            if read > best or (hit is not None and read == best and entry.order < hit.order):
                best, hit = read, entry
        return best, hit

    def _whole_steps(self, tokens: int) -> int:
        whole = tokens - tokens % self.rules.step
        return whole if whole >= self.rules.minimum else 0

    def _expire(self, now: float) -> None:
        entries = self._entries
        while entries:
            entry = next(iter(entries.values()))
            if entry.expiry > now:
                break
            del entries[entry.order]
            self.tree.unpin(entry.node)
