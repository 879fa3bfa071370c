"""One table of a scenario or script file, and its check against the reference file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenarios import reference
from scenarios.documents import Faults
from scenarios.keys import Key, shown
from scenarios.lines import Path
from sim.errors import unknown
from sim.script import (
    Act,
    Arrival,
    Change,
    Compaction,
    KeepAlive,
    Operator,
    Query,
    Stimulus,
    Structure,
    Wait,
    WorldRefresh,
    Write,
)
from sim.segments import Fact, Kind

__all__ = ["CLASSES", "Item", "read_item", "read_table", "to_stimulus"]

CLASSES: Mapping[str, type[Any]] = {
    "segment": Arrival,
    "write": Write,
    "refresh": WorldRefresh,
    "query": Query,
    "act": Act,
    "operator": Operator,
    "wait": Wait,
    "keep-alive": KeepAlive,
    "change": Change,
    "compaction": Compaction,
}
"""Section of the reference file → the stimulus its tables describe."""


@dataclass(slots=True)
class Item:
    """One table of a file: what it holds, and where each of its keys stands."""

    section: str
    values: dict[str, Any]
    path: Path
    paths: dict[str, Path] = field(default_factory=dict)
    """Where keys stand that came from elsewhere, by a patch."""

    def at(self, key: str | None = None) -> Path:
        """Return the path of *key*, or of the table itself."""
        if key is None:
            return self.path
        return self.paths.get(key, (*self.path, key))

    @property
    def title(self) -> str:
        """How a message names it."""
        name = self.values.get("id")
        if isinstance(name, str):
            return f"{self.section} {name!r}"
        number = self.values.get("number")
        return self.section if number is None else f"{self.section} {shown(number)}"

    def copy(self) -> Item:
        """Return an item that a patch can change without touching this one."""
        return Item(self.section, dict(self.values), self.path, dict(self.paths))


def read_item(item: Item, keys: Mapping[str, Key], faults: Faults) -> dict[str, Any] | None:
    """Return the typed values of *item* with defaults filled in, or None if a fault was found."""
    return read_table(item.values, keys, item.title, item.at, faults)


def read_table(
    values: Mapping[str, Any],
    keys: Mapping[str, Key],
    title: str,
    at: Callable[[str | None], Path],
    faults: Faults,
) -> dict[str, Any] | None:
    """Check a table against *keys*, nested tables too; each fault is noted with its place."""
    typed = {name: key.default for name, key in keys.items() if key.default is not None}
    sound = True
    for name, value in values.items():
        key = keys.get(name)
        if key is None:
            faults.add(f"{title}: {unknown('key', name, keys)}", at(name))
            sound = False
            continue
        try:
            typed[name] = key.check(value)
        except ValueError as error:
            faults.add(f"{title}: {error}", at(name))
            sound = False
            continue
        if key.of:
            typed[name] = _read_nested(key, value, title, at(name), faults)
            sound = sound and typed[name] is not None
    missing = [name for name, key in keys.items() if key.required and name not in values]
    if missing:
        faults.add(f"{title} lacks {' and '.join(missing)}", at(None))
    return typed if sound and not missing else None


def _read_nested(key: Key, value: Any, title: str, path: Path, faults: Faults) -> Any:
    keys = reference.section(key.of)
    if key.sort == "table":
        return read_table(value, keys, f"{title}, {key.name}", _under(path), faults)
    tables = [
        read_table(table, keys, f"{title}, {key.of}", _under((*path, index)), faults)
        for index, table in enumerate(value)
    ]
    return None if any(table is None for table in tables) else tables


def _under(path: Path) -> Callable[[str | None], Path]:
    return lambda key: path if key is None else (*path, key)


def to_stimulus(section: str, values: Mapping[str, Any]) -> Stimulus:
    """Return the stimulus that the checked *values* of a table describe."""
    arguments = dict(values)
    if arguments.get("facts") is not None:
        arguments["facts"] = tuple(Fact(**fact) for fact in arguments["facts"])
    if arguments.get("structure") is not None:
        arguments["structure"] = Structure(**arguments["structure"])
    if "kept" in arguments:
        arguments["kept"] = tuple(arguments["kept"])
    if "kind" in arguments:
        arguments["kind"] = Kind(arguments["kind"])
    stimulus: Stimulus = CLASSES[section](**arguments)
    return stimulus
