"""Labels beside points that cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bench.charts.theme import Theme

__all__ = ["spread", "stacked"]

_CHARACTER, _LINE = 5.1, 10.5
"""Room that a small letter and a line take, in points."""

_NEAR, _FAR = (9.0, 14.0), (0.0, 11.0, -11.0, 22.0, -22.0, 34.0, -34.0, 46.0, -46.0, 60.0, -60.0)
"""Distances of a label to its point that are tried, in points: across, and up."""

_Box = tuple[float, float, float, float]
_Place = tuple[float, float, int]
"""Across, up, and the side: 1 to the right, −1 to the left."""


def spread(
    axes: Axes, points: Sequence[tuple[float, float]], texts: Sequence[str], theme: Theme
) -> None:
    """Write each of *texts* beside its point, at the first of some places that is free.

    Limits of *axes* must be set. Where no place is free, the label takes the one that covers least;
    one that is far from its point is joined to it by a line.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    width, height = (size * 72 for size in figure.get_size_inches())
    box = (0.80 * width, 0.72 * height)
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    places = [
        ((x - left) / (right - left) * box[0], (y - low) / (high - low) * box[1]) for x, y in points
    ]
    taken: list[_Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    for (x, y), at, text in zip(points, places, texts, strict=True):
        size = (_CHARACTER * len(text), _LINE)
        tried = [(across, up, side) for up, across, side in product(_FAR, _NEAR, (1, -1))]
        best = min(tried, key=lambda each: _cost(_box(at, size, each), taken, box) + _apart(each))
        taken.append(_box(at, size, best))
        across, up, side = best
        axes.annotate(
            text,
            (x, y),
            xytext=(across * side, up),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            size="small",
            zorder=4,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": theme.paper, "edgecolor": "none"},
            arrowprops={"arrowstyle": "-", "color": theme.faint, "linewidth": 0.5}
            if abs(up) > 15
            else None,
        )


def _box(at: tuple[float, float], size: tuple[float, float], place: _Place) -> _Box:
    across, up, side = place
    start = at[0] + across if side > 0 else at[0] - across - size[0]
    return start, at[1] + up - size[1] / 2, start + size[0], at[1] + up + size[1] / 2


def _cost(box: _Box, taken: Sequence[_Box], room: tuple[float, float]) -> float:
    """Return the area of *box* that is covered, or out of the picture, in square points."""
    covered = sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )
    out = max(0.0, -box[0]) + max(0.0, box[2] - room[0])
    over = max(0.0, -box[1]) + max(0.0, box[3] - room[1])
    return covered + 40 * out + 40 * over


def _apart(place: _Place) -> float:
    """Return what a place costs by itself: a near one to the right is best."""
    across, up, side = place
    return 0.3 * abs(up) + 0.1 * across + (0.5 if side < 0 else 0.0)


def stacked(heights: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Return *heights*, in their order, moved so that neighbours are at least *least* apart.

    They stay between *low* and *high* where they have room there.
    """
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    moved = list(heights)
    floor = low
    for at in order:
        moved[at] = max(moved[at], floor)
        floor = moved[at] + least
    ceiling = high
    for at in reversed(order):
        moved[at] = min(moved[at], ceiling)
        ceiling = moved[at] - least
    return moved
