"""Asking: a harness has a model write a summary, and goes on if nothing comes of it."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING

from policies.options import setting, switch
from policies.parts.history import together
from policies.parts.rewriting import taggable
from policies.parts.units import size
from sim.actions import Rewrite

if TYPE_CHECKING:
    from policies.options import Options, Value
    from sim.segments import Segment
    from sim.summariser import Summariser
    from sim.view import View

__all__ = ["FREE_TEXT", "KEPT_ON_DISK", "Asking"]

_SAYS = "say in a summary what it stands for, so that this can be fetched where it has a copy"

FREE_TEXT = (switch("tag", _SAYS, off=True), setting("compaction.share"))
"""Options of a harness whose summary is free text."""

KEPT_ON_DISK = (switch("tag", _SAYS), setting("compaction.share"))
"""Options of a harness whose summary leads to the history that it keeps."""


class Asking:
    """Has *share* of what is summarised written in its place, at least one token.

    *tagged*: the summary says what it stands for. *saves*: the harness keeps the history where it
    can be fetched again. *whole*: the summary is of the whole transcript. *last*: it stands where
    the last of what it stands for stood.
    """

    def __init__(
        self,
        share: Value,
        *,
        tagged: bool = False,
        saves: bool = False,
        whole: bool = False,
        last: bool = False,
    ) -> None:
        self._share = share
        self._tagged = tagged
        self._saves = saves
        self._whole = whole
        self._last = last

    @classmethod
    def of(
        cls, options: Options, *, saves: bool = False, whole: bool = False, last: bool = False
    ) -> Asking:
        """Return the asking of a policy with the options ``tag`` and ``compaction.share``."""
        share = options.value("compaction.share")
        return cls(share, tagged=options.on("tag"), saves=saves, whole=whole, last=last)

    def length(self, view: View, sources: Iterable[Segment]) -> int:
        """Return how long a summary of *sources* is, in tokens, before any clip."""
        share: float = self._share(view)
        return max(1, math.floor(share * size(sources)))

    def ask(
        self, view: View, sources: Sequence[Segment], *summarisers: Summariser, more: int = 0
    ) -> Generator[Rewrite, None, bool]:
        """Ask each of *summarisers* in turn until a summary comes; return whether one did.

        *more* is text of the harness's own on top of the summary, in tokens. What would not be
        shorter is not asked for. Of a call and its result, *sources* must have both.
        """
        sources = together(view, sources)
        tokens = self.length(view, sources) + more
        if not sources or tokens >= size(sources):
            return False
        names = tuple(segment.id for segment in sources)
        tagged = self._tagged and (self._whole or taggable(sources))
        for summariser in summarisers:
            yield Rewrite(
                names,
                tokens,
                tagged,
                "compaction" if self._whole else "summary",
                whole=self._whole,
                summariser=summariser,
                last=self._last,
                saves=self._saves,
            )
            if not sources[0].resident:
                return True
        return False
