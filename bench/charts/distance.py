"""Distance to the best possible: what each policy missed beside what any would have missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.charts.chart import Chart
from bench.charts.choice import Choice, chosen_scenario
from bench.charts.theme import Theme
from bench.charts.words import quantity, shortened
from sim.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bench.api import Comparison

__all__ = ["CHART", "Distance", "Distances"]


@dataclass(frozen=True, slots=True)
class Distance:
    """Tokens that a *policy* *missed* and the least that any could on the same runs, in the mean.

    *low* and *high* are the 95 % interval of what it missed above the bound, None for one run;
    *reached* of *runs* missed no more than the bound.
    """

    policy: str
    missed: float
    bound: float
    low: float | None
    high: float | None
    reached: int
    runs: int

    @property
    def above(self) -> float:
        """What it missed above the bound."""
        return self.missed - self.bound


@dataclass(frozen=True, slots=True)
class Distances:
    """The distances of a scenario, the nearest to the bound first."""

    scenario: str
    distances: tuple[Distance, ...]


def _gather(found: Comparison, choice: Choice) -> Distances:
    choice = chosen_scenario(found, choice)
    if "bound" not in found.beside:
        raise InputError(
            "the best possible was not asked for; `--bound` beside the comparison measures it"
        )
    lines = [
        line
        for line in found.beside["bound"]
        if (line["scenario"], line["price"]) == (choice.scenario, choice.price) and line["n"]
    ]
    if not lines:
        raise InputError(f"nothing was missed or measured in {choice.scenario!r}")
    each = [
        Distance(
            line["policy"],
            line["missed"],
            line["bound"],
            line["ci_low"],
            line["ci_high"],
            line["reached"],
            line["n"],
        )
        for line in lines
    ]
    assert choice.scenario is not None
    return Distances(choice.scenario, tuple(sorted(each, key=lambda one: one.above)))


def _draw(data: Distances, figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    places = range(len(data.distances))
    most = max(max(one.missed, one.bound + (one.high or 0.0)) for one in data.distances) or 1.0
    for at, one in zip(places, data.distances, strict=True):
        axes.plot([one.bound, one.missed], [at, at], color=theme.grid, linewidth=3, zorder=1)
        if one.low is not None and one.high is not None:
            ends = [one.bound + one.low, one.bound + one.high]
            axes.plot(ends, [at, at], color=theme.colour(0), linewidth=1.4)
            axes.plot(ends, [at, at], "|", color=theme.colour(0), markersize=6)
        axes.annotate(
            _apart(one),
            (1.015, at),
            xycoords=("axes fraction", "data"),
            va="center",
            size="small",
        )
    axes.plot(
        [one.missed for one in data.distances],
        places,
        "o",
        color=theme.colour(0),
        markersize=6,
        label="missed, with the 95 % interval of what is above the bound",
    )
    axes.plot(
        [one.bound for one in data.distances],
        places,
        "D",
        color=theme.paper,
        markeredgecolor=theme.ink,
        markersize=5,
        label="bound: no policy misses less on the same runs",
    )
    axes.set_xlim(-0.02 * most, 1.06 * most)
    axes.set_yticks(places, [shortened(one.policy) for one in data.distances])
    axes.set_ylim(len(data.distances) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter(lambda value, at: quantity(value, "tokens"))
    axes.set_xlabel("tokens asked for and not there, a run")
    axes.set_title(f"{data.scenario}: distance to the best possible", size="large")
    figure.legend(loc="outside lower center", ncols=1)


def _apart(one: Distance) -> str:
    if one.above <= 0:
        return "at the bound"
    if not one.bound:
        return f"{quantity(one.above, 'tokens', signed=True)}"
    return f"{quantity(one.above, 'tokens', signed=True)} (×{one.missed / one.bound:.3g})"


def _told(data: Distances) -> str:
    first, last = data.distances[0], data.distances[-1]
    text = (
        f"{data.scenario}: {first.policy} is nearest to the best possible and misses "
        f"{quantity(first.missed, 'tokens')} tokens a run, where no policy misses less than "
        f"{quantity(first.bound, 'tokens')}"
    )
    if first is last:
        return f"{text}."
    return f"{text}; {last.policy} is farthest and misses {quantity(last.missed, 'tokens')}."


CHART = Chart(
    name="distance",
    title="Distance to the best possible",
    says="What each policy missed beside the least that any could miss on the same runs.",
    of="scenario",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 1.9 + 0.28 * len(data.distances),
)
