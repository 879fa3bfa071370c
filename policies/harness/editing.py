"""What the field's policies have in common that edit the history and ask no model."""

from __future__ import annotations

from collections.abc import Iterable

from policies.options import Options
from policies.policy import Composed

__all__ = ["Clearing", "Dropping"]


class Clearing(Composed):
    """A policy that puts fixed texts in the place of what is old: it knows no pins.

    It may spend in the same turn what that frees. A stub is untagged where its source cannot be
    tagged.
    """

    def breaks(self, options: Options) -> Iterable[str]:
        """Return the rules that a harness knows nothing of."""
        return ("ignores_pins", "spends", "untagged")


class Dropping(Composed):
    """A policy that drops what is old and leaves nothing in its place: it knows no pins."""

    def breaks(self, options: Options) -> Iterable[str]:
        """Return the rule that a harness knows nothing of."""
        return ("ignores_pins",)
