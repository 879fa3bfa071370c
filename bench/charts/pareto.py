"""Pareto front: cost against the peak of the window, and what is made up beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.charts.chart import Chart
from bench.charts.choice import Choice, chosen_scenario, rows_of
from bench.charts.labels import spread
from bench.charts.theme import Theme
from bench.charts.words import quantity, shortened
from sim.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bench.api import Comparison

__all__ = ["CHART", "Front", "Point"]

_COST, _PEAK = "total_cost_usd", "peak_tokens"

_LEAST, _MOST = 34.0, 150.0
"""Areas of the marker that makes nothing up, and of the one that makes up most: square points."""


@dataclass(frozen=True, slots=True)
class Point:
    """A *policy*: its mean *cost* (US dollars), *peak* (tokens) and share *made_up*, of a run.

    The first two have their 95 % interval, None for a single run; *made_up* is None where nothing
    is asked. *on_front* says that no other is as good in all and better in one; *share* how often
    it is on the front when the seeds are drawn again, None for a single one.
    """

    policy: str
    cost: float
    cost_range: tuple[float, float] | None
    peak: float
    peak_range: tuple[float, float] | None
    made_up: float | None
    on_front: bool
    share: float | None


@dataclass(frozen=True, slots=True)
class Front:
    """The points of a scenario, the cheapest first; *left_out* are policies, and why each is."""

    scenario: str
    price: str
    seeds: int
    points: tuple[Point, ...]
    left_out: tuple[tuple[str, str], ...]


def _gather(found: Comparison, choice: Choice) -> Front:
    from bench.front import fronts

    choice = chosen_scenario(found, choice)
    assert choice.scenario is not None
    assert choice.price is not None
    lines = fronts(rows_of(found, choice))
    inside = [line for line in lines if line["on_front"] is not None]
    if not inside:
        why = "; ".join(f"{line['policy']}: {line['why']}" for line in lines)
        raise InputError(f"no policy can be on a front of {choice.scenario!r} ({why})")
    ranges = _ranges(found, choice)
    points = [
        Point(
            line["policy"],
            line[_COST],
            ranges.get((line["policy"], _COST)),
            line[_PEAK],
            ranges.get((line["policy"], _PEAK)),
            line["confabulation_rate"],
            line["on_front"],
            line["share"],
        )
        for line in inside
    ]
    points.sort(key=lambda point: (point.cost, point.peak, point.policy))
    out = tuple((line["policy"], line["why"]) for line in lines if line["on_front"] is None)
    return Front(choice.scenario, choice.price, inside[0]["n"], tuple(points), out)


def _ranges(found: Comparison, choice: Choice) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the 95 % intervals of cost and peak, by policy and metric."""
    key = choice.scenario, choice.price
    return {
        (line["policy"], line["metric"]): (line["ci_low"], line["ci_high"])
        for line in found.lines
        if (line["scenario"], line["price"]) == key
        and line["metric"] in (_COST, _PEAK)
        and line["ci_low"] is not None
    }


def _draw(data: Front, figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    most = max((point.made_up or 0.0) for point in data.points)
    for point in data.points:
        colour = _colour(point, theme)
        if point.cost_range is not None:
            axes.plot(point.cost_range, [point.peak] * 2, color=colour, linewidth=1.0, alpha=0.6)
        if point.peak_range is not None:
            axes.plot([point.cost] * 2, point.peak_range, color=colour, linewidth=1.0, alpha=0.6)
        share = (point.made_up or 0.0) / most if most else 0.0
        axes.scatter(
            [point.cost],
            [point.peak],
            s=_LEAST + share * (_MOST - _LEAST),
            marker="o" if point.on_front else "s",
            facecolor=colour if point.on_front else theme.paper,
            edgecolor=colour,
            linewidth=1.3,
            zorder=3,
        )
    _step(axes, data, theme)
    axes.xaxis.set_major_formatter(lambda value, at: quantity(value, "USD"))
    axes.yaxis.set_major_formatter(lambda value, at: quantity(value, "tokens"))
    axes.set_xlim(_limits([p.cost for p in data.points], [p.cost_range for p in data.points]))
    axes.set_ylim(_limits([p.peak for p in data.points], [p.peak_range for p in data.points]))
    axes.set_xlabel(f"cost a run, US dollars ({data.price})")
    axes.set_ylabel("peak of the window, tokens")
    axes.set_title(f"{data.scenario}: what no policy beats", size="large")
    texts = [_label(point) for point in data.points]
    spread(axes, [(point.cost, point.peak) for point in data.points], texts, theme)
    figure.supxlabel(_note(data), x=0.01, ha="left", size="small", color=theme.faint)


def _colour(point: Point, theme: Theme) -> str:
    if point.made_up:
        return theme.bad
    return theme.good if point.on_front else theme.faint


def _step(axes: Axes, data: Front, theme: Theme) -> None:
    """Join the policies on the front that make nothing up: what can be had at all."""
    best: list[Point] = []
    for point in data.points:
        if point.on_front and not point.made_up and (not best or point.peak < best[-1].peak):
            best.append(point)
    if len(best) > 1:
        axes.step(
            [point.cost for point in best],
            [point.peak for point in best],
            where="post",
            color=theme.good,
            linewidth=1.2,
            linestyle="--",
            zorder=1,
        )


def _limits(
    values: Sequence[float], ranges: Sequence[tuple[float, float] | None]
) -> tuple[float, float]:
    """Return limits that show all *values* with room for labels; a long interval may leave them."""
    low, high = min(values), max(values)
    room = (high - low) or abs(high) or 1.0
    ends = [end for each in ranges if each is not None for end in each]
    least = max(min([low, *ends]), low - 0.5 * room)
    most = min(max([high, *ends]), high + 0.5 * room)
    span = (most - least) or 1.0
    start = least - 0.12 * span
    return (-0.06 * span if start < 0 <= least else start), most + 0.14 * span


def _label(point: Point) -> str:
    name = shortened(point.policy, 24)
    if point.made_up:
        name += f", {quantity(point.made_up, 'share')} made up"
    if point.on_front and point.share is not None and point.share < 0.995:
        name += f" ({100 * point.share:.0f} %)"
    return name


def _note(data: Front) -> str:
    seeds = "1 seed" if data.seeds == 1 else f"{data.seeds:,} seeds"
    lines = [
        f"● on the front (how often, if seeds are drawn again), □ beaten, larger: more answers "
        f"made up; lines: 95 % intervals; {seeds}"
    ]
    if data.left_out:
        shown = [shortened(policy) for policy, _ in data.left_out[:5]]
        more = len(data.left_out) - len(shown)
        lines.append("left out, as none to choose or not completed: " + ", ".join(shown))
        lines[-1] += f" and {more} more" if more else ""
    return "\n".join(lines)


def _told(data: Front) -> str:
    front = [point for point in data.points if point.on_front]
    each = "; ".join(
        f"{point.policy} with {quantity(point.cost, 'USD')} a run, a peak of "
        f"{quantity(point.peak, 'tokens')} tokens"
        + ("" if point.made_up is None else f" and {quantity(point.made_up, 'share')} made up")
        for point in front
    )
    beaten = len(data.points) - len(front)
    out = f", and {len(data.left_out)} left out" if data.left_out else ""
    return f"{data.scenario}, on the front: {each}. {beaten} beaten{out}."


CHART = Chart(
    name="pareto",
    title="Pareto front",
    says="Policies that no other beats in made-up answers, peak and cost, with intervals.",
    of="scenario",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 4.9,
)
