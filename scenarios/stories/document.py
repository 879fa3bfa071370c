"""A scenario file as a list of tables, and the patches that its flips and variants are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios import reference
from scenarios.documents import Faults
from scenarios.items import Item
from scenarios.lines import Path
from sim.errors import InputError, unknown

__all__ = ["OWN_KEYS", "AttemptItem", "Document", "Settings", "read_document"]

_STIMULI = (
    "segment",
    "write",
    "refresh",
    "query",
    "act",
    "operator",
    "wait",
    "keep-alive",
    "change",
    "compaction",
)
_BRANCHES = ("ok", "failed")

OWN_KEYS = ("number", "turn", "id", "needs")
"""Keys of an attempt's table besides the stimuli in it."""


@dataclass(slots=True)
class Settings:
    """One layer of settings, flat and dotted, and where each key stands."""

    values: dict[str, Any] = field(default_factory=dict)
    paths: dict[str, Path] = field(default_factory=dict)


@dataclass(slots=True)
class AttemptItem:
    """The table of an attempt, and the tables in it: of both branches, and of each."""

    item: Item
    both: list[Item] = field(default_factory=list)
    branches: dict[str, list[Item]] = field(default_factory=lambda: {"ok": [], "failed": []})

    @property
    def id(self) -> str:
        """What patches call it."""
        return str(self.item.values.get("id", f"attempt-{self.item.values.get('number')}"))

    def lists(self) -> list[list[Item]]:
        """Return the lists of tables in it."""
        return [self.both, *self.branches.values()]


@dataclass(slots=True)
class Document:
    """Everything a scenario file says, unchecked but for its outline."""

    about: str = ""
    family: str | None = None
    layers: list[Settings] = field(default_factory=list)
    tools: dict[str, Item] = field(default_factory=dict)
    """What each tool declares, by its name."""
    items: list[Item] = field(default_factory=list)
    attempts: list[AttemptItem] = field(default_factory=list)
    flips: dict[str, Item] = field(default_factory=dict)
    variants: dict[str, Item] = field(default_factory=dict)
    complaint: Item | None = None

    def patches(self) -> Mapping[str, Item]:
        """Return flips and variants by name."""
        return {**self.flips, **self.variants}

    def patched(self, names: Iterable[str], faults: Faults) -> Document:
        """Return a copy to which the patches *names* have been applied, one after the other.

        Raises InputError for a name that the file does not have.
        """
        document = self._copy()
        for name in names:
            if name not in self.patches():
                raise InputError(unknown("flip or variant", name, self.patches()))
            _apply(document, self.patches()[name], faults)
        return document

    def _copy(self) -> Document:
        return Document(
            self.about,
            self.family,
            list(self.layers),
            {name: item.copy() for name, item in self.tools.items()},
            [item.copy() for item in self.items],
            [
                AttemptItem(
                    attempt.item.copy(),
                    [item.copy() for item in attempt.both],
                    {k: [item.copy() for item in v] for k, v in attempt.branches.items()},
                )
                for attempt in self.attempts
            ],
            self.flips,
            self.variants,
            self.complaint,
        )


def read_document(data: Mapping[str, Any], faults: Faults) -> Document:
    """Return the tables of a parsed scenario file; what its outline gets wrong goes to *faults*."""
    sound = _outline(data, ("file", "stimuli"), (), "the file", faults)
    document = Document(sound.get("about", ""), sound.get("family"))
    document.layers.append(_flat(sound.get("settings", {}), ("settings",), faults))
    _declare(document, sound.get("tools", {}), ("tools",), faults)
    document.items.extend(_items(sound, ()))
    document.attempts.extend(_attempts(sound.get("attempt", []), ("attempt",), faults))
    if "complaint" in sound:
        document.complaint = Item("complaint", sound["complaint"], ("complaint",))
    for group, patches in (("flips", document.flips), ("variants", document.variants)):
        for name, patch in sound.get(group, {}).items():
            path: Path = (group, name)
            if not isinstance(patch, dict):
                faults.add(f"{group}.{name} must be a table", path)
            elif "/" in name or not name.strip() or name in document.flips:
                faults.add(f"{group}.{name}: the name is taken or no name", path)
            else:
                patches[name] = Item(
                    "flip", _outline(patch, ("flip",), path, f"{group}.{name}", faults), path
                )
    return document


