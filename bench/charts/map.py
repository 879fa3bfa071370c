"""The map of a sweep: a metric over two keys, and where slack, swap and refusal lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from bench.charts.chart import Chart
from bench.charts.choice import Choice
from bench.charts.theme import BLACK, WHITE, Theme
from bench.charts.words import quantity, shortened
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bench.api import Comparison

__all__ = ["CHART", "Map", "Panel"]

_METRICS = ("confabulation_rate", "total_cost_usd", "peak_tokens", "deferred")
"""Metrics that are tried, the first that differs between settings is shown."""

_MOST = 4
"""Policies that have a panel each, where none was chosen."""

_LETTER = 0.025
"""Share of the width of a panel, one of two, that a letter of a label takes at most."""

_CALLED = {"slack": "slack", "swap": "swap", "refuse": "refuse", "none": "no one leads"}


@dataclass(frozen=True, slots=True)
class Panel:
    """A *policy*: its mean of the metric, and the way of its gate that leads, by row and column.

    A value is None where no run completed; *leads* is empty for a policy that has no gate.
    """

    policy: str
    values: tuple[tuple[float | None, ...], ...]
    leads: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Map:
    """A metric of some policies over two keys: *x* across and *y* up, with their values."""

    scenario: str
    metric: str
    unit: str
    x: str
    xs: tuple[float, ...]
    y: str
    ys: tuple[float, ...]
    panels: tuple[Panel, ...]


def _gather(found: Comparison, choice: Choice) -> Map:
    from sim.metrics import METRICS

    x, y, xs, ys = _grid(found)
    policies = _policies(found, choice)
    means = {metric: _means(found.rows, metric, x, y) for metric in _asked(choice)}
    metric = next((m for m in means if _varies(means[m], policies)), next(iter(means)))
    led = _led(found.rows, x, y)
    panels = tuple(
        Panel(
            policy,
            tuple(tuple(means[metric].get((policy, u, v)) for u in xs) for v in ys),
            tuple(tuple(led[policy, u, v] for u in xs) for v in ys)
            if any(key[0] == policy for key in led)
            else (),
        )
        for policy in policies
    )
    units = {each.name: each.unit for each in METRICS}
    return Map(found.rows[0]["scenario"], metric, units[metric], x, xs, y, ys, panels)


def _grid(found: Comparison) -> tuple[str, str, tuple[float, ...], tuple[float, ...]]:
    """Return the two keys of a sweep and their values in order: the first key is across."""
    points: Sequence[Any] = getattr(found, "points", ())
    keys = list(points[0]) if points else []
    if len(keys) != 2:
        raise InputError(
            f"a map is of two keys, and the sweep varied {len(keys)}; `--vary` two of them"
        )
    values = {key: sorted({point[key] for point in points}, key=str) for key in keys}
    for key, mine in values.items():
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in mine):
            raise InputError(f"a map needs numbers along its sides, and {key} has {mine[0]!r}")
        mine.sort()
    x, y = keys
    if len(points) != len(values[x]) * len(values[y]) or min(map(len, values.values())) < 2:
        raise InputError("a map is of a grid of at least 2 × 2 settings; `--design grid` makes one")
    return x, y, tuple(values[x]), tuple(values[y])


def _policies(found: Comparison, choice: Choice) -> list[str]:
    known = list(dict.fromkeys(row["policy"] for row in found.rows))
    if choice.policy is None:
        return known[:_MOST]
    if choice.policy not in known:
        raise InputError(unknown("policy", choice.policy, known))
    return [choice.policy]


def _asked(choice: Choice) -> tuple[str, ...]:
    return _METRICS if choice.metric is None else (choice.metric,)


def _means(
    rows: Sequence[Any], metric: str, x: str, y: str
) -> dict[tuple[str, float, float], float]:
    """Return the mean of *metric* over the completed runs, by policy and the two values."""
    found: dict[tuple[str, float, float], list[float]] = {}
    for row in rows:
        if row["status"] == "completed" and row[metric] is not None:
            found.setdefault((row["policy"], row[x], row[y]), []).append(row[metric])
    return {key: sum(values) / len(values) for key, values in found.items()}


def _varies(means: dict[tuple[str, float, float], float], policies: Sequence[str]) -> bool:
    return any(len({v for k, v in means.items() if k[0] == policy}) > 1 for policy in policies)


def _led(rows: Sequence[Any], x: str, y: str) -> dict[tuple[str, float, float], str]:
    from bench.sweep.leads import led
    from bench.sweep.plan import SETTING

    at = {row[SETTING]: (row[x], row[y]) for row in rows}
    return {(policy, *at[number]): way for (number, policy), way in led(rows).items()}


def _draw(data: Map, figure: Figure, theme: Theme) -> None:
    columns = min(2, len(data.panels))
    grid = figure.subplots(
        -(-len(data.panels) // columns), columns, squeeze=False, sharex=True, sharey=True
    )
    values = [v for panel in data.panels for row in panel.values for v in row if v is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    every = list(grid.flat)
    for axes in every[len(data.panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(every, data.panels, strict=False):
        mesh = _panel(axes, panel, data, (low, high), theme)
    for axes in every[: len(data.panels)][-columns:]:
        axes.set_xlabel(data.x)
        axes.tick_params(labelbottom=True)
    for axes in grid[:, 0]:
        axes.set_ylabel(data.y)
    bar = figure.colorbar(
        mesh,
        ax=every[: len(data.panels)],
        format=lambda value, at: quantity(value, data.unit),
        shrink=0.9,
    )
    bar.outline.set_visible(False)
    figure.suptitle(f"{data.scenario}: {data.metric}", x=0.01, ha="left", size="large")
    note = "line: where another of slack, swap and refusal leads; hatched: no run completed"
    figure.supxlabel(note, x=0.01, ha="left", size="small", color=theme.faint)


def _panel(axes: Axes, panel: Panel, data: Map, limits: tuple[float, float], theme: Theme) -> Any:
    import numpy as np

    grid = np.array([[np.nan if value is None else value for value in row] for row in panel.values])
    across, up = _edges(data.xs), _edges(data.ys)
    axes.set_facecolor(theme.grid)
    axes.patch.set_hatch("///")
    axes.patch.set_edgecolor(theme.faint)
    mesh = axes.pcolormesh(
        across,
        up,
        np.ma.masked_invalid(grid),
        cmap=theme.ramp,
        vmin=limits[0],
        vmax=limits[1],
        rasterized=True,
    )
    axes.grid(visible=False)
    axes.set_title(shortened(panel.policy, 40), size="medium")
    for scale, values in ((axes.set_xscale, data.xs), (axes.set_yscale, data.ys)):
        if _even_ratios(values):
            scale("log")
    if panel.leads:
        _boundaries(axes, panel, across, up, theme)
        _names(axes, panel, across, up, theme)
    return mesh


def _edges(values: Sequence[float]) -> list[float]:
    """Return the edges of the cells around *values*: halfway between neighbours."""
    if _even_ratios(values):
        middles = [(a * b) ** 0.5 for a, b in pairwise(values)]
        return [values[0] ** 2 / middles[0], *middles, values[-1] ** 2 / middles[-1]]
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    return [2 * values[0] - middles[0], *middles, 2 * values[-1] - middles[-1]]


def _even_ratios(values: Sequence[float]) -> bool:
    """Whether *values* go up by equal ratios, as those of a logarithmic axis do."""
    if len(values) < 3 or values[0] <= 0:
        return False
    ratios = [b / a for a, b in pairwise(values)]
    return max(ratios) / min(ratios) < 1.02 and ratios[0] > 1.05


def _boundaries(
    axes: Axes, panel: Panel, across: Sequence[float], up: Sequence[float], theme: Theme
) -> None:
    """Draw the edges between cells in which different ways lead, light on dark."""
    from matplotlib.collections import LineCollection

    leads = panel.leads
    lines = []
    for i, row in enumerate(leads):
        for j, way in enumerate(row):
            if j + 1 < len(row) and row[j + 1] != way:
                lines.append([(across[j + 1], up[i]), (across[j + 1], up[i + 1])])
            if i + 1 < len(leads) and leads[i + 1][j] != way:
                lines.append([(across[j], up[i + 1]), (across[j + 1], up[i + 1])])
    for colour, width in ((BLACK, 3.4), (WHITE, 1.6)):
        axes.add_collection(
            LineCollection(lines, colors=colour, linewidths=width, capstyle="round")
        )


def _names(
    axes: Axes, panel: Panel, across: Sequence[float], up: Sequence[float], theme: Theme
) -> None:
    """Write which way leads into the middle of each region that has room for it.

    It is written upwards where the region is narrow and high.
    """
    columns, rows = len(across) - 1, len(up) - 1
    for way, cells in _regions(panel.leads):
        if len(cells) < max(2, columns * rows // 40):
            continue
        i, j = _middle(cells)
        mine = set(cells)
        wide = _run([(i, at) in mine for at in range(columns)], j) / columns
        high = _run([(at, j) in mine for at in range(rows)], i) / rows
        needed = _LETTER * (len(_CALLED[way]) + 2)
        upwards = wide < needed and wide < high
        aside = not upwards and wide < needed
        axes.text(
            across[j + 1]
            if aside and j == columns - 1
            else across[j]
            if aside and j == 0
            else (across[j] + across[j + 1]) / 2,
            (up[i] + up[i + 1]) / 2,
            _CALLED[way],
            ha="right" if aside and j == columns - 1 else "left" if aside and j == 0 else "center",
            va="center",
            rotation=90 if upwards else 0,
            size="small",
            color=BLACK,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": WHITE, "edgecolor": "none"},
        )


def _run(inside: Sequence[bool], at: int) -> int:
    """Return how many neighbours of *at*, itself included, are *inside* in one stretch."""
    low = high = at
    while low > 0 and inside[low - 1]:
        low -= 1
    while high + 1 < len(inside) and inside[high + 1]:
        high += 1
    return high - low + 1


def _regions(leads: Sequence[Sequence[str]]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the regions of neighbouring cells in which one way leads, with their cells."""
    seen: set[tuple[int, int]] = set()
    regions = []
    for i, row in enumerate(leads):
        for j, way in enumerate(row):
            if (i, j) in seen:
                continue
            cells, border = [], [(i, j)]
            seen.add((i, j))
            while border:
                a, b = border.pop()
                cells.append((a, b))
                for c, d in ((a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)):
                    inside = 0 <= c < len(leads) and 0 <= d < len(row)
                    if inside and (c, d) not in seen and leads[c][d] == way:
                        seen.add((c, d))
                        border.append((c, d))
            regions.append((way, sorted(cells)))
    return regions


