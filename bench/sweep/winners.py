"""Winners: which policy is best at each setting of a sweep, and where that changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = ["TIE", "changes", "winning"]

TIE = " = "
"""Stands between policies that share the first place."""


def winning(
    best: Mapping[int, Sequence[str]], points: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return a line for each winner: in how many settings it wins, and between which values.

    *best* has the policies in the first place by the number of the setting, several where they
    share it, none where no policy wins. A line has, by key, the least and the greatest value of the
    settings it wins, or their list where the key does not take numbers. Most wins first.
    """
    won: dict[str, list[int]] = {}
    for number, policies in best.items():
        if policies:
            won.setdefault(TIE.join(policies), []).append(number)
    order = sorted(won, key=lambda name: (-len(won[name]), won[name][0]))
    return [
        {
            "winner": name,
            "settings": len(won[name]),
            "share": len(won[name]) / len(best),
            **{key: _span([points[n][key] for n in won[name]]) for key in points[0]},
        }
        for name in order
    ]


def changes(
    best: Mapping[int, Sequence[str]], points: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return where the winner changes between neighbours of a grid, the most frequent first.

    Neighbours are two settings of which one key has values next to each other and all others are
    the same. A line has the ``key``, the values ``below`` and ``above``, the winner on either side
    (``before``, ``after``), at how many of the pairs of neighbours there (``of``) it changes so
    (``count``). In a design that is no grid there are hardly any neighbours, and no lines.
    """
    found: dict[tuple[Any, ...], int] = {}
    pairs: dict[tuple[str, Any, Any], int] = {}
    for key in points[0]:
        rows: dict[tuple[Any, ...], list[int]] = {}
        for number in best:
            others = tuple(value for name, value in points[number].items() if name != key)
            rows.setdefault(others, []).append(number)
        place = {value: at for at, value in enumerate(_ordered(p[key] for p in points))}
        for row in rows.values():
            row.sort(key=lambda number: place[points[number][key]])
            for low, high in pairwise(row):
                below, above = points[low][key], points[high][key]
                if place[above] - place[below] != 1:
                    continue
                pairs[key, below, above] = pairs.get((key, below, above), 0) + 1
                if tuple(best[low]) != tuple(best[high]):
                    at = (key, below, above, TIE.join(best[low]), TIE.join(best[high]))
                    found[at] = found.get(at, 0) + 1
    lines = [
        {
            "key": key,
            "below": below,
            "above": above,
            "before": before or None,
            "after": after or None,
            "count": count,
            "of": pairs[key, below, above],
        }
        for (key, below, above, before, after), count in found.items()
    ]
    return sorted(lines, key=lambda line: -line["count"])


def _ordered(values: Iterable[Any]) -> list[Any]:
    known = list(dict.fromkeys(values))
    return sorted(known) if _numbers(known) else known


def _span(values: Sequence[Any]) -> list[Any]:
    known = _ordered(values)
    return [known[0], known[-1]] if _numbers(known) else known


def _numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
