"""Tool calls that share their id with an earlier one: a result goes to the last that had it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from scenarios.transcripts.events import Event, ToolCall, ToolResult
from scenarios.transcripts.findings import Findings, counted

__all__ = ["distinct"]


def distinct(events: Iterable[Event], findings: Findings) -> Iterator[Event]:
    """Yield *events* with an id of its own for each tool call, in their order.

    Only a call whose id was answered before gets another; one that repeats the id of a call that
    still waits, or a second result, is left as it is, so that it is named.
    """
    open_calls: set[str] = set()
    names: dict[str, str] = {}
    again = 0
    for event in events:
        if isinstance(event, ToolCall):
            if event.id in names and event.id not in open_calls:
                again += 1
                names[event.id] = f"{event.id} again {again}"
            else:
                names.setdefault(event.id, event.id)
            open_calls.add(event.id)
            yield replace(event, id=names[event.id])
        elif isinstance(event, ToolResult):
            open_calls.discard(event.id)
            yield replace(event, id=names.get(event.id, event.id))
        else:
            yield event
    if again:
        calls = counted(again, "tool call has", "tool calls have")
        findings.note(f"{calls} the id of an earlier one; results go to the last that has it")
