"""A map: a letter for each setting of a grid of two keys, so that regions can be seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

__all__ = ["map_notes"]

WIDEST = 60
"""Columns of the widest map."""


def map_notes(
    says: Mapping[int, str], points: Sequence[Mapping[str, Any]], marks: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the lines of the map of what is said of each setting, by its number; its legend last.

    The first key goes down, the second across. *marks* are the letters of some of what may be said;
    the others get letters of their own. Empty where the settings are no such grid, or too many.
    """
    keys = list(points[0])
    if len(keys) != 2:
        return ()
    down, across = (list(dict.fromkeys(point[key] for point in points)) for key in keys)
    if len(down) * len(across) != len(points) or len(across) > WIDEST or len(down) < 2:
        return ()
    place = {tuple(point.values()): number for number, point in enumerate(points)}
    letters = _letters(list(dict.fromkeys(says[n] for n in sorted(says))), marks)
    names = [_shown(value) for value in down]
    width = max(map(len, names))
    lines = [f"{keys[0]} ↓   {keys[1]} → {_shown(across[0])} … {_shown(across[-1])}"]
    for value, name in zip(down, names, strict=True):
        row = "".join(letters.get(says.get(place[value, other], ""), " ") for other in across)
        lines.append(f"{name:>{width}}  {row}")
    legend = ", ".join(f"{letter} {name}" for name, letter in letters.items())
    return (*lines, legend)


def _letters(names: Sequence[str], marks: Mapping[str, str]) -> dict[str, str]:
    """Return a letter for each name: its first one, if none before it has that."""
    found: dict[str, str] = {}
    for name in names:
        free = [c for c in (*ascii_uppercase, *ascii_lowercase) if c not in found.values()]
        own = [c.upper() for c in name if c.isalpha() and c.isascii() and c.upper() in free]
        found[name] = marks.get(name) or (own or free or ["?"])[0]
    return found


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
