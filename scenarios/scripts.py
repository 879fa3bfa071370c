"""A script file: the JSON document that ``--write-script`` writes, read back with care."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from scenarios import reference
from scenarios.consistency import Placed, PlacedAttempt, check_consistency
from scenarios.documents import Faults, read_json
from scenarios.items import CLASSES, Item, read_item, to_stimulus
from scenarios.keys import Key, shown
from scenarios.lines import Path as Place
from scenarios.scenario import Scenario
from sim.errors import InputError, unknown
from sim.script import STIMULI, Attempt, Script, script_from_json
from sim.segments import Kind
from sim.settings import KEYS

__all__ = ["is_script", "load_script"]

_VERSION = 1
_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"evictbench_script"\s*:')
_HEAD = 4096
_DRAWN_FROM = (
    "copies.",
    "relevance.",
    "image_tokens",
    "keep_alive.",
    "surrogate.taggable",
    "turns",
)
"""Settings that have gone into the stimuli already."""
_LATER: Mapping[str, Any] = {
    "cache.long": 0,
    "history": "editable",
    "overflow": "truncate",
    "output.reserve": 0,
    "count.by": "exact",
    "line.characters": 40.0,
    "summariser.retention": "keep",
    "summariser.fabricate": 0.0,
    "summariser.fail": 0.0,
    **{f"estimate.{kind}": 1.0 for kind in Kind},
    **{f"characters.{kind}": 4.0 for kind in Kind},
}
"""Settings that came to the form after it was first written, and what it meant without them."""

_DOCUMENT = {
    "evictbench_script": Key("evictbench_script", "whole", low=1, required=True),
    "scenario": Key("scenario", "text", required=True),
    "seed": Key("seed", "whole", low=0, required=True),
    "replicate": Key("replicate", "whole", low=0),
    "settings": Key("settings", "table", required=True),
    "capabilities": Key("capabilities", "list"),
    "tokens_from": Key("tokens_from", "text"),
    "output_tokens": Key("output_tokens", "table"),
    "recorded": Key("recorded", "table"),
    "stimuli": Key("stimuli", "tables", required=True),
    "attempts": Key("attempts", "tables"),
    "attempts_cut": Key("attempts_cut", "flag"),
}
_ATTEMPT = {
    "number": Key("number", "whole", low=1, required=True),
    "turn": Key("turn", "whole", low=1, required=True),
    "needs": Key("needs", "table", of="needs"),
    "ok": Key("ok", "tables"),
    "failed": Key("failed", "tables"),
}
_SIZE = Key("tokens", "whole", low=0)


def is_script(file: Path) -> bool:
    """Whether *file* looks like a script, by its first key, rather than like a recording."""
    try:
        with open(file, "rb") as opened:
            return _FIRST.match(opened.read(_HEAD)) is not None
    except OSError:
        return False


def load_script(file: Path, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Return the scenario that a script file holds: one script, whatever the seed.

    *overrides* may be any common setting that does not change the stimuli. Raises one InputError
    with everything that is wrong with the file, or with the overrides.
    """
    given = _overrides(overrides or {})
    data, faults = read_json(file)
    if not isinstance(data, dict) or "evictbench_script" not in data:
        raise InputError(
            "not an evictbench script; to replay a recorded session use `evictbench replay`",
            file=file,
        )
    if data["evictbench_script"] != _VERSION:
        version = shown(data["evictbench_script"])
        faults.add(f"evictbench_script must be {_VERSION}, not {version}", ("evictbench_script",))
    top = read_item(Item("script", data, ()), _DOCUMENT, faults)
    faults.raise_all()
    assert top is not None
    _check_script(top, given, faults)
    faults.raise_all()
    script = _script(data, file)
    settings = reference.settle(_LATER, reference.check(script.settings), given)
    script = replace(script, settings=settings)
    return Scenario(
        name=script.scenario,
        kind="script",
        settings=settings,
        make=_Same(script),
        about=f"the script in {file.name}",
    )


