"""Trigrams: a quick no to whether a string occurs in a long text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LONG", "Trigrams"]

LONG = 1 << 20
"""Characters from which on looking for hundreds of strings one by one costs more than the table."""

_PIECE = 1 << 20


class Trigrams:
    """The runs of three UTF-8 bytes that a text has: a string with another one is not in it."""

    def __init__(self, text: str) -> None:
        import numpy as np

        self._table: NDArray[np.bool_] = np.zeros(1 << 24, dtype=np.bool_)
        for start in range(0, len(text), _PIECE):
            piece = text[start : start + _PIECE + 2]
            self._table[self._numbers(piece)] = True

    def may_hold(self, string: str) -> bool:
        """Return False if *string* is not in the text; True says nothing."""
        return bool(self._table[self._numbers(string)].all())

    @staticmethod
    def _numbers(text: str) -> NDArray[np.uint32]:
        import numpy as np

        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        wide = data.astype(np.uint32)
        numbers = wide[:-2] << np.uint32(16) | wide[1:-1] << np.uint32(8) | wide[2:]
        return numbers
