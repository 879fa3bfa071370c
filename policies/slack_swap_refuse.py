"""slack-swap-refuse: what comes in must find room, beat what it displaces, or stay out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from policies.options import Options, setting, switch
from policies.parts.arrival import whole
from policies.parts.displacement import Displacement
from policies.parts.door import Door
from policies.parts.ranking import BySalience, unpinned
from policies.parts.rehydration import Gate
from policies.parts.removal import EvictUntilFit
from policies.policy import Composed

__all__ = ["DISPLACEMENT", "SlackSwapRefuse", "displacement"]

DISPLACEMENT = (
    switch("gate", "test what comes back; off: let it in"),
    switch("door", "test what arrives; off: let it in"),
    switch("swap", "swap against a less salient displaced set; off: refuse whatever displaces"),
    switch("cover", "never displace the summary that covers what comes in"),
    switch("oversize", "refuse what is larger than the budget less system and task"),
    setting("slack.trigger"),
    setting("slack.occupancy"),
    setting("rehydrate.comparison"),
    setting("rehydrate.margin"),
)
"""Options of a policy that weighs what comes in against what would leave."""


def displacement(options: Options) -> Displacement:
    """Return how *options* weigh what comes in."""
    return Displacement(
        options.value("slack.trigger"),
        options.value("slack.occupancy"),
        options.value("rehydrate.comparison"),
        options.value("rehydrate.margin"),
        oversize=options.on("oversize"),
        swaps=options.on("swap"),
        covers=options.on("cover"),
    )


class SlackSwapRefuse(Composed):
    """Guards rehydration and the door; its pass evicts the least salient unpinned segments.

    The pass serves what passes untested (messages, pinned segments, explicit requests) and what
    has grown. Source: S4.
    """

    name = "slack-swap-refuse"
    summary = "lets in on slack, swaps against the less salient, or refuses"
    source = "S4"
    options = (
        *DISPLACEMENT,
        switch("pass", "evict the least salient while the window does not fit"),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return door, gate and pass."""
        lowest, weighing = BySalience(unpinned), displacement(options)
        if options.on("door"):
            yield Door(whole, weighing, lowest)
        if options.on("gate"):
            yield Gate(weighing, lowest)
        if options.on("pass"):
            yield EvictUntilFit(lowest)