class _Same:
    """Gives one script for every seed; a class, so that it can be pickled."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def __call__(self, seed: int) -> Script:
        return self._script


def _overrides(overrides: Mapping[str, Any]) -> dict[str, Any]:
    given = reference.read_overrides(overrides)
    common = reference.keys()
    for name in given:
        if name.startswith(_DRAWN_FROM) or name not in common:
            raise InputError(f"{name} of a script cannot be set: its stimuli are made already")
    return given


def _check_script(top: Mapping[str, Any], given: Mapping[str, Any], faults: Faults) -> None:
    settings = _settings(top["settings"], given, faults)
    broken: list[Item] = []
    stimuli = _placed(top["stimuli"], ("stimuli",), faults, broken)
    attempts = []
    for index, table in enumerate(top.get("attempts", [])):
        attempt = _attempt(Item("attempt", table, ("attempts", index)), faults, broken)
        if attempt is not None:
            attempts.append(attempt)
    paths = {name: ("settings", name) for name in top["settings"] if name not in given}
    check_consistency(stimuli, attempts, settings, faults, paths, broken)
    _check_sizes(top.get("output_tokens", {}), ("output_tokens",), faults)
    for turn, sizes in top.get("recorded", {}).items():
        place: Place = ("recorded", turn)
        _check_turn_key(turn, place, faults)
        if isinstance(sizes, dict):
            for name, size in sizes.items():
                _check_size(name, size, (*place, name), faults)
        else:
            faults.add(f"recorded {turn!r} must be a table, not {shown(sizes)}", place)


def _settings(table: Mapping[str, Any], given: Mapping[str, Any], faults: Faults) -> dict[str, Any]:
    good, wrong = reference.sift(table, reference.every_key())
    for name, message in wrong.items():
        faults.add(f"settings: {message}", ("settings", name))
    missing = [name for name in KEYS.values() if name not in table and name not in _LATER]
    if missing:
        faults.add(f"settings lack {', '.join(missing)}", ("settings",))
    settled = reference.settle(reference.defaults(), good, given)
    for conflict in reference.conflicts(settled):
        faults.add(f"settings: {conflict}", ("settings",))
    return {"turns": 10**18, "budget": 10**18, **settled}


def _placed(tables: Iterable[Any], path: Place, faults: Faults, broken: list[Item]) -> list[Placed]:
    found = []
    for index, table in enumerate(tables):
        place = (*path, index)
        kind = table.get("type")
        if not isinstance(kind, str) or kind not in STIMULI:
            message = unknown("type of stimulus", str(kind), STIMULI)
            faults.add(message, (*place, "type"))
            broken.append(Item("stimulus", table, place))
            continue
        section = _sections()[kind]
        values = {k: v for k, v in table.items() if k != "type" and v is not None}
        item = Item(section, values, place)
        typed = read_item(item, _script_keys(section), faults)
        if typed is None:
            broken.append(item)
        else:
            found.append(Placed(to_stimulus(section, typed), item))
    return found


def _attempt(item: Item, faults: Faults, broken: list[Item]) -> PlacedAttempt | None:
    values = read_item(item, _ATTEMPT, faults)
    if values is None:
        broken.append(item)
        return None
    needs = values.get("needs", {})
    attempt = Attempt(
        values["number"], values["turn"], needs.get("facts", ()), needs.get("paths", ())
    )
    branches = {
        name: tuple(_placed(values.get(name, []), item.at(name), faults, broken))
        for name in ("ok", "failed")
    }
    if not attempt.guarded and any(branches.values()):
        faults.add(f"attempt {attempt.number} needs nothing, so it has no branches", item.at())
    return PlacedAttempt(attempt, item, **branches)


@cache
def _sections() -> Mapping[str, str]:
    """Type of a stimulus → section of the reference file."""
    return {cls.type: section for section, cls in CLASSES.items()}


@cache
def _script_keys(section: str) -> Mapping[str, Key]:
    """Return the keys of a stimulus in a script: the fields it has, required without a default."""
    documented = reference.section(section)
    keys = {}
    for field in fields(CLASSES[section]):
        required = field.default is MISSING and field.default_factory is MISSING
        keys[field.name] = replace(documented[field.name], required=required)
    return keys


def _check_sizes(table: Mapping[str, Any], path: Place, faults: Faults) -> None:
    for turn, size in table.items():
        _check_turn_key(turn, (*path, turn), faults)
        _check_size("tokens", size, (*path, turn), faults)


def _check_turn_key(turn: str, path: Place, faults: Faults) -> None:
    if not (turn.isascii() and turn.isdigit() and 0 < len(turn) < 10 and int(turn) > 0):
        faults.add(f"{path[0]}: {turn!r} is no turn", path)


def _check_size(name: str, size: Any, path: Place, faults: Faults) -> None:
    try:
        replace(_SIZE, name=f"{path[0]}: {name}").check(size)
    except ValueError as error:
        faults.add(str(error), path)


def _script(data: Mapping[str, Any], file: Path) -> Script:
    try:
        return script_from_json(data)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"not a script that can be read back: {error}", file=file) from None
