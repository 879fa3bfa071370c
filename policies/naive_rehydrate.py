"""naive-rehydrate: lets everything back in, and whatever is least salient leaves for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch
from policies.parts.ranking import BySalience, anyone, unpinned
from policies.parts.removal import EvictUntilFit
from policies.policy import Composed

__all__ = ["NaiveRehydrate"]


class NaiveRehydrate(Composed):
    """Grants every rehydration; its pass evicts the least salient, pins included.

    It has no gate of its own, so that nothing counts as its decision; it declares that it ignores
    pins. With ``pins=on`` its pass leaves pinned segments alone. Source: S4, what was observed.
    """

    name = "naive-rehydrate"
    summary = "rehydrates on salience alone; the least salient leave, pins included"
    source = "S4"
    options = (
        switch("displace", "evict the least salient while the window does not fit"),
        switch("pins", "leave pinned segments alone", off=True),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the pass."""
        if options.on("displace"):
            member = unpinned if options.on("pins") else anyone
            yield EvictUntilFit(BySalience(member), "displaced")

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that pins are ignored, unless they are left alone."""
        if not options.on("pins"):
            yield "ignores_pins"
