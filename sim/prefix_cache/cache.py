"""What every prefix cache can do."""

from __future__ import annotations

import sys
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

    def call(
        self,
        prompt: Prompt,
        now: float,
        breakpoints: Sequence[int] | None = None,
        long: int = 0,
    ) -> Usage:
        """Send *prompt* at *now*, the start of the request, and return how it is billed.

        *breakpoints* are numbers of leading segments after which one stands; None is the default
        placement. Rules other than `breakpoints` do not look at them. The first *long* of them, in
        the order of the request, ask for the longer life; at most `long_marks` can. Raises
        ValueError for a prompt of another cache, a time before the last call's, breakpoints that
        cannot be, or more of them for the longer life than can ask for it.
        """
        self._check(prompt, now)
        self._check_long(prompt, breakpoints, long)
        usage = self._call(prompt, now, breakpoints)
        self._now = now
        return usage

    def lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None = None) -> int:
        """Return the tokens that `call` would read, and change nothing.

        Raises ValueError as `call` does.
        """
        self._check(prompt, now)
        return self._lookup(prompt, now, breakpoints)

    def kept(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return the tokens that the very same request, sent again at once, would read.

        The rule alone decides, whatever the cache holds. Raises ValueError as `call` does.
        """
        raise NotImplementedError

    def long_marks(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return how many of the request's breakpoints can ask for the longer life.

        0 if the rules know no longer life. Raises ValueError as `call` does.
        """
        self._check_prompt(prompt)
        return 0

    @abstractmethod
    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage: ...

    @abstractmethod
    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int: ...

    def _check(self, prompt: Prompt, now: float) -> None:
        self._check_prompt(prompt)
        number = isinstance(now, (int, float)) and not isinstance(now, bool)
        if not number or not abs(now) <= sys.float_info.max:
            raise ValueError(f"a call must start at a finite number of seconds, not {now!r}")
        if now < self._now:
            raise ValueError(f"a call at {now} s cannot follow one at {self._now} s")

    def _check_prompt(self, prompt: Prompt) -> None:
        if not isinstance(prompt, Prompt):
            raise ValueError(f"only a prompt of this cache can be sent, not {prompt!r}")
        if prompt.tree is not self.tree:
            raise ValueError("the prompt belongs to another cache")

    def _check_long(self, prompt: Prompt, breakpoints: Sequence[int] | None, long: int) -> None:
        if type(long) is not int or long < 0:
            raise ValueError(f"long must be a whole number from 0 on, not {long!r}")
        if not long:
            return
        if self.rules.long_ttl is None:
            raise ValueError("no breakpoint can ask for a longer life, as there is but one")
        most = self.long_marks(prompt, breakpoints)
        if long > most:
            raise ValueError(
                f"long is {long}, but the request has {most} breakpoints "
                "that can ask for the longer life"
            )


class Uncached(PrefixCache):
    """The rule `none`: every token is computed and billed as plain input."""

    def kept(self, prompt: Prompt, breakpoints: Sequence[int] | None = None) -> int:
        """Return 0: nothing is kept."""
        self._check_prompt(prompt)
        return 0

    def _call(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> Usage:
        return Usage(prompt.tokens, 0, 0, prompt.tokens)

    def _lookup(self, prompt: Prompt, now: float, breakpoints: Sequence[int] | None) -> int:
        return 0
