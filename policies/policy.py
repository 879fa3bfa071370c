"""A policy is composed of parts; each hook of the engine asks the parts in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from policies.options import Option, Options
from sim.policy import HOOKS

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Composed"]

_DECISIVE = frozenset({"on_arrival", "on_rehydrate"})
"""Hooks that end in one decision, so that one part alone may have them."""


class Composed:
    """A policy made of parts, each an object with one or more of the engine's hooks.

    A subclass names itself, lists its options, and returns its parts in the order in which they
    act. A hook that no part has is absent from the policy. ``start`` is passed to every part.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for lists."""
    source: ClassVar[str]
    """Where the rule comes from."""
    version: ClassVar[str] = ""
    """Of a policy of the field: the version of its harness that it was read in."""
    options: ClassVar[tuple[Option, ...]] = ()
    requires: ClassVar[frozenset[str]] = frozenset()
    """Capabilities that a scenario must offer."""
    edits: ClassVar[bool] = True
    """Whether it changes what was sent; False: it appends and compacts at most."""

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        """Compose the policy from *options*, by name; raises InputError for a wrong one."""
        chosen = Options(self.name, self.options, options or {})
        self.label = chosen.label
        self.declares = frozenset(self.breaks(chosen))
        self.needs = self.requires | ({"edits"} if self.edits else frozenset())
        self._parts = tuple(self.compose(chosen))
        for hook in HOOKS:
            parts = [part for part in self._parts if hasattr(part, hook)]
            if hook in _DECISIVE and len(parts) > 1:
                raise TypeError(f"{self.name}: more than one part decides {hook}")
            if parts and hook != "start":
                setattr(self, hook, _asking(hook, parts))

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the parts that *options* ask for, in the order in which they act."""
        raise NotImplementedError

    def breaks(self, options: Options) -> Iterable[str]:
        """Return the rules that the policy, with *options*, breaks knowingly."""
        return ()

    def start(self, view: View) -> None:
        """Let every part ask for the orders it needs."""
        for part in self._parts:
            if hasattr(part, "start"):
                part.start(view)

    def before_call(self, view: View) -> Iterator[Action]:
        """Yield what each part does, in turn."""
        for part in self._parts:
            if hasattr(part, "before_call"):
                yield from part.before_call(view)


def _asking(hook: str, parts: list[Any]) -> Any:
    if len(parts) == 1:
        return getattr(parts[0], hook)
    hooks = [getattr(part, hook) for part in parts]
    if hook == "pins":

        def pins(view: View, segment: Segment) -> bool:
            return any(ask(view, segment) for ask in hooks)

        return pins

    def actions(view: View, *details: Any) -> Iterator[Action]:
        return chain.from_iterable(ask(view, *details) for ask in hooks)

    return actions
