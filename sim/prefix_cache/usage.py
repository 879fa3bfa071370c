"""How the tokens of one request are billed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Usage"]


class Usage(NamedTuple):
    """The tokens of one request and what became of them: tokens = read + written + plain."""

    tokens: int
    read: int
    """Read from the cache."""
    written: int
    """Computed and billed as written to the cache."""
    plain: int
    """Computed and billed as ordinary input."""
    written_long: int = 0
    """The part of what was written that lives the longer life."""
    stored: int = 0
    """Tokens of all entries stored anew, each from its beginning, where storage is billed."""
