"""disciplined: tag-or-drop, slack-swap-refuse and tiered together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policies.options import Options, switch
from policies.parts.arrival import Admission, sizing
from policies.parts.door import Door
from policies.parts.ranking import BySalience, full_but_summaries, unpinned
from policies.parts.rehydration import Gate
from policies.parts.relevance import RelevancePass
from policies.parts.restoring import RestoreFromNothing
from policies.parts.staleness import RefreshInPlace
from policies.policy import Composed
from policies.slack_swap_refuse import DISPLACEMENT, displacement
from policies.tag_or_drop import REWRITING, rewrite_breaches, rewriting
from policies.tiered import TIERS, role_pins, tiers

__all__ = ["Disciplined"]


class Disciplined(Composed):
    """Reduces at arrival, makes lines of superseded material, and guards the door by tiers.

    Its pass rewrites what is irrelevant, summaries apart, then gives up tier by tier. What comes
    back displaces by salience. Its own pins hold from admission on, so that only scenario pins
    pass the door untested. Sources: S0, S3, S4.
    """

    name = "disciplined"
    summary = "tag-or-drop, slack-swap-refuse and tiered together"
    source = "S0, S3, S4"
    options = (*TIERS, *DISPLACEMENT, *REWRITING, switch("tiers", "give up by tiers to fit"))

    def compose(self, options: Options) -> Iterator[Any]:
        """Return door, gate, pins, staleness, relevance pass and tiers."""
        size = sizing(options)
        levels, weighing = tiers(options), displacement(options)
        if options.on("door"):
            yield Door(size, weighing, levels, levels if options.on("lines") else None)
        elif options.on("arrival") or options.on("delta"):
            yield Admission(size)
        if options.on("gate"):
            yield Gate(weighing, BySalience(unpinned))
        pins = role_pins(options)
        if pins is not None:
            yield pins
        if options.on("staleness"):
            yield RefreshInPlace()
        yield from self._pass(options)
        if options.on("tiers"):
            yield levels

    def _pass(self, options: Options) -> Iterator[Any]:
        made = rewriting(options)
        if options.on("relevance"):
            limit, defer = options.value("rewrite.below"), options.on("defer")
            yield RelevancePass(limit, full_but_summaries, made, defer=defer)
            if made is not None and not options.on("tag"):
                yield RestoreFromNothing(options.value("restore_tokens"))

    def breaks(self, options: Options) -> Iterable[str]:
        """Return what follows from the rules switched off."""
        return rewrite_breaches(options) if options.on("relevance") else ()
