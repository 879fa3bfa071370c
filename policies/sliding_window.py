"""sliding-window: drops the oldest position first, the task statement included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, switch
from policies.parts.ranking import ByPosition, anyone, unpinned
from policies.parts.removal import EvictUntilFit
from policies.policy import Composed

__all__ = ["SlidingWindow"]


class SlidingWindow(Composed):
    """Evicts from the front of the request until it fits; declares that it ignores pins.

    With ``pins=on`` it steps over pinned segments. Source: S3, what eviction is not.
    """

    name = "sliding-window"
    summary = "evicts the oldest, the task statement included"
    source = "S3"
    options = (
        switch("slide", "evict from the front while the window does not fit"),
        switch("pins", "step over pinned segments", off=True),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the pass."""
        if options.on("slide"):
            member = unpinned if options.on("pins") else anyone
            yield EvictUntilFit(ByPosition(member), "oldest")

    def breaks(self, options: Options) -> Iterable[str]:
        """Return that pins are ignored, unless they are stepped over."""
        if not options.on("pins"):
            yield "ignores_pins"
