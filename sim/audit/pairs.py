"""Calls and their results, which stay or leave together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["Pairs"]


class _Stand(Enum):
    """How a member of a pair stands with regard to the window."""

    OUTSIDE = auto()
    """Not admitted yet, refused at the door, or parted from its pair for good."""
    WHOLE = auto()
    REWRITTEN = auto()
    GONE = auto()


@dataclass(slots=True)
class _Pair:
    whole: int = 0
    rewritten: int = 0
    gone: int = 0

    @property
    def split(self) -> bool:
        return self.whole > 0 and self.gone > 0


class Pairs:
    """Which pairs are split: one member resident as it came, another gone without a stand-in.

    A member still under way or refused at the door splits nothing, nor does one that a surrogate
    or invented text stands for. A member that is fetched comes back as a request of its own, and
    one whose partner had been rewritten or was gone when it came never stood beside it: neither
    counts any more.
    """

    __slots__ = ("_pair_of", "_pairs", "_parted", "_stand", "split")

    def __init__(self) -> None:
        self.split: set[str] = set()
        self._pairs: dict[str, _Pair] = {}
        self._pair_of: dict[str, str] = {}
        self._stand: dict[str, _Stand] = {}
        self._parted: set[str] = set()

    def join(self, segment: str, pair: str) -> None:
        """Note that *segment* belongs to *pair*."""
        self._pair_of[segment] = pair
        self._stand[segment] = _Stand.OUTSIDE
        self._pairs.setdefault(pair, _Pair())

    def admit(self, segment: str) -> None:
        """*segment* enters for the first time."""
        pair = self._pair_of.get(segment)
        if pair is not None and (self._pairs[pair].gone or self._pairs[pair].rewritten):
            self._parted.add(segment)
        self._change(segment, _Stand.WHOLE)

    def fetch(self, segment: str) -> None:
        """*segment* comes back by itself."""
        self._change(segment, _Stand.OUTSIDE)
        self._parted.add(segment)

    def leave(self, segment: str) -> None:
        """*segment*, or the last that stood for it, leaves."""
        self._change(segment, _Stand.GONE)

    def rewrite(self, segment: str) -> None:
        """A surrogate takes the place of *segment*."""
        self._change(segment, _Stand.REWRITTEN)

    def reveal(self, segment: str) -> None:
        """*segment* stands again where its surrogate stood."""
        self._change(segment, _Stand.WHOLE)

    def of(self, segment: str) -> str | None:
        """Return the pair that *segment* came in, if it came in one."""
        return self._pair_of.get(segment)

    def _change(self, segment: str, stand: _Stand) -> None:
        name = self._pair_of.get(segment)
        if name is None or segment in self._parted:
            return
        pair, old = self._pairs[name], self._stand[segment]
        pair.whole += (stand is _Stand.WHOLE) - (old is _Stand.WHOLE)
        pair.rewritten += (stand is _Stand.REWRITTEN) - (old is _Stand.REWRITTEN)
        pair.gone += (stand is _Stand.GONE) - (old is _Stand.GONE)
        self._stand[segment] = stand
        if pair.split:
            self.split.add(name)
        else:
            self.split.discard(name)
