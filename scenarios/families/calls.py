"""The tool calls of a turn: how many, and the draws for what each of them brings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from scenarios.families.builder import Builder
from scenarios.families.sizes import Lognormal, geometric, spread
from sim.errors import InputError

__all__ = ["MOST", "Call", "Calls", "Mix"]

MOST = 8
"""The most calls in one turn."""

_DRAWS = 7


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its place in the turn from 1, the latency and score of its result, and draws.

    *what* is for the tool, *size* for the result, *more* for whatever else the tool needs.
    """

    number: int
    seconds: float
    score: float
    what: float
    size: float
    more: Sequence[float]


class Calls:
    """The calls of each turn; they run at once, each with its own latency."""

    def __init__(self, builder: Builder) -> None:
        settings = builder.settings
        self._mean = settings["calls.mean"]
        self._latency = Lognormal.of(settings, "latency")
        self._low, self._high = settings["score.low"], settings["score.high"]
        self._counts = builder.rows("calls", 1)
        self._draws = builder.rows("call", _DRAWS * MOST)

    def of(self, turn: int) -> Iterator[Call]:
        """Yield the calls of *turn*: at least one, geometric with mean ``calls.mean``."""
        draws = self._draws[turn]
        for number in range(1, 1 + min(MOST, geometric(self._mean, self._counts[turn][0]))):
            seconds, score, what, size, *more = draws[_DRAWS * (number - 1) : _DRAWS * number]
            yield Call(
                number,
                self._latency.seconds(seconds),
                spread(self._low, self._high, score),
                what,
                size,
                more,
            )


class Mix:
    """Tools by their weights ``mix.TOOL``; raises InputError if all of them are 0."""

    def __init__(self, builder: Builder, tools: Sequence[str]) -> None:
        keys = [f"mix.{tool}" for tool in tools]
        self._tools = tools
        self._upto = list(accumulate(builder.settings[key] for key in keys))
        if not self._upto[-1]:
            raise InputError(f"{', '.join(keys)} must not all be 0")

    def pick(self, draw: float) -> str:
        """Return the tool of a draw."""
        at = bisect_right(self._upto, draw * self._upto[-1])
        return self._tools[min(at, len(self._tools) - 1)]
