"""Watches a policy while it runs: what it changes, what it splits, what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sim.actions import (
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
from sim.policy import HOOKS
from sim.segments import Segment

if TYPE_CHECKING:
    from sim.view import View

__all__ = ["Raised", "Watched"]

_ACTIONS = (Evict, Rewrite, Reveal, Refresh, Reread, Restore, Breakpoints)
_ENOUGH = 10_000
"""Actions in one hook after which it is taken to be endless."""


class Raised(Exception):
    """The policy raised; the cause is what it raised, *hook* where."""

    def __init__(self, hook: str) -> None:
        super().__init__(hook)
        self.hook = hook


class Watched:
    """A policy with a witness: it has the same hooks, and *report* hears what each does wrong."""

    def __init__(self, policy: Any, report: Callable[[str, str], None]) -> None:
        self.label = policy.label
        self.declares = policy.declares
        self.needs = policy.needs
        self._policy = policy
        self._report = report
        for hook in (*HOOKS, "before_call"):
            method = getattr(policy, hook, None)
            if method is not None:
                setattr(self, hook, self._wrapped(hook, method))

    def _wrapped(self, hook: str, method: Callable[..., Any]) -> Callable[..., Any]:
        if hook == "pins":
            return lambda view, segment: self._pins(method, view, segment)
        if hook in ("start", "on_rehydrate"):
            return lambda view, *details: self._answer(hook, method, view, *details)
        return lambda view, *details: self._actions(hook, method, view, *details)

    def _pins(self, method: Callable[..., Any], view: View, segment: Segment) -> bool:
        first = self._answer("pins", method, view, segment)
        again = self._answer("pins", method, view, segment)
        if first != again:
            self._report("pins", f"pins says {first!r}, then {again!r} of the same segment")
        return bool(again)

    def _answer(self, hook: str, method: Callable[..., Any], view: View, *details: Any) -> Any:
        before = _state(view)
        try:
            answer = method(view, *details)
        except Exception as error:
            raise Raised(hook) from error
        self._compare(hook, before, view)
        if hook == "on_rehydrate" and not isinstance(answer, Grant | RehydrationBlocked):
            name = type(answer).__name__
            self._report("answer", f"on_rehydrate returns {name}, not Grant or RehydrationBlocked")
            return Grant()
        return answer

    def _actions(
        self, hook: str, method: Callable[..., Any], view: View, *details: Any
    ) -> Iterator[Any]:
        answer = self._answer(hook, method, view, *details)
        if answer is None:
            return
        iterator = self._guarded(hook, lambda: iter(answer), view)
        for _ in range(_ENOUGH):
            action = self._guarded(hook, lambda: next(iterator, _END), view)
            if action is _END:
                return
            self._look_at(hook, action, view)
            yield action
        self._report("endless", f"{hook} does not come to an end")

    def _guarded(self, hook: str, step: Callable[[], Any], view: View) -> Any:
        before = _state(view)
        try:
            result = step()
        except Exception as error:
            raise Raised(hook) from error
        self._compare(hook, before, view)
        return result

    def _look_at(self, hook: str, action: Any, view: View) -> None:
        decisions = (Admit, Refuse) if hook == "on_arrival" else ()
        if not isinstance(action, (*_ACTIONS, *decisions)):
            self._report("answer", f"{hook} yields {type(action).__name__}, which is no action")
        elif isinstance(action, Rewrite) and len(action.sources) > 1:
            sources = [view.log[name] for name in action.sources if name in view.log]
            for source in sources:
                for mate in view.together(source) if source.resident else ():
                    if mate not in sources:
                        says = f"a rewrite takes {source.id} and leaves {mate.id}, its other half"
                        self._report("pair", says)

    def _compare(self, hook: str, before: dict[str, Any], view: View) -> None:
        after = _state(view)
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                self._report("mutation", f"{hook} changes what it only may look at: {name}")
                return


_END = object()
_VALUES = attrgetter(*(f.name for f in fields(Segment)))


def _state(view: View) -> dict[str, Any]:
    """Return everything a policy sees, in a form that later changes do not touch."""
    state: dict[str, Any] = {
        "turn": view.turn,
        "spent": view.spent,
        "quiescent": view.quiescent,
        "settings": view.settings,
        "window": tuple(view.window),
        "roles.written": tuple(view.roles.written),
        "roles.attempt": view.roles.attempt,
    }
    for name, segment in view.log.items():
        state[f"segment {name}"] = (_VALUES(segment), tuple(segment.surrogates))
    return state
