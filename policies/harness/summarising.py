"""What all policies of the field that summarise have in common."""

from __future__ import annotations

from collections.abc import Iterable

from policies.options import Options
from policies.policy import Composed

__all__ = ["Summarising"]


class Summarising(Composed):
    """A policy that summarises the history: it knows no pins, and may spend in the same turn.

    Its summary is untagged unless ``tag`` is on and everything in it can be tagged.
    """

    def breaks(self, options: Options) -> Iterable[str]:
        """Return the rules that a harness knows nothing of."""
        return ("ignores_pins", "spends", "untagged")
