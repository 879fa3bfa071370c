"""What tools declare beside their parameters, in a scenario or in a tools file of its own.

A tools file is TOML with tables ``[tools.NAME]``, or JSON with tool definitions in the shapes that
providers take: a list, or a list under ``tools``, as an MCP server answers ``tools/list`` too.
Either may have the numbers of a ``loop``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from scenarios import reference
from scenarios.documents import Faults, read_json, read_toml
from scenarios.items import Item, read_item, read_table
from scenarios.keys import Key
from scenarios.lines import Path as Place
from sim.errors import unknown

__all__ = ["Tool", "ToolsFile", "blame", "declared", "is_tools_file", "read_tools_file"]

_OF_SCENARIOS_ALONE = frozenset({"family", "flips", "settings", "variants"})
_WRAPPERS = ("function", "custom", "toolSpec")
"""Keys under which some providers hold the definition itself."""
_GROUPS = ("function_declarations", "functionDeclarations")
"""Keys under which one holds several definitions."""
_WITH_NAMES = frozenset({"function", "custom"})
"""Types of tool that are nothing without a name; the others are a provider's own."""
_OF_ANSWERS = frozenset({"nextCursor", "_meta"})
"""Keys that an MCP server's answer may have beside ``tools``; they say nothing about a tool."""
_NEAR = 0.8
"""How alike a key must be to one of ours to be taken for a misspelling, not for a provider's."""
_DOCUMENT = {
    "tools": Key("tools", "tables", required=True),
    "loop": Key("loop", "table"),
}


@dataclass(frozen=True, slots=True)
class Tool:
    """What one tool declares: the most tokens of a result, its reducer, whether it pages.

    *calls* is how often a loop calls it in one attempt; a scenario has the calls themselves.
    """

    name: str
    max_result_tokens: int | None = None
    reducer: str | None = None
    pages: bool = False
    calls: int = 1
    at: Place = field(default=(), compare=False)
    """Where its table stands in the file."""
    reducer_at: Place = field(default=(), compare=False)
    """Where the file names the reducer, for whoever knows the reducers."""


@dataclass(frozen=True, slots=True)
class ToolsFile:
    """The tools of a file by name, in its order, and the numbers of its loop, as far as given."""

    about: str
    tools: Mapping[str, Tool]
    loop: Mapping[str, int]


def declared(
    tables: Mapping[str, Item], faults: Faults, sections: tuple[str, ...] = ("tool",)
) -> dict[str, Tool]:
    """Return what the *tables*, by the name of the tool, declare; faults are noted.

    A tool whose table has one is left out. *sections* of the reference file say what it may hold.
    """
    keys = {name: key for section in sections for name, key in reference.section(section).items()}
    tools = {}
    for name, item in tables.items():
        if not name.strip():
            faults.add("a tool needs a name", item.at())
            continue
        values = read_table(item.values, keys, f"tool {name!r}", item.at, faults)
        if values is not None:
            tools[name] = Tool(name, **values, at=item.at(), reducer_at=item.at("reducer"))
    return tools


def blame(file: Path, wrong: Iterable[tuple[str, Place]]) -> None:
    """Raise one InputError with each sentence of *wrong* at the line of its place in *file*."""
    _, faults = read_json(file) if file.suffix == ".json" else read_toml(file)
    for sentence, place in wrong:
        faults.add(sentence, place)
    faults.raise_all()


def is_tools_file(file: Path) -> bool:
    """Return whether *file* is a tools file rather than a scenario or a script.

    Raises InputError if it cannot be read.
    """
    if file.suffix == ".json":
        data, _ = read_json(file)
        return not (isinstance(data, dict) and "evictbench_script" in data)
    data, _ = read_toml(file)
    return not (_OF_SCENARIOS_ALONE | reference.section("stimuli").keys()) & data.keys()


