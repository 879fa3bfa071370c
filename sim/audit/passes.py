"""What the passes of a run removed and what came of it, reckoned once more at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PassLog"]


@dataclass(slots=True)
class PassLog:
    """Everything that happened, in order, as far as the passes are concerned.

    Events are ("left", segment), ("pass", b, S, w), ("fetch", segment, tokens), ("admit",) and
    ("call", tokens read, output dollars, extra); w is in dollars per million tokens.
    """

    rates: Sequence[float] = ()
    """Dollars per million tokens: plain, written, read, output."""
    events: list[tuple[str, Any, Any, Any]] = field(default_factory=list)

    def add(self, what: str, one: Any = None, two: Any = 0, three: Any = None) -> None:
        """Take in the next event."""
        self.events.append((what, one, two, three))

    def paid_back(self) -> int | None:
        """Return how many passes paid back: b·L·r > S·(w − r) + refetch; None if all is free."""
        read = self.rates[2]
        places = [at for at, event in enumerate(self.events) if event[0] == "pass"]
        if any(not read and not self.events[at][3] for at in places):
            return None
        return sum(self._pays(at, read) for at in places)

    def _pays(self, place: int, read: float) -> bool:
        _, removed, behind, write = self.events[place]
        calls = self._calls(place)
        refetch = sum(
            self._refetch(at, write, read)
            for at in range(len(self.events))
            if self.events[at][0] == "fetch" and self._remover(at) == place
        )
        return bool(removed * calls * read > behind * (write - read) + refetch)

    def _calls(self, place: int) -> int:
        return sum(event[0] == "call" for event in self.events[place:])

    def _remover(self, at: int) -> int | None:
        """Return the place of the pass that removed what is fetched at *at*."""
        segment = self.events[at][1]
        left = [i for i in range(at) if self.events[i][:2] == ("left", segment)]
        if not left:
            return None
        return self._next("pass", left[-1])

    def _next(self, what: str, at: int) -> int | None:
        """Return the place of the first event of this sort from *at* on."""
        places = range(at, len(self.events))
        return next((i for i in places if self.events[i][0] == what), None)

    def _refetch(self, at: int, write: float, read: float) -> float:
        """Return what one fetch costs, in millionths of a dollar."""
        _, segment, tokens, _ = self.events[at]
        after = self._next("call", at)
        if after is None:
            return 0.0
        cost: float = tokens * read * self._calls(at)
        if ("left", segment) not in (event[:2] for event in self.events[at:after]):
            cost += tokens * (write - read)
        before = max((i for i in range(at) if self.events[i][0] == "call"), default=-1)
        _, cached, usd, extra = self.events[after]
        sharers = sum(event[0] in ("fetch", "admit") for event in self.events[before + 1 : after])
        if extra:
            cost += (cached * read + usd * 1e6) / sharers
        return cost
