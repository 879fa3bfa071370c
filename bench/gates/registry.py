"""The gates there are: every module of this package that has a ``GATE``."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module

from bench import gates as package
from bench.gates.gate import Gate
from sim.errors import InputError, unknown

__all__ = ["choose", "gates"]


def gates() -> dict[str, Gate]:
    """Return every gate by name, in alphabetical order."""
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    named = (import_module(f"{package.__name__}.{name}") for name in modules)
    found = [module.GATE for module in named if isinstance(getattr(module, "GATE", None), Gate)]
    return {gate.name: gate for gate in sorted(found, key=lambda gate: gate.name)}


def choose(names: Iterable[str]) -> list[Gate]:
    """Return the gates of *names*, each once, in their order; all gates where there is no name.

    Raises InputError for an unknown name, with the nearest valid one.
    """
    known = gates()
    wanted = list(dict.fromkeys(names)) or list(known)
    for name in wanted:
        if name not in known:
            raise InputError(unknown("gate", name, known))
    return [known[name] for name in wanted]
