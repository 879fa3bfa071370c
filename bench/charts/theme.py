"""Themes: the colours of a chart in light, in dark, in print, and on a page with its own.

Categories have the eight colours of Okabe and Ito (Color Universal Design, 2008), which people who
do not see red or green can tell apart, in an order in which neighbours differ in lightness, too.
What a chart says is never said by colour alone: markers, hatches or labels say it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sim.errors import InputError, unknown

__all__ = ["BLACK", "HATCHES", "MARKERS", "PAGE", "THEMES", "WHITE", "Theme", "get_theme"]

BLACK, WHITE = "#010101", "#fefefe"
"""Colours that are the same in every theme and on every page, for what lies on a colour map."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h")
"""Markers of categories, in the order of their colours."""

HATCHES = ("", "///", "---", "\\\\\\", "xxx", "|||", "+++", "//", "\\\\", "--")
"""Hatches of areas, in the order of their colours; straight lines take little of an SVG."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours, as ``#rrggbb``: of the *paper*, of *ink*, of *faint* ink, of a *grid*, and more.

    *series* are those of categories, *good* and *bad* those of what is meant as one or the other;
    *ramp* and *diverging* name colour maps of Matplotlib.
    """

    name: str
    paper: str
    ink: str
    faint: str
    grid: str
    good: str
    bad: str
    series: tuple[str, ...]
    ramp: str = "cividis"
    diverging: str = "PuOr"
    variables: Mapping[str, str] = field(default_factory=dict)
    """What stands for each colour in an SVG that is part of a page, by colour."""

    def colour(self, place: int) -> str:
        """Return the colour of the category at *place*; they repeat after the last."""
        return self.series[place % len(self.series)]

    def settings(self) -> dict[Any, Any]:
        """Return the settings of Matplotlib that draw everything in these colours."""
        return {
            "figure.facecolor": self.paper,
            "savefig.facecolor": self.paper,
            "axes.facecolor": self.paper,
            "axes.edgecolor": self.faint,
            "axes.labelcolor": self.ink,
            "axes.titlecolor": self.ink,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": "medium",
            "axes.titlelocation": "left",
            "grid.color": self.grid,
            "grid.linewidth": 0.6,
            "text.color": self.ink,
            "xtick.color": self.ink,
            "ytick.color": self.ink,
            "xtick.labelsize": "small",
            "ytick.labelsize": "small",
            "legend.frameon": False,
            "legend.fontsize": "small",
            "hatch.color": self.paper,
            "hatch.linewidth": 0.6,
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"],
            "font.size": 9.0,
        }


_OKABE_ITO = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#d55e00", "#8c7a00", "#6b6b6b", "#44337a", "#a0522d"),
)
"""Seven of the eight colours; the yellow and the black, lost on white and on text, are others."""

_ON_DARK = (
    *("#4ba3e3", "#f0b440", "#2fc49a", "#e09cc4"),
    *("#9fd4f5", "#f07f3c", "#d8c84a", "#b0b0b0", "#a894e0", "#d09070"),
)
"""The same hues, light enough for a dark ground."""

_IN_PRINT = (
    *("#1f4e79", "#c9a227", "#3f8f6f", "#b57b9c"),
    *("#7fb5d5", "#a8481c", "#6e6a2a", "#5a5a5a", "#3a2d63", "#8a6a50"),
)
"""The same hues, with lightness that ink keeps apart."""

LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink="#1a1d21",
    faint="#5c6670",
    grid="#e3e7eb",
    good="#007a5a",
    bad="#b3401a",
    series=_OKABE_ITO,
)

DARK = Theme(
    name="dark",
    paper="#14181d",
    ink="#e8ebee",
    faint="#9aa5b1",
    grid="#2b333c",
    good="#3fd0a4",
    bad="#f58a5c",
    series=_ON_DARK,
)

PRINT = Theme(
    name="print",
    paper="#ffffff",
    ink="#000000",
    faint="#404040",
    grid="#d0d0d0",
    good="#1b5e45",
    bad="#8a2f10",
    series=_IN_PRINT,
)

THEMES = {theme.name: theme for theme in (LIGHT, DARK, PRINT)}
"""The themes that a file can have, by name."""


def _page() -> Theme:
    """Return the theme of a page: the light one, whose colours an SVG has as variables of CSS."""
    named = {
        "paper": LIGHT.paper,
        "ink": LIGHT.ink,
        "faint": LIGHT.faint,
        "grid": LIGHT.grid,
        "good": LIGHT.good,
        "bad": LIGHT.bad,
        **{f"c{place}": colour for place, colour in enumerate(LIGHT.series, start=1)},
    }
    variables = {colour: f"var(--{name})" for name, colour in named.items()}
    return replace(LIGHT, name="page", variables=variables)


PAGE = _page()
"""For SVG within a page, which sets ``--paper``, ``--ink``, ``--faint``, ``--grid``, ``--good``,
``--bad`` and ``--c1`` to ``--c10`` for light, for dark and for print."""


def get_theme(name: str) -> Theme:
    """Return the theme called *name*; raises InputError, with the nearest name, for another."""
    if name not in THEMES:
        raise InputError(unknown("theme", name, THEMES))
    return THEMES[name]
