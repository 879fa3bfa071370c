"""pays-back: evicts only where the estimate says that it will pay for the broken prefix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from policies.options import Option, Options, choice, number, setting, switch
from policies.parts.arrival import OPTIONS, Admission, sizing
from policies.parts.payback import Horizon, PayBack, Rules, known, so_far
from policies.parts.ranking import BySalience, full, unpinned
from policies.parts.removal import EvictUntilFit
from policies.policy import Composed

__all__ = ["PaysBack"]


def _horizon(text: str) -> str | int:
    if text in ("so-far", "known"):
        return text
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise ValueError(f"{text!r} is neither so-far nor known nor a number of calls")


HORIZON = Option(
    "horizon",
    "calls to go: as many as so far, the turns that are left, or what is left of a total of calls",
    "so-far, known, or calls in all",
    _horizon,
    "so-far",
)


class PaysBack(Composed):
    """Evicts old segments in batches where b·L·r > S·(w − r) + refetch.

    A batch must have been waited for until carrying it has cost what the cut costs; a cold cache
    makes S nothing, and then it goes at once. Over budget it takes the batch that costs least, then
    the least salient. Sources: the rewrite rule of calibration A2; the share that is brought back,
    B3 (0.25); the wait, the economic lot (Harris 1913).
    """

    name = "pays-back"
    summary = "evicts in batches, and only when that saves more than re-reading the prefix costs"
    source = "A2"
    options = (
        *OPTIONS,
        HORIZON,
        number("refetch", "share of what is evicted that will have to be brought back", 0.25, 0.0),
        number(
            "patience",
            "share of what a cut costs that carrying the batch must have cost before; 0: no wait",
            1.0,
            0.0,
        ),
        switch("batch", "weigh all that is old up to a position together; off: one by one"),
        choice("order", "the end of the request that is weighed first", "last", "last", "first"),
        choice(
            "when",
            "pays: where it pays back; cold: where nothing is cached",
            "pays",
            "pays",
            "cold",
        ),
        switch("economy", "evict before the window is full; off: only to make it fit"),
        setting("rewrite.below"),
    )

    def compose(self, options: Options) -> Iterator[Any]:
        """Return arrival, the pass that pays back, and eviction until the window fits."""
        if options.on("arrival") or options.on("delta"):
            yield Admission(sizing(options))
        if options.on("economy"):
            rules = Rules(
                options["refetch"],
                options["patience"],
                options.on("batch"),
                options["order"] == "last",
                options["when"] == "cold",
            )
            horizon = _calls_to_go(options["horizon"])
            yield PayBack(options.value("rewrite.below"), horizon, full, rules)
        yield EvictUntilFit(BySalience(unpinned), "budget")

    def breaks(self, options: Options) -> Iterable[str]:
        """Return nothing: no option makes it break a rule."""
        return ()


def _calls_to_go(horizon: str | int) -> Horizon:
    if isinstance(horizon, int):
        total = horizon
        return lambda view: max(1, total - view.cache.calls)
    return known if horizon == "known" else so_far
