"""The rule `breakpoints`: entries exist only where the request put a mark."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice

from sim.prefix_cache.cache import PrefixCache
from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.tree import Node
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = ["MAX_BREAKPOINTS", "BreakpointCache"]

MAX_BREAKPOINTS = 4
"""Breakpoints that one request may place."""


class _Entry:
    """A stored prefix: its life in seconds, that of the mark that stored it, and its end."""

    __slots__ = ("expiry", "life")

    def __init__(self, life: float, expiry: float) -> None:
        self.life = life
        self.expiry = expiry


class BreakpointCache(PrefixCache):
    """A cache of the prefixes that end at a breakpoint.

    Read: the longest live entry at a breakpoint or up to *lookback* positions before one; it is
    renewed. Written: from there to the last breakpoint, if the prefix there reaches the minimum.
    Every breakpoint that reaches it is stored or renewed at each call. The default placement is
    after the last `tools` or `system` segment and at the end (Anthropic's rule: prompt caching
    documentation).

    Without a *lookback* the longest live entry in front of the last breakpoint is read, at any
    distance, and with *matched* only the latest so many live entries are compared (OpenAI's rule
    from GPT-5.6 on). Where *renews* is false an entry ends at its store time and life, whatever
    reads or marks it (a named cached object: Gemini's explicit caching).

    An entry has the life of the breakpoint that stored it and is renewed by the same life. Assumed,
    for no source says it: a breakpoint that asks for the longer life does not lengthen a live entry
    of the shorter one, and what lies up to such a breakpoint and is not read is billed as written
    for the longer life all the same.
    """

    def __init__(self, rules: CacheRules) -> None:
        super().__init__(rules)
        self._entries: OrderedDict[Node, _Entry] = OrderedDict()
        """Entries by prefix; the last stored or renewed comes last."""
        lives = (rules.ttl, rules.ttl if rules.long_ttl is None else rules.long_ttl)
        self._ages: dict[float, OrderedDict[Node, None]] = {life: OrderedDict() for life in lives}
        """The prefixes of each life in the same order, in which they also end."""

    def call(
        self,
        prompt: Prompt,
        now: float,
        breakpoints: Sequence[int] | None = None,
        long: int = 0,
    ) -> Usage:
        """Send *prompt* at *now* and return how it is billed: `PrefixCache.call`."""
        self._check(prompt, now)
        self._check_long(prompt, breakpoints, long)
        usage = self._call(prompt, now, breakpoints, long)
        self._now = now
        return usage

    def kept(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return the tokens up to the last breakpoint, 0 if they are below the minimum."""
        self._check_prompt(prompt)
        marks = self._marks(prompt, breakpoints)
        last = prompt.path[marks[-1]].end if marks else 0
        return last if last >= self.rules.minimum else 0

    def long_marks(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return how many breakpoints there are, 0 if the rules know but one life."""
        self._check_prompt(prompt)
        marks = self._marks(prompt, breakpoints)
        return 0 if self.rules.long_ttl is None else len(marks)

    def _call(
        self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None, long: int = 0
    ) -> Usage:
        marks = self._marks(prompt, breakpoints)
        self._expire(now)
        path = prompt.path
        found = self._find(prompt, marks, now)
        if found:
            self._renew(path[found], now)
        read = path[found].end
        written = written_long = stored = 0
        for number, mark in enumerate(marks):
            node = path[mark]
            if node.end < self.rules.minimum:
                continue
            written = node.end - read
            if number < long:
                written_long = max(written, 0)
            if node in self._entries:
                self._renew(node, now)
            else:
                self._store(node, now, number < long)
                stored += node.end
        plain = prompt.tokens - read - written
        return Usage(prompt.tokens, read, written, plain, written_long, stored)

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        return prompt.path[self._find(prompt, self._marks(prompt, breakpoints), now)].end

    def _marks(self, prompt: Prompt, breakpoints: Sequence[int] | None) -> list[int]:
        """Return the places of the breakpoints in order."""
        if breakpoints is not None:
            return _placed(breakpoints, len(prompt))
        end = len(prompt) if self.rules.marks == "head-end" else 0
        return sorted({prompt.head, end} - {0})

    # -- the hit ---------------------------------------------------------------------------

    def _find(self, prompt: Prompt, marks: list[int], now: float) -> int:
        """Return the length in segments of the longest live entry in reach of a mark, or 0."""
        lookback, matched = self.rules.lookback, self.rules.matched
        if matched is None and lookback is not None and lookback < len(self._entries):
            return self._look_back(prompt, marks, lookback, now)
        path, last, best = prompt.path, marks[-1] if marks else 0, 0
        live = (node for node, entry in reversed(self._entries.items()) if entry.expiry > now)
        for node in islice(live, matched):
            length = node.depth
            if (
                best < length <= last
                and path[length] is node
                and _reaches(prompt, length, marks[bisect_left(marks, length)], lookback)
            ):
                best = length
        return best

    def _look_back(self, prompt: Prompt, marks: list[int], lookback: int, now: float) -> int:
        """Return what `_find` does, position by position from each mark towards the front."""
        best = 0
        for mark in reversed(marks):
            length = mark
            for _ in range(lookback + 1):
                if length <= best:
                    break
                entry = self._entries.get(prompt.path[length])
                if entry is not None and entry.expiry > now:
                    best = length
                    break
                length = prompt.position_start(length)
        return best

    # -- lives -----------------------------------------------------------------------------

    def _store(self, node: Node, now: float, long: bool) -> None:
        long_ttl = self.rules.long_ttl
        life = long_ttl if long and long_ttl is not None else self.rules.ttl
        self.tree.pin(node)
        self._entries[node] = _Entry(life, now + life)
        self._ages[life][node] = None

    def _renew(self, node: Node, now: float) -> None:
        if not self.rules.renews:
            return
        entry = self._entries[node]
        entry.expiry = now + entry.life
        self._entries.move_to_end(node)
        self._ages[entry.life].move_to_end(node)

    def _expire(self, now: float) -> None:
        for ages in self._ages.values():
            while ages:
                node = next(iter(ages))
                if self._entries[node].expiry > now:
                    break
                del self._entries[node], ages[node]
                self.tree.unpin(node)


def _reaches(prompt: Prompt, length: int, mark: int, lookback: int | None) -> bool:
    """Return whether an entry of that *length* lies in reach of a *mark* at or behind it."""
    if lookback is None or length == mark:
        return True
    inside_a_run = prompt.position_start(length + 1) != length
    return not inside_a_run and prompt.positions(mark) - prompt.positions(length) <= lookback


def _placed(breakpoints: Sequence[int], length: int) -> list[int]:
    """Return breakpoints that a policy placed, in order, if they can stand in the request."""
    try:
        marks = list(breakpoints)
    except TypeError:
        raise ValueError(f"breakpoints must be a list, not {breakpoints!r}") from None
    for mark in marks:
        if type(mark) is not int:
            raise ValueError(f"a breakpoint must be a whole number, not {mark!r}")
        if not 1 <= mark <= length:
            raise ValueError(f"no breakpoint can stand after segment {mark} of {length}")
    if len(marks) > MAX_BREAKPOINTS:
        raise ValueError(f"a request has at most {MAX_BREAKPOINTS} breakpoints, not {len(marks)}")
    return sorted(marks)
