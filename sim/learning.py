"""Learning late: what a segment states shows only when something asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.keeping import keep
from sim.reduction import lost, page_holding

if TYPE_CHECKING:
    from sim.segments import Fact, Segment
    from sim.world import World

__all__ = ["learn"]


def learn(world: World, segment: Segment, fact: Fact) -> None:
    """Let *segment*, which has arrived, state *fact* as if it had been known from the start.

    So do its page that the fact stands on, if that was turned to, and the surrogates that would
    have kept it. What is known already stays as it is.
    """
    if any(known.key == fact.key for known in segment.facts):
        return
    segment.facts = (*segment.facts, fact)
    carriers = world.carriers.setdefault(fact.key, [])
    carriers.append(segment)
    carriers.sort(key=lambda each: each.seq)
    if segment.form:
        segment.lost = lost(segment, segment.form, segment.tokens)
    if fact.key not in segment.lost:
        _pass_on(segment, fact.key)
    for page in segment.pages:
        if page.number == page_holding(segment, fact):
            learn(world, page, fact)


def _pass_on(source: Segment, key: str) -> None:
    """Let what stands for *source*, which states the fact *key*, state it, too, where it keeps it.

    Text that was made up in the place of a surrogate says what that said.
    """
    for each in source.surrogates:
        if each.keeping is None:
            kept, made_up = source.kept, source.made_up
        else:
            kept, made_up, _ = keep(each.keeping, each.sources)
        if key not in kept:
            continue
        each.kept |= {key}
        each.made_up = each.made_up | {key} if key in made_up else each.made_up - {key}
        _pass_on(each, key)
