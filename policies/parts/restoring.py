"""Restoring: the model, asked for detail that its surrogate has lost, makes it up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sim.actions import Restore

if TYPE_CHECKING:
    from policies.options import Value
    from sim.segments import Segment
    from sim.view import View

__all__ = ["RestoreFromNothing"]


class RestoreFromNothing:
    """Puts invented text of *tokens* in the place of an untagged surrogate."""

    def __init__(self, tokens: Value) -> None:
        self._tokens = tokens

    def on_restore(self, view: View, surrogate: Segment, key: str) -> Iterator[Restore]:
        """Replace *surrogate* by what was made up for *key*."""
        yield Restore(surrogate.id, key, int(self._tokens(view)))
