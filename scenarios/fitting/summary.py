"""The figures by which a recorded session and what was fitted to it are compared."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

from scenarios.fitting.distributions import quantile
from scenarios.fitting.measure import LONG_WAIT, Figures

__all__ = ["Tools", "comparison", "summary"]

_OFF = 0.25
"""From here on a figure counts as one that the family does not follow."""


Tools = Mapping[str, tuple[str, ...]]
"""Names of a family's tools, with the groups of results that each stands for."""


def summary(figures: Figures, tools: Tools) -> dict[str, float | None]:
    """Return the named figures of *figures*; None where there is nothing to tell it from."""
    results = sum(len(sizes) for sizes in figures.sizes.values())
    spoken = [words for words in figures.words if words]
    found: dict[str, float | None] = {
        "calls a turn": _share(sum(figures.calls), figures.later),
        "turns of the user": _share(len(figures.users), figures.later),
        **_quantiles("message of the user", figures.users),
        "waits of the user over 300 s": _share(
            sum(wait > LONG_WAIT for wait in figures.user_waits), len(figures.user_waits)
        ),
        "turns with words of the model": _share(len(spoken), len(figures.words)),
        **_quantiles("words of the model", spoken),
    }
    for tool, groups in tools.items():
        sizes = [tokens for group in groups for tokens in figures.sizes[group]]
        if sizes:
            found[f"share of results: {tool}"] = _share(len(sizes), results)
            found |= _quantiles(f"result of {tool}", sizes)
            found[f"result of {tool}, mean"] = fmean(sizes)
    return found | {
        **_quantiles("change in an edit", figures.changes),
        "other call, mean": fmean(figures.call_tokens) if figures.call_tokens else None,
        **_quantiles("seconds of a call", figures.latencies),
        "reads of a path read before": _share(len(figures.reread_lags), figures.reads),
        "turns since a path was read, median": (
            quantile(figures.reread_lags, 0.5) if figures.reread_lags else None
        ),
        "writes a turn": _share(figures.writes, figures.later),
        "questions a turn": _share(len(figures.lags), figures.later),
        "turns a question goes back, median": quantile(figures.lags, 0.5) if figures.lags else None,
        "tokens written a turn": fmean(figures.output) if figures.output else None,
        "tokens that come in a turn": fmean(figures.growth) if figures.growth else None,
    }


def comparison(
    recorded: Figures, made: Figures, tools: Tools
) -> list[tuple[str, float | None, float, bool]]:
    """Return each figure of *recorded*, the same of *made*, and whether they are far apart."""
    rows = []
    theirs = summary(made, tools)
    for name, value in summary(recorded, tools).items():
        other = theirs.get(name)
        if other is None:
            continue
        far = value is not None and abs(other - value) > max(_OFF * abs(value), 0.02)
        rows.append((name, value, other, far))
    return rows


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _quantiles(name: str, values: list[int] | list[float]) -> dict[str, float | None]:
    if not values:
        return {}
    return {f"{name}, median": quantile(values, 0.5), f"{name}, p90": quantile(values, 0.9)}
