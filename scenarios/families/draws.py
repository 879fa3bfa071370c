"""Uniform draws of one stream, a row for each turn or attempt, whatever is done with the others."""

from __future__ import annotations

from collections.abc import Sequence

from sim.streams import generator

__all__ = ["Rows"]

_BLOCK = 64


class Rows:
    """Rows of *width* uniform draws in [0, 1), numbered from 1.

    A block of rows comes from one generator per (seed, scenario, stream, block), so row 7 is the
    same however many rows are asked for, and only one block is held at a time.
    """

    __slots__ = ("_block", "_key", "_rows", "width")

    def __init__(self, seed: int, scenario: str, stream: str, width: int) -> None:
        self.width = width
        self._key = (seed, scenario, stream)
        self._block = -1
        self._rows: list[list[float]] = []

    def __getitem__(self, number: int) -> Sequence[float]:
        """Return row *number*, from 1."""
        block, at = divmod(number - 1, _BLOCK)
        if block != self._block:
            self._rows = generator(*self._key, block).random((_BLOCK, self.width)).tolist()
            self._block = block
        return self._rows[at]
