"""Texts cut to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["GAP", "Count", "ends", "fit"]

Count = Callable[[str], int]
"""Counts the tokens of a text."""

_CHARACTERS = 16
"""A token is hardly ever longer: what is cut off by it is cut off before anything is counted."""
GAP = " […] "
"""What stands where the middle of a text is cut out."""


def fit(text: str, tokens: int, count: Count, *, tail: bool = False) -> str:
    """Return the longest beginning of *text*, or with *tail* end, that has at most *tokens*."""
    room = max(0, tokens) * _CHARACTERS
    text = (text[-room:] if tail else text[:room]) if room else ""
    if count(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        piece = text[-middle:] if tail else text[:middle]
        low, high = (middle, high) if count(piece) <= tokens else (low, middle - 1)
    return text[len(text) - low :] if tail else text[:low]


def ends(text: str, tokens: int, count: Count, share: float = 0.5) -> str:
    """Return both ends of *text* around a marked gap, in at most *tokens*; all of it if it fits.

    The front has *share* of what is left of it.
    """
    if count(text) <= tokens:
        return text
    room = tokens - count(GAP)
    if room < 2:
        return fit(text, tokens, count, tail=share <= 0.0)
    head = int(room * share)
    return fit(text, head, count) + GAP + fit(text, room - head, count, tail=True)
