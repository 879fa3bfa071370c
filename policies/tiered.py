"""tiered: gives up by role in the loop, superseded material before repository context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policies.options import Options, choice, setting, switch
from policies.parts.arrival import OPTIONS, Admission, sizing
from policies.parts.lines import Superseded
from policies.parts.pins import RULES, RolePins, overtaken, superseded
from policies.parts.staleness import RefreshInPlace
from policies.parts.tiers import Tiers
from policies.policy import Composed

__all__ = ["TIERS", "Tiered", "role_pins", "tiers"]

TIERS = (
    *OPTIONS,
    choice(
        "pins", "pin by role; last: of the results only the last of all", "on", "on", "last", "off"
    ),
    switch("pin.head", "pin tools, system and task"),
    switch("pin.standing", "pin standing user constraints"),
    switch("pin.results", "pin the most recent result of each tool"),
    switch("pin.named", "pin the files that current diagnostics name"),
    switch("pin.written", "pin the files written in this attempt"),
    switch("staleness", "refresh stale copies in place"),
    switch("lines", "turn superseded material into lines"),
    switch("bulk", "give up bulk files before the rest"),
    switch("spare", "keep this turn's files while another bulk file is left"),
    choice("order", "which position goes first within a tier", "last", "last", "first"),
    switch("endgame", "on the last turn, take the smallest one that suffices"),
    setting("line_tokens"),
)
"""Options of a policy that gives up by tiers."""


def role_pins(options: Options) -> RolePins | None:
    """Return what *options* pin by role, None if nothing."""
    if not options.on("pins"):
        return None
    rules = [rule for name, rule in RULES.items() if options.on(name)]
    old = overtaken if options["pins"] == "last" else superseded
    return RolePins(rules, old if options.on("pin.results") else None)


def tiers(options: Options) -> Tiers:
    """Return the tiers that *options* ask for."""
    old = overtaken if options["pins"] == "last" else superseded
    lines = Superseded(old, options.value("line_tokens")) if options.on("lines") else None
    return Tiers(
        lines,
        bulk=options.on("bulk"),
        spare=options.on("spare"),
        endgame=options.on("endgame"),
        last_first=options["order"] == "last",
    )


class Tiered(Composed):
    """Reduces at arrival, refreshes stale files in place, and gives up tier by tier.

    Superseded results and attempts become one tagged line each; then bulk files go, then any
    other unpinned segment. Source: S3.
    """

    name = "tiered"
    summary = "gives up superseded material, then bulk files, then the rest; pins by role"
    source = "S3"
    options = (*TIERS, switch("tiers", "give up while the window does not fit"))

    def compose(self, options: Options) -> Iterator[Any]:
        """Return arrival, pins, staleness and tiers."""
        if options.on("arrival") or options.on("delta"):
            yield Admission(sizing(options))
        pins = role_pins(options)
        if pins is not None:
            yield pins
        if options.on("staleness"):
            yield RefreshInPlace()
        if options.on("tiers"):
            yield tiers(options)

    def breaks(self, options: Options) -> Iterable[str]:
        """Return nothing: no option makes it break a rule."""
        return ()
