"""The measures there are: every module of this package that has a ``MEASURE``."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bench import beside as package
from bench.beside.measure import Measure
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from sim.records import Record
    from sim.script import Script

__all__ = ["chosen", "columns", "measures", "watching"]


@cache
def measures() -> dict[str, Measure]:
    """Return every measure by name, in alphabetical order."""
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    named = (import_module(f"{package.__name__}.{name}") for name in modules)
    found = [each.MEASURE for each in named if isinstance(getattr(each, "MEASURE", None), Measure)]
    return {measure.name: measure for measure in sorted(found, key=lambda each: each.name)}


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Return *names* in the order of the measures, each once; InputError for an unknown one."""
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in measures():
            raise InputError(unknown("measure", name, measures()))
    return tuple(name for name in measures() if name in wanted)


def columns(names: Iterable[str]) -> list[str]:
    """Return the values that a row has of the measures *names*."""
    return [column for name in names for column in measures()[name].columns]


def watching(names: Iterable[str], script: Script) -> Callable[[list[Record]], dict[str, Any]]:
    """Return what finds the values of the measures *names* in the records of a run of *script*."""
    watches = [measures()[name].watch(script) for name in names]
    return lambda records: {k: v for watch in watches for k, v in watch(records).items()}
