"""Occupancy: what the window held at each call, by kind, and what left it and came back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    from sim.records import Record

__all__ = ["CHART", "EVENTS", "LAYERS", "Occupancy", "layer_of"]

LAYERS: Mapping[str, tuple[str, ...]] = {
    "system, tools, task": ("system", "tools", "task"),
    "user": ("user",),
    "model": ("assistant", "thinking", "tool_call"),
    "tool results": ("tool_result", "image"),
    "files": ("file",),
    "diffs": ("diff",),
    "notes, summaries": ("note", "summary"),
    "surrogates": ("surrogate", "invented"),
}
"""Layers of the window from below, each with its kinds of segment; a surrogate is what a rewrite
left, and what was invented in its place."""

EVENTS: Mapping[str, tuple[str, str]] = {
    "evicted": ("v", "evict"),
    "rewritten": ("s", "rewrite"),
    "truncated": ("X", "truncate"),
    "brought back": ("^", "fetch"),
}
"""What happens to a window, each with its marker and its record."""

_LANES = 90
"""Groups of neighbouring turns that have one mark of a kind, at most."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """A run: *held* has the tokens of each layer at each call; *marks* tokens by kind and turn.

    *turns* are those of the calls; *ended* says why a run failed, empty for one that completed.
    """

    title: str
    budget: int
    turns: tuple[int, ...]
    held: Mapping[str, tuple[int, ...]]
    marks: Mapping[str, Mapping[int, int]]
    ended: str


def layer_of(kind: str) -> str:
    """Return the layer in which a segment of *kind* is shown."""
    return next(layer for layer, kinds in LAYERS.items() if kind in kinds)


def _gather(found: Comparison, choice: Choice) -> Occupancy:
    choice = chosen_run(found, choice)
    assert choice.scenario is not None
    assert choice.policy is not None
    again = found.repeats.run(choice.scenario, choice.policy, choice.seed, choice.price)
    return _of(again)


def _of(again: Again) -> Occupancy:
    from bench.explain.findings import tell

    told = tell(again.script, again.records)
    world = told.rebuilt()
    turns: list[int] = []
    held: dict[str, list[int]] = {layer: [] for layer in LAYERS}
    marks: dict[str, dict[int, int]] = {name: {} for name in EVENTS}
    names = {record: name for name, (_, record) in EVENTS.items()}
    for index, record in enumerate(told.records):
        if record[0] in names:
            turn, mine = record[2], marks[names[record[0]]]
            mine[turn] = mine.get(turn, 0) + _tokens(record)
        world.apply(record, told.follower(index))
        if record[0] == "call":
            sums = dict.fromkeys(LAYERS, 0)
            for item in world.window:
                sums[layer_of(item.kind)] += item.tokens
            if turns and turns[-1] == record[2]:
                for layer in LAYERS:
                    held[layer].pop()
            else:
                turns.append(record[2])
            for layer, tokens in sums.items():
                held[layer].append(tokens)
    if not turns:
        raise InputError(f"{again.title}: there was no call")
    shown = {layer: tuple(values) for layer, values in held.items() if any(values)}
    row = again.row
    ended = "" if row["status"] == "completed" else str(row["reason"] or row["status"])
    return Occupancy(again.title, world.budget, tuple(turns), shown, marks, ended)


def _tokens(record: Record) -> int:
    """Return how many tokens an event took out of the window, or brought back."""
    if record[0] == "rewrite":
        return max(0, record[5] - record[6])
    return int(record[4])


def _draw(data: Occupancy, figure: Figure, theme: Theme) -> None:
    lanes = [name for name, mine in data.marks.items() if mine]
    if lanes:
        top, axes = figure.subplots(2, 1, sharex=True, height_ratios=[0.28 * len(lanes) + 0.1, 3.4])
        _lanes(top, data, lanes, theme)
        top.set_title(data.title, size="large")
    else:
        axes = figure.subplots()
        axes.set_title(data.title, size="large")
    edges = [data.turns[0] - 0.5, *(turn + 0.5 for turn in data.turns)]
    below = [0] * len(data.turns)
    for layer, values in data.held.items():
        at = list(LAYERS).index(layer)
        above = [low + more for low, more in zip(below, values, strict=True)]
        axes.stairs(
            above,
            edges,
            baseline=below,
            fill=True,
            facecolor=theme.colour(at),
            edgecolor=theme.paper,
            linewidth=0.3,
            hatch=HATCHES[at],
            label=layer,
        )
        below = above
    axes.axhline(data.budget, color=theme.ink, linewidth=1.2, linestyle="--")
    axes.annotate(
        f"budget {quantity(data.budget, 'tokens')}",
        (0.995, data.budget),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        size="small",
    )
    if data.ended:
        axes.axvline(data.turns[-1] + 0.5, color=theme.bad, linewidth=1.5)
        axes.annotate(
            f"failed: {data.ended[:60]}",
            (data.turns[-1] + 0.5, 0.5 * data.budget),
            xytext=(-4, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            size="small",
            color=theme.bad,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": theme.paper, "edgecolor": "none"},
        )
    axes.set_ylim(0, 1.1 * max(data.budget, *below))
    axes.set_xlim(edges[0], edges[-1] + 0.01 * (edges[-1] - edges[0]))
    axes.yaxis.set_major_formatter(lambda value, at: quantity(value, "tokens"))
    axes.set_xlabel("turn")
    axes.set_ylabel("tokens at the call")
    figure.legend(loc="outside lower center", ncols=4, handlelength=2.2, handleheight=1.1)


def _lanes(axes: Axes, data: Occupancy, lanes: Sequence[str], theme: Theme) -> None:
    """Mark what left and what came back above the window, larger for more tokens."""
    groups = {name: _grouped(data.marks[name], data.turns) for name in lanes}
    most = max((tokens for mine in groups.values() for _, tokens in mine), default=1) or 1
    for lane, name in enumerate(lanes):
        marker, _ = EVENTS[name]
        colour = theme.good if name == "brought back" else theme.bad
        axes.scatter(
            [turn for turn, _ in groups[name]],
            [lane] * len(groups[name]),
            s=[10 + 50 * tokens / most for _, tokens in groups[name]],
            marker=marker,
            color=theme.ink if name == "rewritten" else colour,
            linewidth=0,
            alpha=0.85,
        )
    axes.set_yticks(range(len(lanes)), lanes)
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.grid(visible=False)
    axes.tick_params(bottom=False, labelbottom=False, left=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _grouped(marks: Mapping[int, int], turns: Sequence[int]) -> list[tuple[float, int]]:
    """Return the tokens of each group of turns that has any, at the middle of those turns."""
    size = max(1, -(-(turns[-1] - turns[0] + 1) // _LANES))
    groups: dict[int, list[tuple[int, int]]] = {}
    for turn, tokens in sorted(marks.items()):
        groups.setdefault((turn - turns[0]) // size, []).append((turn, tokens))
    return [
        (sum(turn for turn, _ in mine) / len(mine), sum(tokens for _, tokens in mine))
        for mine in groups.values()
    ]


def _told(data: Occupancy) -> str:
    totals = [sum(values) for values in zip(*data.held.values(), strict=True)]
    peak = max(totals)
    turn = data.turns[totals.index(peak)]
    largest = max(data.held, key=lambda layer: sum(data.held[layer]))
    sums = {name: sum(mine.values()) for name, mine in data.marks.items() if mine}
    left = ", ".join(
        f"{quantity(tokens, 'tokens')}{' tokens' if at == 0 else ''} {name}"
        for at, (name, tokens) in enumerate(sums.items())
    )
    share = 100 * peak / data.budget
    return (
        f"{data.title}: the window peaks at {quantity(peak, 'tokens')} tokens in turn {turn}, "
        f"{share:.0f} % of the budget; most of it is {largest}"
        + (f"; {left}" if left else "")
        + (f"; it failed: {data.ended}" if data.ended else "")
        + "."
    )


CHART = Chart(
    name="occupancy",
    title="Occupancy of the window",
    says="What the window held at each call, by kind, and what left it and came back.",
    of="run",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 4.2 + 0.26 * sum(1 for mine in data.marks.values() if mine),
)
