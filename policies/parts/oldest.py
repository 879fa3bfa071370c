"""Oldest: a share of the messages behind the first goes, the oldest of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from policies.parts.history import messages
from sim.actions import Evict

if TYPE_CHECKING:
    from sim.segments import Segment

__all__ = ["without_oldest"]


def without_oldest(history: Sequence[Segment], share: float, reason: str) -> Iterator[Evict]:
    """Yield the evictions of a *share* of the messages behind the first, an even number of them.

    A call leaves with its result, so a last call takes its result along.
    """
    found = messages(history)[1:]
    count = int(len(found) * share)
    for message in found[: count - count % 2]:
        for segment in message:
            if segment.resident:
                yield Evict(segment.id, reason)
