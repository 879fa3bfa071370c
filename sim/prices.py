"""What a call costs: cache rules, speed and prices as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.prefix_cache.usage import Usage

__all__ = ["RULES", "CacheRules", "Price", "Speed"]

RULES = ("auto", "blocks", "breakpoints", "none")
"""Names of the cache rules: what counts as a hit."""

_PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class CacheRules:
    """The rule by which a provider or server caches prefixes, with its numbers.

    *minimum* is the shortest prefix cached and *step* the unit it is cached in, both in tokens;
    *ttl* is the life of an entry in seconds; *lookback* is how many positions before a breakpoint
    are searched; *capacity* is the number of blocks a server holds (None: no limit).
    Each rule reads only its own: `auto` minimum, step, ttl; `breakpoints` minimum, ttl, lookback;
    `blocks` step, capacity. Raises ValueError for an unknown rule or a number out of range.
    """

    rule: str
    minimum: int = 0
    step: int = 1
    ttl: float = inf
    lookback: int = 20
    capacity: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"unknown cache rule {self.rule!r}; known: {', '.join(RULES)}")
        _at_least(0, minimum=self.minimum, lookback=self.lookback)
        _at_least(1, step=self.step)
        if self.capacity is not None:
            _at_least(1, capacity=self.capacity)
        if not self.ttl > 0:
            raise ValueError(f"ttl must be above 0, not {self.ttl}")


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model reads and writes: three rates in tokens per second, an overhead in seconds.

    Raises ValueError for a rate that is not above 0 or an overhead below 0.
    """

    prefill_rate: float
    cached_rate: float
    overhead: float
    decode_rate: float

    def __post_init__(self) -> None:
        for name in ("prefill_rate", "cached_rate", "decode_rate"):
            rate = getattr(self, name)
            if not rate > 0:
                raise ValueError(f"{name} must be above 0, not {rate}")
        _finite_from_zero(overhead=self.overhead)

    def prefill_seconds(self, uncached: int, cached: int) -> float:
        """Return the seconds from request to first token for so many tokens of either sort."""
        return uncached / self.prefill_rate + cached / self.cached_rate + self.overhead

    def decode_seconds(self, output: int) -> float:
        """Return the seconds that *output* tokens take to write."""
        return output / self.decode_rate


@dataclass(frozen=True, slots=True)
class Price:
    """A row of the price book: what a model bills, how it caches and how fast it is.

    *input*, *write*, *read* and *output* are US dollars per million tokens: plain input, input
    written to the cache, input read from it, and output. Above *cliff_tokens* input tokens (None:
    no cliff) the whole request is billed at *cliff_input* and *cliff_output* times these prices;
    *cliff_inclusive* says that a request of exactly that size is, too. *source* and *date* say
    where the row is from, *assumed* names the fields that no source gives.
    Raises ValueError for a price or factor that is negative or not finite.
    """

    name: str
    input: float
    write: float
    read: float
    output: float
    rules: CacheRules
    speed: Speed
    cliff_tokens: int | None = None
    cliff_input: float = 1.0
    cliff_output: float = 1.0
    cliff_inclusive: bool = False
    source: str = ""
    date: str = ""
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _finite_from_zero(
            input=self.input,
            write=self.write,
            read=self.read,
            output=self.output,
            cliff_input=self.cliff_input,
            cliff_output=self.cliff_output,
        )
        if self.cliff_tokens is not None:
            _at_least(0, cliff_tokens=self.cliff_tokens)

    def input_cost(self, usage: Usage) -> float:
        """Return the US dollars that a request's input costs."""
        micro_usd = usage.read * self.read + usage.written * self.write + usage.plain * self.input
        factor = self.cliff_input if self.over_cliff(usage.tokens) else 1.0
        return micro_usd * factor / _PER_MILLION

    def output_cost(self, tokens: int, request_tokens: int) -> float:
        """Return the US dollars for *tokens* of output after a request of *request_tokens*."""
        factor = self.cliff_output if self.over_cliff(request_tokens) else 1.0
        return tokens * self.output * factor / _PER_MILLION

    def over_cliff(self, request_tokens: int) -> bool:
        """Return whether a request of this size is billed at the higher price."""
        if self.cliff_tokens is None:
            return False
        if self.cliff_inclusive:
            return request_tokens >= self.cliff_tokens
        return request_tokens > self.cliff_tokens


def _at_least(least: int, **values: int) -> None:
    for name, value in values.items():
        if value < least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def _finite_from_zero(**values: float) -> None:
    for name, value in values.items():
        if not (isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be a finite number of at least 0, not {value}")
