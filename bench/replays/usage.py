"""The usage a recording has, beside what the simulated requests of the same calls hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim.prices import Price
    from sim.script import Script

__all__ = ["FEWEST", "UNRECORDED", "cost", "fit", "totals"]

FEWEST = 6
"""Calls with usage below which nothing is fitted: three for a line, three to try it on."""

UNRECORDED = "unrecorded"
"""Id of the segment that stands for what a recording leaves out."""

_COUNTS = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens")


def totals(script: Script) -> dict[str, int]:
    """Return the sums of what the record says of its calls, and `calls`, how many it says it of.

    A count that no call has is left out.
    """
    rows = [row for row in script.recorded.values() if "input_tokens" in row]
    sums = {name: sum(row.get(name, 0) for row in rows) for name in _COUNTS}
    held = {name for row in rows for name in row}
    return {"calls": len(rows), **{name: sums[name] for name in _COUNTS if name in held}}


def cost(script: Script, price: Price) -> float | None:
    """Return what the recorded prompts cost at *price*, in dollars; None without usage.

    Each call is priced as it is recorded: what was read, what was written, and the rest, the
    whole request above the cliff if it is there. Output is left out: some formats record none.
    """
    rows = [row for row in script.recorded.values() if "input_tokens" in row]
    if not rows:
        return None
    return sum(_call(row, price) for row in rows)


def _call(row: Mapping[str, int], price: Price) -> float:
    from sim.prefix_cache import Usage

    whole = row["input_tokens"]
    read = min(whole, row.get("cached_tokens", 0))
    written = min(whole - read, row.get("written_tokens", 0))
    return price.input_cost(Usage(whole, read, written, whole - read - written))


def fit(
    script: Script, sent: Mapping[int, int], unrecorded: int, compactions: Sequence[int]
) -> dict[str, Any] | None:
    """Return how the recorded prompts follow from the simulated ones, None with too few calls.

    *sent* has the tokens of each turn's request when nothing is removed but by the recording's own
    *compactions*, *unrecorded* among them standing for system and tools where these are not
    recorded. By least squares over the first half of the calls before the first compaction,
    recorded = ``offset`` + ``factor`` · (sent − unrecorded): the offset is what is not recorded,
    the factor the model's tokenizer against ours. ``median_error`` and ``max_error`` are shares of
    the recorded prompt over the other half, ``held_out`` calls; ``later_error`` is the median over
    the calls behind the first compaction.
    """
    points = [
        (turn, sent[turn] - unrecorded, row["input_tokens"])
        for turn, row in sorted(script.recorded.items())
        if row.get("input_tokens") and turn in sent
    ]
    end = min(compactions, default=len(sent) + 1)
    early = [(x, y) for turn, x, y in points if turn < end]
    if len(early) < FEWEST:
        return None
    half = len(early) // 2
    offset, factor = _line(early[:half])
    errors = [abs(offset + factor * x - y) / y for x, y in early[half:]]
    later = [abs(offset + factor * x - y) / y for turn, x, y in points if turn >= end]
    return {
        "fitted": half,
        "offset": offset,
        "factor": factor,
        "held_out": len(errors),
        "median_error": median(errors),
        "max_error": max(errors),
        "later": len(later),
        "later_error": median(later) if later else None,
    }


def _line(points: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return intercept and slope of the least-squares line; slope 1 if all stand at one place."""
    n = len(points)
    x0, y0 = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    spread = sum((x - x0) ** 2 for x, _ in points)
    slope = sum((x - x0) * (y - y0) for x, y in points) / spread if spread else 1.0
    return y0 - slope * x0, slope
