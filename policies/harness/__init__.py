"""The field's own policies, each as its harness runs it, in one module a policy.

A module here that defines a subclass of ``Composed`` with a name adds it to the registry. Each says
its source and the version it was read in, and keeps its limits in that harness's own units.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import isclass
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.policy import Composed

__all__ = ["found"]


@cache
def found() -> tuple[type[Composed], ...]:
    """Return the policies of this package, by name."""
    from policies.policy import Composed

    classes: dict[str, type[Composed]] = {}
    for module in iter_modules(__path__, f"{__name__}."):
        for value in vars(import_module(module.name)).values():
            named = isclass(value) and issubclass(value, Composed) and "name" in vars(value)
            if named and value.__module__ == module.name:
                classes[value.name] = value
    return tuple(classes[name] for name in sorted(classes))
