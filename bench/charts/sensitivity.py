"""Sensitivity: what each key of a sweep does to each policy's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.charts.chart import Chart
from bench.charts.choice import Choice
from bench.charts.theme import MARKERS, Theme
from bench.charts.words import quantity, shortened
from sim.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bench.api import Comparison

__all__ = ["CHART", "Effect", "Sensitivity"]


@dataclass(frozen=True, slots=True)
class Effect:
    """How much a metric of a *policy* changes from the first value of a *key* to the last.

    *change* is in the metric's unit, with its 95 % interval; *share* is the part of the variance
    over settings that goes with the key, None where there is none.
    """

    policy: str
    key: str
    start: str
    end: str
    change: float
    low: float | None
    high: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The effects of every key, by metric, each with its unit."""

    scenario: str
    units: Mapping[str, str]
    effects: Mapping[str, tuple[Effect, ...]]


def _gather(found: Comparison, choice: Choice) -> Sensitivity:
    from sim.metrics import METRICS

    lines = [
        line
        for line in getattr(found, "effects", ())
        if choice.policy in (None, line["policy"]) and line["change"] is not None
    ]
    if not lines:
        raise InputError("there is nothing to show: no policy completed runs at several settings")
    names = list(dict.fromkeys(line["metric"] for line in lines))
    if choice.metric is not None:
        if choice.metric not in names:
            raise InputError(f"effects are told of {', '.join(names)}, not of {choice.metric}")
        names = [choice.metric]
    units = {metric.name: metric.unit for metric in METRICS}
    return Sensitivity(
        found.rows[0]["scenario"],
        {name: units[name] for name in names},
        {name: tuple(_effect(each) for each in lines if each["metric"] == name) for name in names},
    )


def _effect(line: Mapping[str, Any]) -> Effect:
    start, end = _value(line["from"]), _value(line["to"])
    change, low, high = line["change"], line["ci_low"], line["ci_high"]
    return Effect(line["policy"], line["key"], start, end, change, low, high, line["share"])


def _value(value: Any) -> str:
    """Return a value of a key, or the middle of a group of its values, in few characters."""
    if isinstance(value, list):
        first, last = value
        numbers = all(isinstance(each, int | float) for each in value)
        return f"{(first + last) / 2:.3g}" if numbers else f"{first}…{last}"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _draw(data: Sensitivity, figure: Figure, theme: Theme) -> None:
    figure.suptitle(
        f"{data.scenario}: change from the first values of a key to its last",
        x=0.01,
        ha="left",
        size="large",
    )
    shown = _varied(data)
    panels = figure.subplots(len(shown), 1, squeeze=False)
    for axes, (metric, effects) in zip(panels[:, 0], shown.items(), strict=True):
        _panel(axes, metric, data.units[metric], effects, theme)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)))


def _varied(data: Sensitivity) -> Mapping[str, tuple[Effect, ...]]:
    """Return the metrics that some key changes, all of them if none does."""
    found = {
        metric: effects
        for metric, effects in data.effects.items()
        if any(each.change or each.share for each in effects)
    }
    return found or data.effects


def _panel(axes: Axes, metric: str, unit: str, effects: tuple[Effect, ...], theme: Theme) -> None:
    keys = list(dict.fromkeys(effect.key for effect in effects))
    policies = list(dict.fromkeys(effect.policy for effect in effects))
    largest = max(abs(each.change) for each in effects)
    axes.axvline(0, color=theme.faint, linewidth=0.8)
    for effect in effects:
        place = policies.index(effect.policy)
        y = keys.index(effect.key) + 0.7 * ((place + 0.5) / len(policies) - 0.5)
        colour = theme.colour(place)
        if effect.low is not None and effect.high is not None:
            axes.plot([effect.low, effect.high], [y, y], color=colour, linewidth=1.4)
        marker = MARKERS[place % len(MARKERS)]
        label = shortened(effect.policy) if effect.key == keys[0] else None
        axes.plot([effect.change], [y], marker=marker, color=colour, linestyle="", label=label)
        if effect.share is not None:
            axes.annotate(
                f"{100 * effect.share:.0f} %",
                (1.01, y),
                xycoords=("axes fraction", "data"),
                size="x-small",
                va="center",
                color=theme.faint,
            )
    spans = {effect.key: f"{effect.start} → {effect.end}" for effect in effects}
    axes.set_yticks(range(len(keys)), [f"{shortened(key)}\n{spans[key]}" for key in keys])
    axes.set_ylim(len(keys) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    if not largest:
        axes.set_xlim(-1, 1)
    axes.xaxis.set_major_formatter(lambda value, at: quantity(value, unit, signed=True))
    axes.set_title(f"{metric} (right: share of its variance)", size="small")


def _height(data: Sensitivity) -> float:
    sizes = [
        0.8 + 0.16 * len(effects) + 0.25 * len({each.key for each in effects})
        for effects in _varied(data).values()
    ]
    policies = {each.policy for effects in data.effects.values() for each in effects}
    return 0.8 + 0.2 * len(policies) / 4 + sum(sizes)


def _told(data: Sensitivity) -> str:
    said = []
    for metric, effects in data.effects.items():
        shares = [each for each in effects if each.share is not None]
        if not shares:
            said.append(f"no key changes {metric}")
            continue
        most = max(shares, key=lambda each: each.share or 0.0)
        change = quantity(most.change, data.units[metric], signed=True)
        said.append(
            f"{metric} depends most on {most.key}: under {most.policy} it is "
            f"{100 * (most.share or 0.0):.0f} % of the variance, and from {most.start} to "
            f"{most.end} changes {metric} by {change}"
        )
    return f"{data.scenario}: {'; '.join(said)}."


CHART = Chart(
    name="sensitivity",
    title="Sensitivity to the keys of a sweep",
    says="How much each varied key changes answers, peak and cost of each policy, with intervals.",
    of="sweep",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=_height,
)
