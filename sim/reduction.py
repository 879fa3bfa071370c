"""The size of an arrival at the door, and after a reduction by its structure."""

from __future__ import annotations

from sim.script import Arrival
from sim.segments import Kind

__all__ = ["raw_tokens", "reduced_tokens"]


def raw_tokens(arrival: Arrival, image_tokens: int) -> int:
    """Return the size of *arrival* at the door; an image counts the same whatever its encoding."""
    return image_tokens if arrival.kind is Kind.IMAGE else arrival.tokens


def reduced_tokens(arrival: Arrival) -> int | None:
    """Return the reduced size of a result over its tool's limit, or None if it is not over.

    With a structure: the first entry of each group and a notice of what was dropped, as many
    groups as fit. Without one: head and tail with a marked gap, exactly the limit. An image has
    no text to reduce.
    """
    limit = arrival.max_result_tokens
    if limit is None or arrival.tokens <= limit or arrival.kind is Kind.IMAGE:
        return None
    structure = arrival.structure
    if structure is None:
        return limit
    room = max(0, limit - structure.notice_tokens)
    groups = min(structure.groups, room // max(1, structure.entry_tokens))
    return max(1, min(limit, groups * structure.entry_tokens + structure.notice_tokens))
