"""The pinned scenarios: what published results are claimed on, each by name from one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from scenarios import reference
from scenarios.documents import read_toml
from scenarios.generated import family_script
from scenarios.scenario import Scenario
from sim.errors import InputError

__all__ = ["FILE", "about", "load_pinned", "names"]

FILE = Path(__file__).with_name("pinned.toml")
"""The file that holds them all, with a source for each figure."""


@cache
def _tables() -> Mapping[str, Any]:
    data, _ = read_toml(FILE)
    return data


def names() -> tuple[str, ...]:
    """Return the names of the pinned scenarios, in the order of the file."""
    return tuple(_tables())


def about(name: str) -> str:
    """Return the line in which a pinned scenario says what it is; KeyError if there is none."""
    return str(_tables()[name]["about"])


def load_pinned(name: str, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Return the pinned scenario *name*, with *overrides* (text or typed) over its settings.

    Raises InputError with everything that is wrong with them, KeyError for an unknown name.
    """
    table = _tables()[name]
    layer: str = table["family"]
    own = reference.check(dict(_flat(table["settings"])), FILE, layer)
    given = reference.read_overrides(overrides or {}, layer)
    settings = reference.settle(reference.defaults(layer), own, given)
    conflicts = list(reference.conflicts(settings))
    if conflicts:
        raise InputError("\n".join(conflicts))
    return Scenario(
        name=name,
        kind="pinned",
        settings=settings,
        make=partial(family_script, layer, name, settings),
        seeded=True,
        about=about(name),
    )


def _flat(table: Mapping[str, Any], front: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys with their values, however the file has nested them."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{front}{key}.")
        else:
            yield front + key, value