def _outline(
    data: Mapping[str, Any], sections: Iterable[str], path: Path, title: str, faults: Faults
) -> dict[str, Any]:
    """Return the entries of *data* that the *sections* know and that are of the right sort."""
    keys = {name: key for section in sections for name, key in reference.section(section).items()}
    sound = {}
    for name, value in data.items():
        if name not in keys:
            faults.add(f"{title}: {unknown('key', name, keys)}", (*path, name))
            continue
        try:
            sound[name] = keys[name].check(value)
        except ValueError as error:
            faults.add(f"{title}: {error}", (*path, name))
    return sound


def _flat(table: Mapping[str, Any], path: Path, faults: Faults) -> Settings:
    layer = Settings()

    def walk(table: Mapping[str, Any], path: Path, prefix: str) -> None:
        for name, value in table.items():
            key, place = prefix + name, (*path, name)
            if isinstance(value, dict):
                walk(value, place, key + ".")
            elif key in layer.values:
                faults.add(f"settings: {key} is given twice", place)
            else:
                layer.values[key] = value
                layer.paths[key] = place

    walk(table, path, "")
    return layer


def _items(data: Mapping[str, Any], path: Path) -> list[Item]:
    return [
        Item(section, dict(table), (*path, section, index))
        for section in _STIMULI
        for index, table in enumerate(data.get(section, []))
    ]


def _declare(document: Document, tables: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """Lay what *tables* declare of tools over what *document* has of them."""
    for name, table in tables.items():
        place = (*path, name)
        if not isinstance(table, dict):
            faults.add(f"tools.{name} must be a table", place)
            continue
        item = document.tools.setdefault(name, Item("tool", {}, place))
        item.values.update(table)
        item.paths.update({key: (*place, key) for key in table})


def _attempts(tables: Sequence[Mapping[str, Any]], path: Path, faults: Faults) -> list[AttemptItem]:
    attempts = []
    for index, table in enumerate(tables):
        place = (*path, index)
        title = f"attempt {table.get('number', index + 1)}"
        sound = _outline(table, ("attempt", "branch"), place, title, faults)
        own = {k: v for k, v in sound.items() if k in OWN_KEYS}
        attempt = AttemptItem(Item("attempt", own, place))
        attempt.both.extend(_items(sound, place))
        for branch in _BRANCHES:
            within, name = (*place, branch), f"{title}, {branch}"
            stimuli = _outline(sound.get(branch, {}), ("branch",), within, name, faults)
            attempt.branches[branch].extend(_items(stimuli, within))
        attempts.append(attempt)
    return attempts


def _apply(document: Document, patch: Item, faults: Faults) -> None:
    values = patch.values
    document.layers.append(_flat(values.get("settings", {}), patch.at("settings"), faults))
    _declare(document, values.get("tools", {}), patch.at("tools"), faults)
    _remove(document, values.get("remove", ()), patch, faults)
    for name, changes in values.get("change", {}).items():
        path = (*patch.at("change"), name)
        if not isinstance(changes, dict):
            faults.add(f"change of {name!r} must be a table", path)
            continue
        targets = [item for item, called in _called(document) if called == name]
        if not targets:
            faults.add(_unknown_id(document, name), path)
        for item in targets:
            item.values.update(changes)
            item.paths.update({key: (*path, key) for key in changes})
    added = _outline(values.get("add", {}), ("stimuli",), patch.at("add"), "add", faults)
    document.items.extend(_items(added, patch.at("add")))
    place = (*patch.at("add"), "attempt")
    document.attempts.extend(_attempts(added.get("attempt", []), place, faults))


def _remove(document: Document, names: Iterable[str], patch: Item, faults: Faults) -> None:
    gone = set(names)
    for name in sorted(gone.difference(called for _, called in _called(document))):
        faults.add(_unknown_id(document, name), patch.at("remove"))
    document.attempts[:] = [a for a in document.attempts if a.id not in gone]
    for items in (document.items, *(x for a in document.attempts for x in a.lists())):
        items[:] = [item for item in items if str(item.values.get("id")) not in gone]


def _called(document: Document) -> list[tuple[Item, str]]:
    """Return every table with the id by which a patch calls it."""
    lists = [document.items, *(x for a in document.attempts for x in a.lists())]
    named = [(item, str(item.values["id"])) for x in lists for item in x if "id" in item.values]
    return named + [(attempt.item, attempt.id) for attempt in document.attempts]


def _unknown_id(document: Document, name: str) -> str:
    return unknown("id", name, sorted({called for _, called in _called(document)}))
