"""Effects: what each varied key does to a policy's figures over the settings of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bench.statistics import estimate
from bench.sweep.plan import SETTING

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BINS", "MEASURED", "effects"]

MEASURED = ("confabulation_rate", "peak_tokens", "total_cost_usd")
"""Metrics whose effects are told: all are better when they are less."""

BINS = 8
"""Groups, of equal size, of a key that takes more values than this."""


def effects(
    rows: Sequence[Mapping[str, Any]],
    keys: Sequence[str],
    metrics: Sequence[str] = MEASURED,
) -> list[dict[str, Any]]:
    """Return a line for each policy, metric and key of the sweep whose *rows* these are.

    ``share`` is how much of the variance of the settings' means goes with the key: the correlation
    ratio η² of its values, or of up to :data:`BINS` groups of neighbouring values, less what as
    many groups explain by chance (ε², Kelley 1935), at least 0; None where the means are all one.
    ``first`` and ``last`` are the means at its first and last value or group, and ``change`` the
    second less the first with a 95 % interval, paired by seed. Runs that did not complete count in
    no mean.
    """
    import numpy as np

    lines = []
    for policy in dict.fromkeys(row["policy"] for row in rows):
        mine = [row for row in rows if row["policy"] == policy and row["status"] == "completed"]
        for metric in metrics:
            known = [row for row in mine if row[metric] is not None]
            if not known:
                continue
            values = np.array([row[metric] for row in known], dtype=float)
            settings = np.array([row[SETTING] for row in known])
            seeds = np.array([row["seed"] for row in known])
            for key in keys:
                groups = _groups([row[key] for row in known])
                line = {"policy": policy, "metric": metric, "key": key}
                lines.append({**line, **_effect(values, settings, seeds, groups)})
    return lines


def _groups(values: Sequence[Any]) -> list[tuple[Any, Any, list[int]]]:
    """Return the first and the last value of each group, and the places of the rows in it."""
    places: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in places)
    order = sorted(places) if numbers else list(places)
    if not numbers or len(order) <= BINS:
        return [(value, value, places[value]) for value in order]
    cuts = [round(len(order) * part / BINS) for part in range(BINS + 1)]
    return [
        (order[low], order[high - 1], [p for value in order[low:high] for p in places[value]])
        for low, high in pairwise(cuts)
    ]


def _effect(
    values: NDArray[Any],
    settings: NDArray[Any],
    seeds: NDArray[Any],
    groups: Sequence[tuple[Any, Any, list[int]]],
) -> dict[str, Any]:
    import numpy as np

    (low, low_end, first), (high, high_end, last) = groups[0], groups[-1]
    change = estimate(np.array(_paired(values, seeds, first, last), dtype=float))
    return {
        "share": _share(values, settings, groups),
        "from": low if low == low_end else [low, low_end],
        "to": high if high == high_end else [high, high_end],
        "first": float(values[first].mean()),
        "last": float(values[last].mean()),
        "change": change.mean,
        "ci_low": change.low,
        "ci_high": change.high,
        "n": change.n,
    }


def _paired(
    values: NDArray[Any], seeds: NDArray[Any], first: list[int], last: list[int]
) -> list[float]:
    """Return, for each seed that is in both, its mean over *last* less its mean over *first*."""
    means = []
    for places in (first, last):
        sums: dict[int, list[float]] = {}
        for place in places:
            sums.setdefault(int(seeds[place]), []).append(float(values[place]))
        means.append({seed: sum(each) / len(each) for seed, each in sums.items()})
    return [means[1][seed] - means[0][seed] for seed in sorted(means[0]) if seed in means[1]]


def _share(
    values: NDArray[Any],
    settings: NDArray[Any],
    groups: Sequence[tuple[Any, Any, list[int]]],
) -> float | None:
    import numpy as np

    found, at = np.unique(settings, return_inverse=True)
    means = np.bincount(at, weights=values) / np.bincount(at)
    total = float(((means - means.mean()) ** 2).sum())
    if len(found) < 2 or total <= 1e-24 * float((means**2).sum()):
        return None
    inside = 0.0
    for _, _, places in groups:
        mine = means[np.unique(at[places])]
        inside += float(((mine - mine.mean()) ** 2).sum())
    spare = len(found) - len(groups)
    if spare <= 0:
        return 1.0 - inside / total
    return max(0.0, 1.0 - inside / total * (len(found) - 1) / spare)
