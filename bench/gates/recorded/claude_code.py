"""Claude Code sessions as threads of recorded calls.

What the harness sends besides the messages is not recorded, so only the recorded size of each
prompt is used, as in the gate `ttl-replay`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.gates.calls import Call, Thread, tier
from bench.gates.recorded.arms import BEYOND, CONTINUES, FIRST, SHRINKS, Arm, Replayed
from bench.gates.replaying import predict
from scenarios.transcripts.events import Usage
from scenarios.transcripts.findings import Findings
from scenarios.transcripts.formats import claude_code
from scenarios.transcripts.recording import Recording

__all__ = ["arms", "thread"]


def thread(name: str, file: Path) -> Thread | None:
    """Return the calls of the main thread of a session, None if it has none with usage and time."""
    recording = Recording(file)
    first: dict[str, Usage] = {}
    last: dict[str, float] = {}
    for event in claude_code.read(recording, Findings(file)):
        if isinstance(event, Usage) and event.time is not None and event.input_tokens:
            first.setdefault(event.call, event)
            last[event.call] = event.time
    if not first:
        return None
    calls = [
        Call(used.input_tokens or 0, used.cached_tokens or 0, None, used.time or 0.0)
        for used in first.values()
    ]
    ends = list(last.values())
    gaps = [max(0.0, call.time - end) for call, end in zip(calls[1:], ends, strict=False)]
    later = (call._replace(gap=gap) for call, gap in zip(calls[1:], gaps, strict=True))
    return Thread(name, _life(recording), (calls[0], *later))


def _life(recording: Recording) -> float:
    """Return the life of the entries of a session, by what its calls wrote for an hour."""
    written: dict[Any, tuple[int, int]] = {}
    for _, record in recording.records(Findings(recording.path)):
        match record:
            case {"message": {"id": str(call), "usage": {"cache_creation": dict(kinds)}}}:
                sizes = [_tokens(kinds, f"ephemeral_{life}_input_tokens") for life in ("5m", "1h")]
                written[call] = (sum(sizes), sizes[1])
    return tier(
        sum(all_ for all_, _ in written.values()), sum(long for _, long in written.values())
    )


def _tokens(kinds: dict[str, Any], name: str) -> int:
    value = kinds.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def arms(threads: Iterable[Thread]) -> Iterator[Arm]:
    """Yield the one arm of these sessions."""
    calls = tuple(call for found in threads for call in _replayed(found))
    if calls:
        yield Arm("claude-code", "entries of 5 min or 1 h, by session", calls)


def _replayed(found: Thread) -> Iterator[Replayed]:
    predicted = predict(found.calls, found.life)
    yield Replayed(found.name, FIRST, found.calls[0], predicted[0])
    for (before, call), said in zip(pairwise(found.calls), predicted[1:], strict=True):
        if (call.gap or 0.0) >= found.life:
            situation = BEYOND
        else:
            situation = SHRINKS if call.tokens < before.tokens else CONTINUES
        yield Replayed(found.name, situation, call, said)
