"""The backstop: hard truncation from the front, where a policy left the window over budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.errors import UnexplainedTruncation
from sim.segments import Segment, State

if TYPE_CHECKING:
    from sim.world import World

__all__ = ["truncate"]


def truncate(world: World) -> None:
    """Cut whole segments from the front, a call and its result together, until it fits.

    It knows no pins. Each cut of a non-surrogate is one policy bug; a cut surrogate is explained
    by its source.
    """
    while world.window.tokens > world.settings.budget and len(world.window):
        front = world.window.segments[0]
        for segment in (front, *world.window.mates(front)):
            _cut(world, segment)
    world.balance("the backstop")


def _cut(world: World, segment: Segment) -> None:
    says = (
        f"the backstop cut {segment.id} ({segment.tokens} tokens); "
        f"what last grew the window was {world.grew}"
    )
    world.window.remove(segment, "truncation")
    world.gone(segment, State.TRUNCATED)
    world.ledger.books.leave("truncated", segment.tokens)
    world.ledger.note(segment.id, "truncated", world.view.turn)
    surrogate = segment.is_surrogate
    values = (segment.id, segment.tokens, segment.pinned, surrogate, world.grew)
    world.record("truncate", *values)
    if not surrogate:
        world.record("bug", UnexplainedTruncation.rule, segment.id, segment.tokens, says)
