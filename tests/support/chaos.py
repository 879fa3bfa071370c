"""A policy that does anything a policy may ask for, right or wrong, as its seed decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from sim.actions import (
    Action,
    Admit,
    Breakpoints,
    Evict,
    Grant,
    Refresh,
    Refuse,
    RehydrationBlocked,
    Reread,
    Restore,
    Reveal,
    Rewrite,
)
from sim.policy import DECLARABLE
from sim.reduction import HEADS
from sim.segments import Segment
from sim.streams import uniform
from sim.summariser import Summariser

__all__ = ["Chaos"]

T = TypeVar("T")


class Chaos:
    """Every hook, each answered at random; *sane* leaves out what no rule can ever admit."""

    label = "chaos"
    needs: frozenset[str] = frozenset()

    def __init__(self, seed: int, declares: frozenset[str] = DECLARABLE, sane: bool = True) -> None:
        self.declares = declares
        self._seed = seed
        self._sane = sane
        self._drawn = 0

    def _draw(self) -> float:
        self._drawn += 1
        return uniform(self._seed, "chaos", self._drawn)

    def _chance(self, share: float) -> bool:
        return self._draw() < share

    def _pick(self, values: Sequence[T]) -> T:
        return values[int(self._draw() * len(values))]

    def _tokens(self, most: int) -> int:
        return 1 + int(self._draw() * most)

    def _segment(self, view: Any) -> Segment | None:
        return self._pick(view.window) if len(view.window) else None

    def _action(self, view: Any) -> Action | None:
        segment = self._segment(view)
        if segment is None:
            return None
        what = self._draw()
        if what < 0.25:
            return Evict(segment.id, "chaos")
        if what < 0.65:
            return self._rewrite(view, segment)
        if what < 0.7:
            return self._reread(view)
        if what < 0.8:
            hides = segment.stub and len(segment.sources) == 1 and not segment.sources[0].resident
            return Reveal(segment.id) if hides or not self._sane else None
        if what < 0.85:
            return Refresh(segment.id)
        if what < 0.9:
            last = self._pick(view.window)
            return Breakpoints((segment.id, last.id))
        if self._sane and not segment.is_surrogate:
            return None
        key = min(segment.kept) if segment.kept else "x"
        return Restore(segment.id, key, self._tokens(50))

    def _rewrite(self, view: Any, segment: Segment) -> Rewrite:
        sources = {segment.id: segment}
        while self._chance(0.4):
            other = self._pick(view.window)
            sources[other.id] = other
        total = sum(source.tokens for source in sources.values())
        tokens = total + self._tokens(20) if self._chance(0.2) else self._tokens(max(1, total - 1))
        stub, preview = self._chance(0.4), None
        if stub and self._chance(0.6):
            whole = len(sources) == 1 and not segment.sources
            most = tokens if whole or not self._sane else 0
            head = int(self._draw() * (most + 1))
            preview = head, int(self._draw() * (most - head + 1))
        return Rewrite(
            tuple(sources),
            tokens,
            tagged=self._chance(0.6),
            reason="chaos",
            line=self._chance(0.1),
            whole=self._chance(0.1),
            stub=stub,
            preview=preview,
            summariser=self._summariser(total) if self._chance(0.5) else None,
            last=self._chance(0.2),
            saves=self._chance(0.2),
        )

    def _summariser(self, total: int) -> Summariser:
        def limit(most: int) -> int | None:
            return self._tokens(most) if self._chance(0.4) else None

        return Summariser(
            cached=self._chance(0.5),
            prompt=int(self._draw() * 30),
            input_cap=limit(total),
            item_cap=limit(60),
            clip=limit(30),
            window=limit(2 * total),
            drops=self._chance(0.5),
            tries=self._tokens(3),
            calls=self._tokens(2),
            from_user=self._chance(0.3),
        )

    def _reread(self, view: Any) -> Reread | None:
        """Read anew what is not there and has a copy; of a page there is none."""
        absent = [
            s.id
            for s in view.log.values()
            if not self._sane
            or (s.admitted and s.copy and not s.resident and not s.sources and s.page_of is None)
        ]
        return Reread(self._pick(absent)) if absent else None

    def _some(self, view: Any, share: float) -> Iterator[Action]:
        while self._chance(share):
            action = self._action(view)
            if action is not None:
                yield action

    def _displaced(self, view: Any) -> tuple[str, ...]:
        found: dict[str, None] = {}
        while len(view.window) and self._chance(0.3):
            unit = view.together(self._pick(view.window))
            if not self._sane or not any(s.pinned or s.own_pin for s in unit):
                found.update((s.id, None) for s in unit)
        return tuple(found)

    def pins(self, view: Any, segment: Segment) -> bool:
        return uniform(self._seed, "pins", segment.id) < 0.1

    def on_arrival(self, view: Any, segment: Segment) -> Iterator[Any]:
        yield from self._some(view, 0.1)
        if self._chance(0.3):
            yield Refuse(self._pick(("oversize", "pinned", "margin")), segment.tokens)
        elif self._chance(0.3) and segment.tokens > 1 and segment.page_of is None:
            forms = ("reduced", "page", *HEADS, "spill", "pointer")
            yield Admit(self._tokens(segment.tokens - 1), self._pick(forms))
        elif self._chance(0.3) and segment.delta_tokens is not None:
            before = segment.previous
            if not self._sane or (
                before and before.resident and segment.delta_tokens <= segment.tokens
            ):
                yield Admit(segment.delta_tokens, "delta")
        elif self._chance(0.3):
            yield Admit(segment.tokens, "whole", self._displaced(view))
        elif self._chance(0.5):
            yield Admit(segment.tokens)

    def on_write(self, view: Any, path: str) -> Iterator[Action]:
        for segment in list(view.stale(path)):
            if self._chance(0.5):
                yield Refresh(segment.id)
        yield from self._some(view, 0.1)

    def on_idle(self, view: Any, seconds: float) -> Iterator[Action]:
        yield from self._some(view, 0.3)

    def before_call(self, view: Any) -> Iterator[Action]:
        yield from self._some(view, 0.5)

    def on_overflow(self, view: Any) -> Iterator[Action]:
        yield from self._some(view, 0.5)

    def on_rehydrate(self, view: Any, segment: Segment) -> Grant | RehydrationBlocked:
        if self._chance(0.3):
            return RehydrationBlocked(segment.id, self._pick(("oversize", "margin")), 0.5, 0.6)
        how = self._pick((None, "slack", "swap"))
        return Grant(how, self._displaced(view) if how == "swap" else ())

    def on_restore(self, view: Any, surrogate: Segment, key: str) -> Iterator[Action]:
        if self._chance(0.5):
            yield Restore(surrogate.id, key, self._tokens(50))

    def after_turn(self, view: Any) -> Iterator[Action]:
        yield from self._some(view, 0.3)