def _middle(cells: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the cell of a region that is nearest to the middle of it."""
    a = sum(cell[0] for cell in cells) / len(cells)
    b = sum(cell[1] for cell in cells) / len(cells)
    return min(cells, key=lambda cell: ((cell[0] - a) ** 2 + (cell[1] - b) ** 2, cell))


def _told(data: Map) -> str:
    said = []
    for panel in data.panels:
        at = {
            (u, v): value
            for v, row in zip(data.ys, panel.values, strict=True)
            for u, value in zip(data.xs, row, strict=True)
            if value is not None
        }
        if not at:
            said.append(f"{panel.policy} completed no run")
            continue
        low, high = (pick(at, key=lambda key: (at[key], key)) for pick in (min, max))
        text = (
            f"{panel.policy} has the least {data.metric}, {quantity(at[low], data.unit)}, at "
            f"{data.x} {low[0]:.4g} and {data.y} {low[1]:.4g}, the most, "
            f"{quantity(at[high], data.unit)}, at {high[0]:.4g} and {high[1]:.4g}"
        )
        counts: dict[str, int] = {}
        for row in panel.leads:
            for way in row:
                counts[way] = counts.get(way, 0) + 1
        cells = len(data.xs) * len(data.ys)
        leads = [f"{_CALLED[way]} in {count}" for way, count in counts.items()]
        said.append(text + (f"; of {cells} settings, {', '.join(leads)}" if leads else ""))
    return f"{data.scenario}: {'. '.join(said)}."


CHART = Chart(
    name="map",
    title="Map of two keys",
    says="A metric over two keys of a sweep, with the boundary between slack, swap and refusal.",
    of="sweep",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 4.6 if len(data.panels) == 1 else 3.4 * -(-len(data.panels) // 2) + 0.6,
)
