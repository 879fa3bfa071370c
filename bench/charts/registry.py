"""The charts there are: every module of this package that has a ``CHART``."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from bench import charts as package
from bench.charts.chart import Chart
from sim.errors import InputError, unknown

__all__ = ["charts", "get_chart"]

_ORDER = ("scenario", "run", "sweep")
"""What charts are of, in the order in which they are listed."""


@cache
def charts() -> dict[str, Chart]:
    """Return every chart by name: those of a scenario, of a run, then of a sweep."""
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    named = (import_module(f"{package.__name__}.{name}") for name in modules)
    found = [each.CHART for each in named if isinstance(getattr(each, "CHART", None), Chart)]
    order = sorted(found, key=lambda chart: (_ORDER.index(chart.of), chart.name))
    return {chart.name: chart for chart in order}


def get_chart(name: str) -> Chart:
    """Return the chart called *name*; raises InputError, with the nearest name, for another."""
    if name not in charts():
        raise InputError(unknown("chart", name, charts()))
    return charts()[name]
