"""Recorded calls through the simulator's prefix cache: what would have been read, call by call.

Only sizes and times are used: a prompt that is longer than the one before continues it, a shorter
one keeps its static prefix and no more. There is one cache a thread, so that nothing is shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench.gates.calls import Call, Thread, missed
from sim.prefix_cache import make_cache
from sim.prices import CacheRules

__all__ = ["MINIMUM", "STATIC", "Outcome", "Tally", "predict", "replay", "tally"]

STATIC = 18_000
"""Tokens of a prompt that a shrink leaves: the typical first-call read of a Claude Code session
(gate `ttl-replay`, the one fitted value)."""

MINIMUM = 1_024
"""The shortest prefix that is cached, in tokens; the models of the recordings ask for 1,024 to
4,096, and no prompt of theirs is shorter than that."""

_LOOKBACK = 20


class Outcome(NamedTuple):
    """A recorded call and the tokens of it that the simulator says were read."""

    call: Call
    predicted: int


def predict(
    calls: Sequence[Call], life: float, static: int = STATIC, starts: bool = False
) -> list[int]:
    """Return how many tokens each of *calls* would have read, with entries that live *life* s.

    The rule is `breakpoints` with the default placement: after the system prompt, which is the
    *static* prefix, and at the end. The clock adds up the gaps; with *starts* it is the time at
    which each answer began.
    """
    cache = make_cache(CacheRules("breakpoints", MINIMUM, ttl=life, lookback=_LOOKBACK))
    prompt = cache.prompt()
    now, found = 0.0, []
    for number, call in enumerate(calls):
        if starts:
            now = max(now, call.time)
        else:
            now += call.gap or 0.0
        if call.tokens < prompt.tokens:
            kept = 1 if prompt.head and prompt.path[1].end <= call.tokens else 0
            prompt.truncate(kept)
        if not len(prompt) and static:
            prompt.append("static", 0, min(static, call.tokens), "system")
        if call.tokens > prompt.tokens:
            prompt.append(number, 0, call.tokens - prompt.tokens, "user")
        found.append(cache.call(prompt, now).read)
    return found


def replay(
    threads: Iterable[Thread],
    life: float | None = None,
    static: int = STATIC,
    starts: bool = False,
) -> list[Outcome]:
    """Return what became of every call; *life* in seconds is for all, None is each thread's own."""
    return [
        Outcome(call, predicted)
        for thread in threads
        for call, predicted in zip(
            thread.calls,
            predict(thread.calls, thread.life if life is None else life, static, starts),
            strict=True,
        )
    ]


@dataclass(frozen=True, slots=True)
class Tally:
    """Some calls added up, in tokens; *wrong* counts those whose miss flag is not the recorded."""

    calls: int
    tokens: int
    read: int
    predicted: int
    error: int
    """Sum over the calls of how far the prediction is off."""
    wrong: int

    @property
    def recorded_hit(self) -> float | None:
        """Percent of the prompt tokens that were read; None without a call."""
        return self._percent(self.read)

    @property
    def predicted_hit(self) -> float | None:
        """Percent of the prompt tokens that the simulator says were read."""
        return self._percent(self.predicted)

    @property
    def difference(self) -> float | None:
        """Predicted less recorded hit, in points."""
        return self._percent(self.predicted - self.read)

    @property
    def absolute_error(self) -> float | None:
        """Sum of the absolute errors, in percent of the prompt tokens."""
        return self._percent(self.error)

    @property
    def wrong_flags(self) -> float | None:
        """Percent of the calls whose miss flag is not the recorded one."""
        return 100.0 * self.wrong / self.calls if self.calls else None

    def _percent(self, part: int) -> float | None:
        return 100.0 * part / self.tokens if self.tokens else None


def tally(outcomes: Iterable[Outcome]) -> Tally:
    """Return *outcomes* added up."""
    calls = tokens = read = predicted = error = wrong = 0
    for call, said in outcomes:
        calls += 1
        tokens += call.tokens
        read += call.read
        predicted += said
        error += abs(said - call.read)
        wrong += missed(said, call.tokens) is not call.missed
    return Tally(calls, tokens, read, predicted, error, wrong)
