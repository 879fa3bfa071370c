"""The size of a tool result after a reduction by its structure."""

from __future__ import annotations

from sim.script import Arrival

__all__ = ["reduced_tokens"]


def reduced_tokens(arrival: Arrival) -> int | None:
    """Return the reduced size of a result over its tool's limit, or None if it is not over.

    With a structure: the first entry of each group and a notice of what was dropped, as many
    groups as fit. Without one: head and tail with a marked gap, exactly the limit.
    """
    limit = arrival.max_result_tokens
    if limit is None or arrival.tokens <= limit:
        return None
    structure = arrival.structure
    if structure is None:
        return limit
    room = max(0, limit - structure.notice_tokens)
    groups = min(structure.groups, room // max(1, structure.entry_tokens))
    return min(limit, groups * structure.entry_tokens + structure.notice_tokens)
