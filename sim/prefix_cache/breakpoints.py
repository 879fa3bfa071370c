"""The rule `breakpoints`: entries exist only where the request put a mark."""

from __future__ import annotations

from collections.abc import Sequence

from sim.prefix_cache.cache import PrefixCache
from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.tree import Node
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = ["MAX_BREAKPOINTS", "BreakpointCache"]

MAX_BREAKPOINTS = 4
"""Breakpoints that one request may place."""


class BreakpointCache(PrefixCache):
    """A cache of the prefixes that end at a breakpoint.

    Read: the longest live entry at a breakpoint or up to *lookback* positions before one; it is
    renewed. Written: from there to the last breakpoint, if the prefix there reaches the minimum.
    Every breakpoint that reaches it is stored or renewed at each call. The default placement is
    after the last `tools` or `system` segment and at the end (Anthropic's rule: prompt caching
    documentation).
    """

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        self._expiries: dict[Node, float] = {}
        """Expiry by prefix; the last stored or renewed, which lives longest, comes last."""

    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage:
        marks = _marks(prompt, breakpoints)
        self._expire(now)
        path, minimum = prompt.path, self.rules.minimum
        found = self._find(prompt, marks, now)
        if found:
            self._renew(path[found], now)
        for mark in marks:
            if path[mark].end >= minimum:
                self._renew(path[mark], now)
        read = path[found].end
        last = path[marks[-1]].end if marks else 0
        written = last - read if last >= minimum else 0
        return Usage(prompt.tokens, read, written, prompt.tokens - read - written)

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        return prompt.path[self._find(prompt, _marks(prompt, breakpoints), now)].end

    def _find(self, prompt: Prompt, marks: list[int], now: float) -> int:
        """Return the length in segments of the longest live entry in reach of a mark, or 0."""
        best = 0
        for mark in reversed(marks):
            length = mark
            for _ in range(self.rules.lookback + 1):
                if length <= best:
                    break
                if self._expiries.get(prompt.path[length], now) > now:
                    best = length
                    break
                length = prompt.position_start(length)
        return best

    def _renew(self, node: Node, now: float) -> None:
        if self._expiries.pop(node, None) is None:
            self.tree.pin(node)
        self._expiries[node] = now + self.rules.ttl

    def _expire(self, now: float) -> None:
        while self._expiries:
            node = next(iter(self._expiries))
            if self._expiries[node] > now:
                break
            del self._expiries[node]
            self.tree.unpin(node)


def _marks(prompt: Prompt, breakpoints: Sequence[int] | None) -> list[int]:
    """Return the places of the breakpoints, each once and in order."""
    length = len(prompt)
    if breakpoints is None:
        return sorted({prompt.head, length} - {0})
    marks = sorted(set(breakpoints))
    if len(marks) > MAX_BREAKPOINTS:
        raise ValueError(f"a request has at most {MAX_BREAKPOINTS} breakpoints, not {len(marks)}")
    if marks and not 1 <= marks[0] <= marks[-1] <= length:
        wrong = marks[0] if marks[0] < 1 else marks[-1]
        raise ValueError(f"no breakpoint can stand after segment {wrong} of {length}")
    return marks
