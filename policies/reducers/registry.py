"""The reducers by name: ours, one a file, and those that other packages register."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from policies.reducers import formats
from policies.reducers.form import Reducer
from sim.errors import InputError, unknown

__all__ = ["GROUP", "make", "names", "reducers"]

GROUP = "evictbench.reducers"
"""Entry-point group under which a package registers a reducer, a class or an instance."""
_PARTS = ("name", "about", "kind", "rank", "hints", "find", "read")


@cache
def reducers() -> Mapping[str, Reducer]:
    """Return every reducer by name, the highest rank first.

    Raises InputError if two have one name or a registered one cannot be loaded.
    """
    found: dict[str, Reducer] = {}
    for module in iter_modules(formats.__path__, f"{formats.__name__}."):
        reducer = import_module(module.name).REDUCER
        found[reducer.name] = reducer
    for point in entry_points(group=GROUP):
        reducer = _load(point.name, point.load)
        if reducer.name in found:
            raise InputError(f"two reducers are called {reducer.name!r}: see {point.value}")
        found[reducer.name] = reducer
    return dict(sorted(found.items(), key=lambda pair: (-pair[1].rank, pair[0])))


def _load(name: str, load: Callable[[], object]) -> Reducer:
    try:
        loaded = load()
        reducer = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:  # whatever a third party's module raises
        raise InputError(f"the registered reducer {name!r} cannot be loaded: {error}") from None
    missing = [part for part in _PARTS if not hasattr(reducer, part)]
    if missing:
        raise InputError(f"the registered reducer {name!r} has no {', '.join(missing)}")
    return reducer  # type: ignore[return-value]


def names() -> tuple[str, ...]:
    """Return the names of all reducers, sorted."""
    return tuple(sorted(reducers()))


def make(name: str) -> Reducer:
    """Return the reducer called *name*; raises InputError, with the nearest name, without one."""
    known = reducers()
    if name not in known:
        raise InputError(unknown("reducer", name, names()))
    return known[name]