def read_tools_file(file: Path) -> ToolsFile:
    """Return what a tools file says; raises one InputError with everything that is wrong with it.

    Of a provider's tool definition, what is not ours is let pass.
    """
    data, faults = read_json(file) if file.suffix == ".json" else read_toml(file)
    read = _from_json if file.suffix == ".json" else _from_toml
    about, tables, loop = read(data, faults)
    tools = declared(tables, faults, ("tool", "called"))
    numbers = read_item(loop, reference.section("loop"), faults)
    if not tables and not faults:
        faults.add("it declares no tool")
    faults.raise_all()
    return ToolsFile(about, tools, numbers or {})


def _from_toml(data: Mapping[str, Any], faults: Faults) -> tuple[str, dict[str, Item], Item]:
    read_item(Item("the file", dict(data), ()), reference.section("tools-file"), faults)
    tools, loop = data.get("tools"), data.get("loop")
    tables = {}
    for name, table in tools.items() if isinstance(tools, dict) else ():
        if isinstance(table, dict):
            tables[name] = Item("tool", table, ("tools", name))
        else:
            faults.add(f"tools.{name} must be a table", ("tools", name))
    about = " ".join(str(data.get("about", "")).split())
    return about, tables, Item("loop", loop if isinstance(loop, dict) else {}, ("loop",))


def _from_json(data: Any, faults: Faults) -> tuple[str, dict[str, Item], Item]:
    root: Place = ()
    if isinstance(data, dict) and "jsonrpc" in data and isinstance(data.get("result"), dict):
        data, root = data["result"], ("result",)
    listed = isinstance(data, list)
    if isinstance(data, dict) and "tools" in data:
        data = {key: value for key, value in data.items() if key not in _OF_ANSWERS}
    if not listed and not isinstance(data, dict):
        faults.add("it must hold a list of tools, or one under the key tools")
        faults.raise_all()
    sound = (
        {"tools": data} if listed else read_item(Item("the file", data, root), _DOCUMENT, faults)
    )
    if sound is None:
        faults.raise_all()
    assert sound is not None
    tables: dict[str, Item] = {}
    for given, place in _definitions(sound["tools"], root if listed else (*root, "tools"), faults):
        item = _definition(given, place, faults)
        name = _named(given)
        if not isinstance(name, str) or not name.strip():
            faults.add("a tool lacks its name", place)
        elif name in tables:
            faults.add(f"tool {name!r} is declared twice", place)
        else:
            tables[name] = item
    return "", tables, Item("loop", sound.get("loop", {}), (*root, "loop"))


def _definitions(
    tables: list[Any], path: Place, faults: Faults, grouped: bool = True
) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yield each tool definition with its place; where *grouped*, some stand several in one."""
    for index, table in enumerate(tables):
        place = (*path, index)
        if not isinstance(table, dict):
            faults.add("a tool must be a table", place)
            continue
        groups = [key for key in _GROUPS if grouped and isinstance(table.get(key), list)]
        if not groups:
            yield table, place
        for key in groups:
            yield from _definitions(table[key], (*place, key), faults, grouped=False)


def _layers(table: Mapping[str, Any], place: Place) -> Iterator[tuple[Mapping[str, Any], Place]]:
    """Yield the tables in which a definition says something, the outer one first."""
    yield table, place
    for key in _WRAPPERS:
        if isinstance(table.get(key), dict):
            yield table[key], (*place, key)


def _named(table: Mapping[str, Any]) -> Any:
    for layer, _ in _layers(table, ()):
        if "name" in layer:
            return layer["name"]
    kind = table.get("type")
    return None if not isinstance(kind, str) or kind in _WITH_NAMES else kind


def _definition(table: Mapping[str, Any], place: Place, faults: Faults) -> Item:
    """Return what of a provider's tool definition is ours."""
    ours = (*reference.section("tool"), *reference.section("called"))
    item = Item("tool", {}, place)
    for layer, where in _layers(table, place):
        for key, value in layer.items():
            if key in ours and key in item.values:
                faults.add(f"tool {_named(table)!r}: {key} is given twice", (*where, key))
            elif key in ours and value is not None:
                item.values[key] = value
                item.paths[key] = (*where, key)
            elif key not in ours and get_close_matches(key, ours, n=1, cutoff=_NEAR):
                faults.add(f"tool {_named(table)!r}: {unknown('key', key, ours)}", (*where, key))
    return item
