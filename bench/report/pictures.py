"""The charts of a report: which there are of a comparison, each as SVG with what it says."""

from __future__ import annotations

from collections.abc import Iterator
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
        self._refused: dict[tuple[str, str], list[str]] = {}

    def of(self, kind: str, choice: Choice) -> list[Drawn]:
        """Return the charts of *kind*, ``run``, ``scenario`` or ``sweep``, that show *choice*."""
        return list(self._each(kind, choice))

    def _each(self, kind: str, choice: Choice) -> Iterator[Drawn]:
        for name, chart in charts().items():
            if chart.of != kind:
                continue
            try:
                data = picture(self._found, name, choice).data
                svg = page_svg(chart, data, f"{name}{self._drawn}")
            except InputError as error:
                of = self._refused.setdefault((chart.title, str(error)), [])
                of += [] if choice.scenario is None else [choice.scenario]
                continue
            self._drawn += 1
            yield Drawn(chart.title, chart.told(data), svg)

    @property
    def left_out(self) -> list[str]:
        """Sentences that say which charts were not drawn, and why."""
        return [
            f"{title}{' of ' if of else ''}{', '.join(of)} is not drawn: {why}"
            for (title, why), of in self._refused.items()
        ]
