"""The prefix cache: what each call read, and what it computed, new or again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from bench.charts.chart import Chart
from bench.charts.choice import Choice, chosen_run
from bench.charts.theme import HATCHES, Theme
from bench.charts.words import quantity
from sim.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bench.again import Again
    from bench.api import Comparison

__all__ = ["CHART", "PARTS", "Cache"]

PARTS: Mapping[str, tuple[str, ...]] = {
    "read from the cache": ("read",),
    "computed, new": ("append", "rehydration"),
    "computed again: edits": (
        *("refresh", "rewrite", "compaction", "eviction"),
        *("truncation", "change"),
    ),
    "computed again: expired": ("expiry", "rule"),
}
"""Parts of a request by what its tokens are due to (design: the causes of a cost)."""

_READ, _NEW, _EDITS, _EXPIRED = PARTS

_MAINTENANCE, _OUTPUT = "maintenance", "output"


@dataclass(frozen=True, slots=True)
class Cache:
    """A run, call by call: the *turns*, the tokens of each part, and what each call cost.

    *cuts* are the places at which the prefix was broken: by call, the tokens in front that stayed.
    *dollars* are by part, with the output and what was paid for maintenance before the call.
    """

    title: str
    turns: tuple[int, ...]
    parts: Mapping[str, tuple[int, ...]]
    dollars: Mapping[str, tuple[float, ...]]
    cuts: Mapping[int, int]
    pings: tuple[int, ...]


def _gather(found: Comparison, choice: Choice) -> Cache:
    choice = chosen_run(found, choice)
    assert choice.scenario is not None
    assert choice.policy is not None
    return _of(found.repeats.run(choice.scenario, choice.policy, choice.seed, choice.price))


def _of(again: Again) -> Cache:
    part_of = {cause: part for part, causes in PARTS.items() for cause in causes}
    turns: list[int] = []
    parts: dict[str, list[int]] = {part: [] for part in PARTS}
    dollars: dict[str, list[float]] = {name: [] for name in (*PARTS, _OUTPUT, _MAINTENANCE)}
    cuts: dict[int, int] = {}
    pings: list[int] = []
    spent = 0.0
    for record in again.records:
        if record[0] == "ping":
            pings.append(len(turns))
        if record[0] in ("ping", "maintain", "wasted"):
            spent += record[8] if record[0] in ("ping", "wasted") else record[7]
        if record[0] != "call":
            continue
        tokens, paid = dict.fromkeys(PARTS, 0), dict.fromkeys(PARTS, 0.0)
        for cause, count, usd in record[13]:
            tokens[part_of.get(cause, _NEW)] += count
            paid[part_of.get(cause, _NEW)] += usd
        if tokens[_EDITS]:
            cuts[len(turns)] = record[4]
        for part in PARTS:
            parts[part].append(tokens[part])
            dollars[part].append(paid[part])
        dollars[_OUTPUT].append(record[9])
        dollars[_MAINTENANCE].append(spent)
        spent = 0.0
        turns.append(record[2])
    if not turns:
        raise InputError(f"{again.title}: there was no call")
    dollars[_MAINTENANCE][-1] += spent
    return Cache(
        again.title,
        tuple(turns),
        {part: tuple(values) for part, values in parts.items()},
        {name: tuple(values) for name, values in dollars.items()},
        cuts,
        tuple(pings),
    )


def _draw(data: Cache, figure: Figure, theme: Theme) -> None:
    axes, money = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1.5])
    edges = [number + 0.5 for number in range(len(data.turns) + 1)]
    below = [0] * len(data.turns)
    colours = {_READ: 0, _NEW: 2, _EDITS: 5, _EXPIRED: 1}
    for part, values in data.parts.items():
        if not any(values):
            continue
        above = [low + more for low, more in zip(below, values, strict=True)]
        axes.stairs(
            above,
            edges,
            baseline=below,
            fill=True,
            facecolor=theme.colour(colours[part]),
            edgecolor=theme.paper,
            linewidth=0.3,
            hatch=HATCHES[list(PARTS).index(part)],
            label=part,
        )
        below = above
    if data.cuts:
        axes.plot(
            [call + 1 for call in data.cuts],
            list(data.cuts.values()),
            linestyle="",
            marker="_",
            markersize=6 if len(data.turns) < 150 else 3,
            markeredgewidth=1.6,
            color=theme.ink,
            label="cut: where the prefix broke",
        )
    if data.pings:
        axes.plot(
            [ping + 0.5 for ping in data.pings],
            [0] * len(data.pings),
            linestyle="",
            marker="|",
            color=theme.ink,
            clip_on=False,
            label="ping that keeps it alive",
        )
    axes.set_ylabel("tokens of the request")
    axes.set_ylim(0, 1.06 * max(below))
    axes.set_xlim(edges[0], edges[-1])
    axes.yaxis.set_major_formatter(lambda value, at: quantity(value, "tokens"))
    axes.set_title(f"{data.title}: prefix cache", size="large")
    _money(money, data, theme, {**colours, _OUTPUT: 6, _MAINTENANCE: 3})
    figure.legend(loc="outside lower center", ncols=3, handlelength=2.0, handleheight=1.0)


def _money(axes: Axes, data: Cache, theme: Theme, colours: Mapping[str, int]) -> None:
    """Draw what was paid up to each call, by part; the name stands at the end of each line."""
    from bench.charts.labels import stacked

    calls = [number + 1 for number in range(len(data.turns))]
    lines = {name: list(accumulate(values)) for name, values in data.dollars.items() if any(values)}
    most = max((line[-1] for line in lines.values()), default=1.0) or 1.0
    styles = {_READ: "-", _NEW: "--", _EDITS: "-.", _EXPIRED: ":", _OUTPUT: (0, (5, 1))}
    ends = stacked([line[-1] for line in lines.values()], 0.15 * most, 0.0, 1.1 * most)
    for (name, line), end in zip(lines.items(), ends, strict=True):
        colour = theme.colour(colours[name])
        axes.plot(calls, line, color=colour, linestyle=styles.get(name, (0, (1, 1))))
        axes.annotate(
            f"{name.removeprefix('computed ')} {quantity(line[-1], 'USD')}",
            (1.01, end),
            xycoords=("axes fraction", "data"),
            va="center",
            size="x-small",
            color=colour,
        )
    axes.set_ylim(0, 1.15 * most)
    axes.yaxis.set_major_formatter(lambda value, at: quantity(value, "USD"))
    axes.set_ylabel("paid so far")
    axes.set_xlabel("call")


def _told(data: Cache) -> str:
    sums = {part: sum(values) for part, values in data.parts.items()}
    every = sum(sums.values()) or 1
    paid = {name: sum(values) for name, values in data.dollars.items()}
    again = sums[_EDITS] + sums[_EXPIRED]
    cuts = "no cut" if not data.cuts else f"{len(data.cuts):,} calls with a cut"
    return (
        f"{data.title}: of {quantity(every, 'tokens')} tokens in {len(data.turns):,} calls, "
        f"{100 * sums[_READ] / every:.0f} % were read from the cache and "
        f"{100 * again / every:.0f} % computed again, in {cuts}; that again cost "
        f"{quantity(paid[_EDITS] + paid[_EXPIRED], 'USD')} of "
        f"{quantity(sum(paid.values()), 'USD')}."
    )


CHART = Chart(
    name="cache",
    title="Prefix cache",
    says="What each call read from the prefix cache, what it computed again, and where it was cut.",
    of="run",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 4.9,
)
