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
    Restore,
    Rewrite,
)
from sim.policy import DECLARABLE
from sim.segments import Segment
from sim.streams import uniform

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
        if what < 0.3:
            return Evict(segment.id, "chaos")
        if what < 0.7:
            sources = {segment.id: segment}
            while self._chance(0.4):
                other = self._pick(view.window)
                sources[other.id] = other
            total = sum(source.tokens for source in sources.values())
            grows = self._chance(0.2)
            tokens = total + self._tokens(20) if grows else self._tokens(max(1, total - 1))
            return Rewrite(
                tuple(sources), tokens, self._chance(0.6), "chaos", self._chance(0.1),
                self._chance(0.1),
            )  # fmt: skip
        if what < 0.8:
            return Refresh(segment.id)
        if what < 0.9:
            last = self._pick(view.window)
            return Breakpoints((segment.id, last.id))
        if self._sane and not segment.is_surrogate:
            return None
        key = min(segment.kept) if segment.kept else "x"
        return Restore(segment.id, key, self._tokens(50))

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
        elif self._chance(0.3) and segment.tokens > 1:
            forms = ("reduced", "page", "spill", "head-tail")
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
