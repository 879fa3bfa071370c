"""What every prefix cache can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sim.prefix_cache.prompt import Prompt
from sim.prefix_cache.tree import PrefixTree
from sim.prefix_cache.usage import Usage
from sim.prices import CacheRules

__all__ = ["PrefixCache", "Uncached"]


class PrefixCache(ABC):
    """A provider's or server's memory of prefixes, which several agents may share.

    Times are seconds and never go back from one call to the next. A call takes time
    proportional to what changed at the end of its prompt and to the number of live entries.
    """

    def __init__(self, rules: CacheRules) -> None:
        self.rules = rules
        self.tree = PrefixTree()
        self._now = float("-inf")

    def prompt(self) -> Prompt:
        """Return a new, empty prompt for one agent's requests to this cache."""
        return Prompt(self.tree)

    def call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None = None) -> Usage:
        """Send *prompt* at *now*, the start of the request, and return how it is billed.

        *breakpoints* are numbers of leading segments after which one stands; None is the default
        placement. Rules other than `breakpoints` do not look at them. Raises ValueError for a
        prompt of another cache, a time before the last call's, or breakpoints that cannot be.
        """
        self._check(prompt, now)
        usage = self._call(prompt, now, breakpoints)
        self._now = now
        return usage

    def lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None = None) -> int:
        """Return the tokens that `call` would read, and change nothing."""
        self._check(prompt, now)
        return self._lookup(prompt, now, breakpoints)

    @abstractmethod
    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage: ...

    @abstractmethod
    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int: ...

    def _check(self, prompt: Prompt, now: float) -> None:
        if prompt.tree is not self.tree:
            raise ValueError("the prompt belongs to another cache")
        if not now >= self._now:
            raise ValueError(f"a call at {now} s cannot follow one at {self._now} s")


class Uncached(PrefixCache):
    """The rule `none`: every token is computed and billed as plain input."""

    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage:
        return Usage(prompt.tokens, 0, 0, prompt.tokens)

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        return 0
