"""The charts of a report: which there are of a comparison, each as SVG with what it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.charts.choice import Choice
from bench.charts.drawing import page_svg
from bench.charts.picture import picture
from bench.charts.registry import charts
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["Drawings", "Drawn"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart on the page: its *title*, what can be seen in it, in words, and its SVG."""

    title: str
    told: str
    svg: str


class Drawings:
    """Draws charts of *found* for one page, and keeps why some could not be drawn."""

    def __init__(self, found: Comparison) -> None:
        self._found = found
        self._drawn = 0
        self.left_out: list[str] = []

    def of(self, kind: str, choice: Choice) -> list[Drawn]:
        """Return the charts of *kind*, ``run``, ``scenario`` or ``sweep``, that show *choice*."""
        named = [name for name, chart in charts().items() if chart.of == kind]
        return list(self._each(named, choice))

    def _each(self, names: Iterable[str], choice: Choice) -> Iterable[Drawn]:
        for name in names:
            try:
                made = picture(self._found, name, choice)
                svg = page_svg(made.chart, made.data, f"{name}{self._drawn}")
            except InputError as error:
                where = "" if choice.scenario is None else f" of {choice.scenario}"
                self.left_out.append(f"{made_title(name)}{where} is not drawn: {error}")
                continue
            self._drawn += 1
            yield Drawn(made.chart.title, made.told, svg)


def made_title(name: str) -> str:
    """Return the title of the chart called *name*."""
    return charts()[name].title
