"""What was reported and no scenario tells of: what it is, and why the model cannot express it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BEYOND", "Beyond"]


class Beyond(NamedTuple):
    """A reported failure, or the part of one, that is not told, and *why*."""

    row: int
    threads: tuple[str, ...]
    fails: str
    why: str


BEYOND: tuple[Beyond, ...] = ()
"""By the number of the row."""
