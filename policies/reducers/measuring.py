"""Measuring a real result for a simulation: its sizes, and which of its facts a reduction keeps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from policies.reducers.difference import difference
from policies.reducers.log import Log, decode
from policies.reducers.reduction import Output, reduced
from policies.reducers.registry import reducers
from policies.reducers.room import Room, clip
from policies.reducers.survival import stands
from sim.measured import Measured, Point
from sim.tokens import tokenizer

__all__ = ["measure"]

_CACHED = 256


@lru_cache(maxsize=_CACHED)
def measure(
    raw: bytes, limit: int, tool: str | None = None, before: bytes | None = None
) -> Measured:
    """Return what reducing *raw* to *limit* tokens leaves, as ``sim.measured.Measure`` says.

    Raises InputError for a limit below 40 tokens or an unknown reducer.
    """
    room = Room(Room.check(limit, tool or "max_result_tokens"), tokenizer())
    output = Output(raw, tool)
    result = reduced(output, room)
    delta = None
    name = output.tool
    if before is not None and measure(before, limit, tool).tool == name:
        text = difference(Log.of(decode(before)), output.log, room)
        delta = None if text is None else room.count(text)
    return Measured(
        name,
        _kind(output),
        result.tokens_before,
        result.tokens_after,
        tuple(_points(output, result.text, room)),
        output.found().files,
        room.tokenizer.name,
        delta,
    )


def _kind(output: Output) -> str:
    """Return the sort of the tool with the most lines in *output*."""
    lines: dict[str, int] = {}
    for section in output.sections:
        if not section.plain:
            lines[section.tool] = lines.get(section.tool, 0) + len(section.log)
    return reducers()[max(lines, key=lambda tool: lines[tool])].kind if lines else "log"


def _points(output: Output, text: str, room: Room) -> Iterator[Point]:
    """Yield the distinct failures of *output*, or where it has none the files with an error."""
    found = output.found()
    names: Sequence[tuple[str, ...]] = found.failures or [(file,) for file in found.files]
    if not names:
        return
    log = output.log
    tokens = [0, *accumulate(room.count(line) + 1 for line in log.lines)]
    starts = [0, *accumulate(len(line) + 1 for line in log.lines)]
    for known_as in names:
        places = [at for at in map(log.text.find, known_as) if at >= 0]
        line = bisect_right(starts, min(places)) - 1 if places else 0
        says = clip(log.lines[line].strip(), 120) if log.lines else ""
        kept = any(stands(name, text) for name in known_as)
        yield Point(known_as[0], says, tokens[line], kept)
