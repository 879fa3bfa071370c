"""What the engine asks of a policy: ``before_call``, and whichever of the other hooks it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.view import View

__all__ = ["DECLARABLE", "HOOKS", "Policy"]

DECLARABLE = frozenset({"ignores_pins", "untagged", "grows", "spends"})
"""Rules a policy may declare that it breaks: such an action is applied and counted as a breach."""

HOOKS = (
    "start",
    "pins",
    "on_arrival",
    "on_write",
    "on_idle",
    "on_overflow",
    "on_rehydrate",
    "on_restore",
    "after_turn",
)
"""Optional methods, beside ``before_call``.

``start(view)``
    Once, before the first turn: ask the view for the orders the policy needs.
``pins(view, segment) -> bool``
    Whether the policy itself pins a resident segment. Asked again whenever its role changes.
``on_arrival(view, segment) -> iterable of actions, then an Admit or a Refuse``
    The door. Without an answer the segment is admitted whole.
``on_write(view, path) -> iterable of actions``
    After a successful write of *path*, or a change of it by the world.
``on_idle(view, seconds) -> iterable of actions``
    After a wait, before the turn begins.
``on_overflow(view) -> iterable of actions``
    After the pass, if the window is still over budget; the backstop follows.
``on_rehydrate(view, segment) -> Grant or RehydrationBlocked``
    The gate. Without one, or without an answer, it is granted.
``on_restore(view, surrogate, key) -> iterable of actions``
    The model has made up *key* from an untagged surrogate.
``after_turn(view) -> iterable of actions``
    After the answers.
"""


@runtime_checkable
class Policy(Protocol):
    """A context policy: it looks at a view and returns actions.

    A hook may be a generator: each action is applied before the next is asked for, and the view
    shows its effect. One instance serves one run.
    """

    label: str
    """How rows name it."""
    declares: frozenset[str]
    """Rules it breaks knowingly, of :data:`DECLARABLE`."""
    needs: frozenset[str]
    """Capabilities a scenario must offer: ``ranks``, ``roles``, ``facts``, ``edits`` if it changes
    what was sent before, which an append-only history does not allow, or ``future``, with which the
    view shows the script."""

    def before_call(self, view: View) -> Iterable[Action]:
        """Yield actions until the window fits."""
        ...
