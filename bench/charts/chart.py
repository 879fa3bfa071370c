"""A chart: what it takes of a comparison, how it is drawn, and what it says in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.charts.choice import Choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bench.api import Comparison
    from bench.charts.theme import Theme

__all__ = ["Chart"]


@dataclass(frozen=True, slots=True)
class Chart:
    """Something to look at, in three steps that can each be tested alone.

    *gather* takes from a comparison what is shown of a choice, as plain values, and raises
    InputError where there is nothing to show; *draw* puts it on an empty figure, in a theme's
    colours, and is all that knows of Matplotlib; *told* says in a sentence or two what can be seen,
    for who cannot see it.
    """

    name: str
    title: str
    says: str
    """What it shows, in a sentence."""
    of: str
    """What it is of: ``run``, ``scenario`` or ``sweep``."""
    gather: Callable[[Comparison, Choice], Any]
    draw: Callable[[Any, Figure, Theme], None]
    told: Callable[[Any], str]
    width: float = 7.2
    """In inches; text is as large as it says at this width."""
    height: Callable[[Any], float] = lambda data: 4.0
    """In inches."""
