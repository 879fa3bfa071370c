"""Paying back: removal that waits until it saves more than the broken prefix costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

from policies.parts.ranking import BySalience
from policies.parts.units import counted, leading
from sim.actions import Evict

if TYPE_CHECKING:
    from policies.options import Value
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Horizon", "PayBack", "Rules", "known", "so_far"]

Horizon = Callable[["View"], float]
"""How many calls are still to come, the next one included."""


def so_far(view: View) -> float:
    """Return as many calls as there were so far: with no other knowledge, half of it is over."""
    return max(1, view.cache.calls)


def known(view: View) -> float:
    """Return the turns to go, as a policy could only know that is told the end."""
    return view.turns - view.turn + 1


class Rules(NamedTuple):
    """How a removal is weighed."""

    refetch: float = 0.25
    """Share of what goes that will have to be brought back, at w."""
    patience: float = 1.0
    """Share of what a cut costs that carrying what is due must have cost before it is made."""
    batch: bool = True
    """Weigh what is due together, so that the prefix is broken once; else one by one."""
    last_first: bool = True
    """From the end of the request, else from its front."""
    cold: bool = False
    """Wait until nothing is cached any more, so that a cut costs nothing."""


class PayBack:
    """Evicts what is *due*, below a salience, where that saves more than it costs.

    What came in this turn is due only where it must fit: no call has had it yet. A removal saves
    b·L·r. It costs S·(w − r), and a share of b at w for what will have to be brought back. Of the
    batches from the end (or the front) of the request, each all that is due up to some position,
    the one that gains most goes. It must have been waited for: each turn that a due token is
    carried costs r, and only when that adds up to the cost of the cut is it made. That is the
    economic lot (Harris 1913): what a lot costs to hold until it is sent is what it costs to send.
    A window that does not fit takes the best batch of those that make it fit, even at a loss and at
    once.

    A pass costs O(k·log n) time for k due segments in a window of n.
    """

    def __init__(
        self, below: Value, horizon: Horizon, member: Callable[[Segment], bool], rules: Rules
    ) -> None:
        self._below = below
        self._horizon = horizon
        self._rules = rules
        self._low = BySalience(member)

    def start(self, view: View) -> None:
        """Ask for the candidates by salience."""
        self._low.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        """Evict what pays back, or what is needed to fit."""
        cache, rules = view.cache, self._rules
        scale = _Scale(
            self._horizon(view) * cache.read - rules.refetch * cache.write,
            cache.write - cache.read,
            cache.read,
            rules.patience,
        )
        waits = scale.saved <= 0 or (rules.cold and cache.live > 0)
        if waits and view.over <= 0:
            return
        dues = self._due(view)
        going = _best(view, dues, scale) if rules.batch else _each(view, dues, scale, waits)
        for due in going:
            yield Evict(due.unit[0].id, "pays back")

    def _due(self, view: View) -> list[_Due]:
        """Return what is due, in the order of position."""
        limit, fits, seen = self._below(view), view.over <= 0, set[str]()
        low = self._low.below(view, limit)
        low.sort(key=lambda s: s.slot, reverse=self._rules.last_first)
        found = []
        for segment in low:
            if segment.id in seen:
                continue
            unit = view.together(segment)
            seen.update(s.id for s in unit)
            counts = leading(unit)
            unread = fits and any(s.admitted_turn == view.turn for s in unit)
            if not unread and all(view.salience(s) < limit for s in counts):
                turns = min(_turns_due(view, s, limit) for s in counts)
                found.append(_Due(unit, counted(view, unit), turns))
        return found


class _Due(NamedTuple):
    """What leaves together and is below the limit."""

    unit: list[Segment]
    tokens: int
    turns: float
    """For how long it has been below."""


def _turns_due(view: View, segment: Segment, limit: float) -> float:
    """Return how long ago the salience of *segment*, now below *limit*, fell to it."""
    decay, salience = view.settings.salience_decay, view.salience(segment)
    age = view.turn - segment.scored_at
    if segment.score < limit or salience <= 0.0 or decay >= 1.0:
        return age
    return min(age, log(salience / limit) / log(decay))


class _Scale(NamedTuple):
    """What tokens weigh, in millionths of a dollar, and how long a cut is waited for."""

    saved: float
    """A token gone saves that."""
    lost: float
    """A token behind the cut costs that."""
    carried: float
    """A token that is due costs that each turn."""
    patience: float


class _Cut(NamedTuple):
    """What leaves together: b, and what it takes to know S."""

    front: Segment | None = None
    """The first of it in the request."""
    tokens: int = 0
    """b"""
    cached: int = 0
    """The part of b that the next request would read."""
    waited: float = 0.0
    """Tokens times the turns that they have been due."""

    def joined(self, view: View, due: _Due) -> _Cut:
        """Return the cut that takes *due* as well."""
        return _Cut(
            min(due.unit if self.front is None else [self.front, *due.unit], key=lambda s: s.slot),
            self.tokens + due.tokens,
            self.cached + sum(view.cache.cached(s) for s in due.unit),
            self.waited + due.tokens * due.turns,
        )

    def behind(self, view: View) -> int:
        """Return S: the cached tokens that stay behind the first segment that leaves."""
        front, cache = self.front, view.cache
        if front is None:
            return 0
        return max(0, cache.behind(front) - self.cached + cache.cached(front))


def _best(view: View, dues: Sequence[_Due], scale: _Scale) -> Sequence[_Due]:
    """Return the batch that gains most; all of *dues* if the window must fit and cannot."""
    need, best, count = view.over, 0.0, 0
    forced, cut = need > 0, _Cut()
    for place, due in enumerate(dues, 1):
        cut = cut.joined(view, due)
        lost = cut.behind(view) * scale.lost
        gain = cut.tokens * scale.saved - lost
        if forced:
            allowed = cut.tokens >= need and (count == 0 or gain > best)
        else:
            allowed = gain > best and cut.waited * scale.carried >= scale.patience * lost
        if allowed:
            best, count = gain, place
    return dues if forced and count == 0 else dues[:count]


def _each(view: View, dues: Sequence[_Due], scale: _Scale, waits: bool) -> Sequence[_Due]:
    """Return each that gains something, given those before it, or is needed to fit."""
    need, cut, behind = view.over, _Cut(), 0
    taken = []
    for due in dues:
        more = cut.joined(view, due)
        deeper = more.behind(view)
        lost = (deeper - behind) * scale.lost
        waited = due.tokens * due.turns * scale.carried >= scale.patience * lost
        pays = not waits and waited and due.tokens * scale.saved > lost
        if pays or cut.tokens < need:
            cut, behind = more, deeper
            taken.append(due)
    return taken
