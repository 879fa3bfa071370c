"""Drawing: a chart's data as a figure of Matplotlib, a PNG or SVG file, or SVG for a page.

The same data give the same bytes. ``pyplot`` is not used: it keeps figures, and would open windows.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.charts.chart import Chart
from bench.charts.theme import PAGE, Theme
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "draw", "page_svg", "rendered", "save"]

FORMATS = ("png", "svg")
"""Forms of a picture, by the end of its file's name."""

_DPI = 160

_BYTES: Mapping[Any, Any] = {"svg.hashsalt": "evictbench", "svg.fonttype": "none"}
"""Settings without which an SVG has ids at random, and letters as shapes that nobody can search."""


def draw(chart: Chart, data: Any, theme: Theme) -> Figure:
    """Return *data*, which *chart* gathered, as a figure in the colours of *theme*."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**theme.settings(), **_BYTES}):
        figure = Figure(figsize=(chart.width, chart.height(data)), layout="constrained")
        chart.draw(data, figure, theme)
    return figure


def save(chart: Chart, data: Any, theme: Theme, file: Path) -> None:
    """Write *data*, which *chart* gathered, to *file*, whole or not at all.

    Raises InputError if it ends in none of :data:`FORMATS`, or cannot be written.
    """
    from bench.results.atomic import write_bytes

    form = file.suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise InputError(f"a picture is a PNG or an SVG: {unknown('ending', form, FORMATS)}")
    write_bytes(file, rendered(chart, data, theme, form))


def page_svg(chart: Chart, data: Any, prefix: str = "") -> str:
    """Return *data* as an ``<svg>`` element for a page, in the colours that the page sets.

    It has a role and a label for screen readers. Its ids begin with *prefix*, by default the
    chart's name: of a page that shows a chart twice, each needs its own.
    """
    text = rendered(chart, data, PAGE, "svg").decode()
    text = text[text.index("<svg") :]
    for colour, variable in PAGE.variables.items():
        text = text.replace(colour, variable)
    text = re.sub(r'\b(id="|xlink:href="#|href="#|url\(#)', rf"\g<1>{prefix or chart.name}-", text)
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    label = _attribute(f"{chart.title}. {chart.told(data)}")
    start, rest = text.split(">", 1)
    text = re.sub(r' (width|height)="[^"]*"', "", start) + ">" + rest
    return text.replace("<svg", f'<svg role="img" aria-label="{label}" class="chart"', 1)


def rendered(chart: Chart, data: Any, theme: Theme, form: str) -> bytes:
    """Return *data*, which *chart* gathered, as the bytes of a picture of one of `FORMATS`."""
    from matplotlib import rc_context

    told = io.BytesIO()
    metadata = {"Date": None, "Creator": "evictbench"} if form == "svg" else {"Software": None}
    with rc_context({**theme.settings(), **_BYTES}):
        draw(chart, data, theme).savefig(told, format=form, dpi=_DPI, metadata=metadata)
    return told.getvalue()


def _attribute(text: str) -> str:
    from html import escape

    return " ".join(escape(text, quote=True).split())
