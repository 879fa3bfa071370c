"""Room: how many tokens a reduced result may take, counted by a real tokenizer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sim.errors import InputError

if TYPE_CHECKING:
    from sim.tokens import Tokenizer

__all__ = ["LEAST", "Room", "clip"]

LEAST = 40
"""The smallest budget of a tool: below it not even the markers fit."""
_LONGEST = 128
"""Characters of the longest token of the vocabularies in use."""
_MARK = 24
"""Characters that a mark of a cut takes, about."""


@dataclass(frozen=True, slots=True)
class Room:
    """A limit in tokens, the tokenizer that counts, and what a marker says about asking.

    *ask* ends the sentence of a marker: how what is missing can be had.
    """

    limit: int
    tokenizer: Tokenizer
    ask: str = "narrow the call to see more"

    def count(self, text: str) -> int:
        """Return the tokens of *text*."""
        return self.tokenizer.count(text)

    def fits(self, text: str) -> bool:
        """Whether *text* is within the limit."""
        if len(text) > _LONGEST * self.limit:
            return False
        return self.count(text) <= self.limit

    def of(self, limit: int) -> Room:
        """Return the same room with another *limit*."""
        return replace(self, limit=limit)

    def longest(self, text: str, limit: int, *, end: bool = False) -> str:
        """Return the longest start (or *end*) of *text* that takes at most *limit* tokens."""
        if limit <= 0:
            return ""
        low, high = 0, min(len(text), _LONGEST * limit)

        def cut(size: int) -> str:
            return text[len(text) - size :] if end else text[:size]

        guess = min(high, 4 * limit)
        while guess < high and self.count(cut(guess)) <= limit:
            low, guess = guess, min(high, 2 * guess)
        high = min(high, guess)
        if self.count(cut(high)) <= limit:
            return cut(high)
        while high - low > 1:
            middle = (low + high) // 2
            if self.count(cut(middle)) <= limit:
                low = middle
            else:
                high = middle
        return cut(low)

    @staticmethod
    def check(limit: int, what: str) -> int:
        """Return *limit*; raises InputError, naming *what* declares it, if it is too small."""
        if limit < LEAST:
            raise InputError(f"{what}: a budget of {limit} tokens is below the least of {LEAST}")
        return limit


def clip(line: str, most: int = 800, keep: int = 0) -> str:
    """Return *line*, about *most* characters of it, with a mark of how many are missing.

    Its first *keep* characters stay, however many they are.
    """
    head, tail = max(keep, most * 3 // 4), most // 4
    if len(line) <= head + tail + _MARK:
        return line
    return f"{line[:head]}[…{len(line) - head - tail:,} characters…]{line[len(line) - tail :]}"
