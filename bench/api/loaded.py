"""``load``: a folder of results as the comparison, replay or sweep that it was written by."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.api.comparison import Comparison
from bench.api.replayed import Replay
from bench.goals import goal

if TYPE_CHECKING:
    from bench.results import Results

__all__ = ["load"]


def load(folder: str | PathLike[str]) -> Comparison:
    """Return what `compare`, `replay` or `sweep` wrote to *folder*, as they returned it.

    Turns that were kept stay in the folder: the table ``turns`` of `bench.results.load` has them.
    Raises InputError, in one sentence, where there are no results or they are damaged.
    """
    from bench import results

    found = results.load(Path(folder))
    asked = found.manifest.get("asked", {})
    told = {
        "rows": found.rows,
        "baseline": asked.get("baseline"),
        "manifest": {key: value for key, value in found.manifest.items() if key not in _FORM},
        "pareto": bool(asked.get("pareto")),
        "goal": goal(**asked["goal"]) if "goal" in asked else None,
    }
    if "vary" in found.manifest:
        return _sweep(found, told)
    if "what_if.parquet" in found.manifest["files"]:
        from bench.replays.what_if import pooled

        rows, recorded = found.table("what_if"), found.manifest.get("recorded", {})
        return Replay(**told, recorded=recorded, what_if=rows, pooled=pooled(rows))
    return Comparison(**told)


_FORM = frozenset({"format", "files"})
"""What a manifest says of the folder, and not of what is in it."""


def _sweep(found: Results, told: dict[str, Any]) -> Comparison:
    from bench.sweep.plan import SETTING
    from bench.sweep.result import Sweep

    keys = [axis["key"] for axis in found.manifest["vary"]]
    points = {row[SETTING]: {key: row[key] for key in keys} for row in found.rows}
    return Sweep(**told, points=[points[number] for number in sorted(points)])
