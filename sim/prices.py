"""What a call costs: cache rules, speed and prices as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.prefix_cache.usage import Usage

__all__ = ["EVICTIONS", "MARKS", "RULES", "CacheRules", "Price", "Speed"]

RULES = ("auto", "blocks", "breakpoints", "none")
"""Names of the cache rules: what counts as a hit."""

MARKS = ("head-end", "head")
"""Where breakpoints stand by default: after the last `tools` or `system` segment and at the end of
the request, or only after the first of the two."""

EVICTIONS = ("lru", "lfu", "length-aware")
"""Orders in which a server frees blocks: least recently used first; least frequently used first,
counted while a block is there; and, of those, what lies furthest back in its request first."""

_PER_MILLION = 1_000_000
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class CacheRules:
    """The rule by which a provider or server caches prefixes, with its numbers.

    *minimum* is the shortest prefix cached and *step* the unit it is cached in, both in tokens;
    *ttl* is the life of an entry in seconds, *long_ttl* the longer life that a breakpoint may ask
    for (None: there is but one life), and *renews* says that a read starts the life of what was
    read anew; *lookback* is how many positions before a breakpoint are searched (None: any
    entry that the request begins with is found) and *matched* how many of the entries, the latest,
    are compared (None: all); *marks* is where breakpoints stand by default, one of :data:`MARKS`;
    *capacity* is the number of blocks a server holds (None: no limit) and *evict* the order in
    which they are freed, one of :data:`EVICTIONS`.
    Each rule reads only its own: `auto` minimum, step, ttl, renews; `breakpoints` minimum, ttl,
    long_ttl, renews, lookback, matched, marks; `blocks` step, capacity, evict.
    Raises ValueError for an unknown rule or a number out of range.
    """

    rule: str
    minimum: int = 0
    step: int = 1
    ttl: float = inf
    lookback: int | None = 20
    capacity: int | None = None
    long_ttl: float | None = None
    renews: bool = True
    matched: int | None = None
    marks: str = "head-end"
    evict: str = "lru"

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"unknown cache rule {self.rule!r}; known: {', '.join(RULES)}")
        if self.marks not in MARKS:
            raise ValueError(f"marks must be one of {', '.join(MARKS)}, not {self.marks!r}")
        if self.evict not in EVICTIONS:
            raise ValueError(f"evict must be one of {', '.join(EVICTIONS)}, not {self.evict!r}")
        _at_least(0, minimum=self.minimum)
        _at_least(1, step=self.step)
        if self.lookback is not None:
            _at_least(0, lookback=self.lookback)
        if self.capacity is not None:
            _at_least(1, capacity=self.capacity)
        if self.matched is not None:
            _at_least(1, matched=self.matched)
        if not self.ttl > 0:
            raise ValueError(f"ttl must be above 0, not {self.ttl}")
        if self.long_ttl is not None and not self.long_ttl >= self.ttl:
            raise ValueError(f"long_ttl must be at least ttl, {self.ttl}, not {self.long_ttl}")


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model reads and writes: three rates in tokens per second, an overhead in seconds.

    *hit_uncached* is how many tokens of a prompt a hit leaves uncached in the measurement that the
    rates are from; only :meth:`first_token_seconds` looks at it.
    Raises ValueError for a rate that is not above 0, or an overhead or a size below 0.
    """

    prefill_rate: float
    cached_rate: float
    overhead: float
    decode_rate: float
    hit_uncached: int = 0

    def __post_init__(self) -> None:
        for name in ("prefill_rate", "cached_rate", "decode_rate"):
            rate = getattr(self, name)
            if not rate > 0:
                raise ValueError(f"{name} must be above 0, not {rate}")
        _finite_from_zero(overhead=self.overhead)
        _at_least(0, hit_uncached=self.hit_uncached)

    def prefill_seconds(self, uncached: int, cached: int) -> float:
        """Return the seconds from request to first token for so many tokens of either sort."""
        return uncached / self.prefill_rate + cached / self.cached_rate + self.overhead

    def first_token_seconds(self, tokens: int, hit: bool) -> float:
        """Return the seconds to the first token for a prompt of *tokens*, with or without a hit."""
        uncached = min(tokens, self.hit_uncached) if hit else tokens
        return self.prefill_seconds(uncached, tokens - uncached)

    def decode_seconds(self, output: int) -> float:
        """Return the seconds that *output* tokens take to write."""
        return output / self.decode_rate


@dataclass(frozen=True, slots=True)
class Price:
    """A row of the price book: what a model bills, how it caches and how fast it is.

    *input*, *write*, *read* and *output* are US dollars per million tokens: plain input, input
    written to the cache, input read from it, and output; *long_write* is the price of input written
    for the longer life. *storage* is US dollars per million tokens and hour, billed for the whole
    life of an entry when it is stored. Above *cliff_tokens* input tokens (None:
    no cliff) the whole request is billed at *cliff_input* and *cliff_output* times these prices;
    *cliff_inclusive* says that a request of exactly that size is, too. *no_edit* says that the
    provider can forbid edits of earlier history. *slots* is how many requests a server prefills at
    once (None: any number). *source* and *date* say
    where the row is from, *assumed* names the fields that no source gives.
    Raises ValueError for a price or factor that is negative or not finite, for a longer life
    without its price or the other way round, and for storage without one end of life.
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
    long_write: float | None = None
    storage: float = 0.0
    no_edit: bool = False
    slots: int | None = None
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
            storage=self.storage,
        )
        if self.cliff_tokens is not None:
            _at_least(0, cliff_tokens=self.cliff_tokens)
        if self.slots is not None:
            _at_least(1, slots=self.slots)
        if self.long_write is not None:
            _finite_from_zero(long_write=self.long_write)
        if (self.long_write is None) != (self.rules.long_ttl is None):
            raise ValueError(
                "long_write and long_ttl go together: one without the other is no life"
            )
        if self.storage and not isfinite(self.rules.ttl):
            raise ValueError("storage is billed for a life that ends, and ttl is infinite")
        if self.storage and self.rules.long_ttl is not None:
            raise ValueError("storage is billed for one life, and long_ttl is another")

    @property
    def ratio(self) -> float | None:
        """R, what a token read again costs more than one kept: (w - r) / r; None if reads are free.

        w is the price of what is written, r of what is read.
        """
        return (self.write - self.read) / self.read if self.read else None

    def input_cost(self, usage: Usage) -> float:
        """Return the US dollars that a request's input costs."""
        micro_usd = usage.read * self.read + usage.written * self.write + usage.plain * self.input
        if usage.written_long and self.long_write is not None:
            micro_usd += usage.written_long * (self.long_write - self.write)
        factor = self.cliff_input if self.over_cliff(usage.tokens) else 1.0
        return micro_usd * factor / _PER_MILLION + self.storage_cost(usage)

    def storage_cost(self, usage: Usage) -> float:
        """Return the US dollars for keeping what a request has stored until its life ends."""
        if not usage.stored or not self.storage:
            return 0.0
        return usage.stored * self.storage * self.rules.ttl / _HOUR / _PER_MILLION

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
