"""What a reducer measured of one real tool result: sizes, and what it says where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measure", "Measured", "Point"]


@dataclass(frozen=True, slots=True)
class Point:
    """One thing that a result says: a distinct failure, or a file with an error.

    *says* is the line that names it, *at* where that stands, in tokens from the front; *kept* is
    whether the reduced text names it.
    """

    name: str
    says: str
    at: int
    kept: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """A result of *tokens*, reduced to *reduced_tokens* by the reducer *tool*, of sort *kind*.

    *points* are in the order of the output, *files* the paths that it names. *delta_tokens* is the
    size of the difference to the result before, where one was given and the limit holds it.
    *tokenizer* counted.
    """

    tool: str
    kind: str
    tokens: int
    reduced_tokens: int
    points: tuple[Point, ...]
    files: tuple[str, ...]
    tokenizer: str
    delta_tokens: int | None = None


Measure = Callable[[bytes, int, str | None, bytes | None], Measured]
"""Measures a raw result against a limit in tokens, with a reducer by name or by content (None).

The last argument is the raw result of the same tool before it, or None.
"""
