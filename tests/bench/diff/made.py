"""Results made of rows by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.results import Results

KEY = ("scenario", "price", "policy", "seed")


def facts(**more: Any) -> dict[str, Any]:
    """What a manifest says of a scenario."""
    prices = [{"name": "list", "input": 2.0}]
    return {"kind": "family", "settings": {"budget": 100}, "prices": prices, "stimuli": {}, **more}


def results(
    rows: Iterable[Mapping[str, Any]], key: tuple[str, ...] = KEY, **scenarios: Mapping[str, Any]
) -> Results:
    """Results of *rows*; *scenarios* has what the manifest says of each, where it matters."""
    made = [dict(row) for row in rows]
    told = {row["scenario"]: facts() for row in made} | dict(scenarios)
    return Results(Path("made"), made, key, {"strict": False, "scenarios": told})
