"""A picture: a chart of a comparison, drawn; a notebook shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.charts.chart import Chart
from bench.charts.choice import Choice, chosen_run, chosen_scenario
from bench.charts.registry import charts, get_chart
from bench.charts.theme import Theme, get_theme
from sim.errors import InputError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bench.api import Comparison

__all__ = ["Picture", "Plots", "picture"]

_NO_PART_OF_A_FILE_NAME = re.compile(r"[^\w.=+-]+")

_LONGEST = 60
"""Characters of a name that a file's name keeps."""


@dataclass(frozen=True)
class Picture:
    """A *chart*, the *data* that it shows of a *choice*, and the *theme* it has.

    A notebook shows it by itself; ``str`` says in words what can be seen.
    """

    chart: Chart
    choice: Choice
    data: Any
    theme: Theme

    @cached_property
    def figure(self) -> Figure:
        """The figure of Matplotlib, to be changed at will."""
        from bench.charts.drawing import draw

        return draw(self.chart, self.data, self.theme)

    @property
    def told(self) -> str:
        """What can be seen, in words."""
        return self.chart.told(self.data)

    @property
    def stem(self) -> str:
        """A name for its file, without an ending: the chart and what it is of."""
        parts = [self.chart.name, self.choice.scenario, self.choice.price, self.choice.policy]
        if self.chart.of == "run":
            parts.append(str(self.choice.seed))
        named = (_NO_PART_OF_A_FILE_NAME.sub("-", part)[:_LONGEST] for part in parts if part)
        return "-".join(part.strip("-") for part in named)

    def save(self, file: str | PathLike[str]) -> None:
        """Write it to *file*, a PNG or an SVG by its ending; raises InputError if that fails."""
        from bench.charts.drawing import save

        save(self.chart, self.data, self.theme, Path(file))

    def _repr_png_(self) -> bytes:
        from bench.charts.drawing import rendered

        return rendered(self.chart, self.data, self.theme, "png")

    def __str__(self) -> str:
        return self.told


def picture(found: Comparison, name: str, choice: Choice, theme: str = "light") -> Picture:
    """Return the chart *name* of *found*, as *theme* (``light``, ``dark``, ``print``) has it.

    Raises InputError, with the nearest name, for an unknown chart, theme, scenario, policy, price
    or metric, and where *found* has nothing that the chart could show.
    """
    from bench.goals import metric_named

    chart, colours = get_chart(name), get_theme(theme)
    if choice.metric is not None:
        metric_named(choice.metric)
    if chart.of != "sweep":
        if "vary" in found.manifest:
            raise InputError(
                f"{name} is of one {chart.of}, and a sweep has many settings; `evictbench list "
                "charts` says which charts are of a sweep"
            )
        choice = (chosen_run if chart.of == "run" else chosen_scenario)(found, choice)
    elif "vary" not in found.manifest:
        raise InputError(f"{name} is of a sweep; `evictbench sweep --out DIR` makes one")
    return Picture(chart, choice, chart.gather(found, choice), colours)


class Plots:
    """The charts of a comparison, each as a method: ``found.plot.pareto(theme="dark")``.

    A method takes what a chart may be of by name: *scenario*, *price*, *policy*, *seed*, *metric*,
    and *theme*. It returns a `Picture`, and raises InputError as :func:`picture` does.
    """

    def __init__(self, found: Comparison) -> None:
        self._found = found

    def __getattr__(self, name: str) -> Callable[..., Picture]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in charts():
            close = nearest(name, charts())
            hint = f"; did you mean {close!r}?" if close else ""
            raise AttributeError(f"there is no chart {name!r}{hint}")

        def drawn(*, theme: str = "light", **choice: Any) -> Picture:
            return picture(self._found, name, Choice(**choice), theme)

        drawn.__name__, drawn.__doc__ = name, charts()[name].says
        return drawn

    def __dir__(self) -> Iterator[str]:
        return iter(charts())
