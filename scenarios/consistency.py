"""Whether the stimuli of a scenario go together: ids, references, turns, attempts, first pins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios.documents import Faults
from scenarios.items import Item
from scenarios.lines import Path
from scenarios.pings import too_many
from scenarios.scenario import pins_over_budget
from sim.errors import unknown
from sim.script import (
    Act,
    Arrival,
    Attempt,
    Change,
    Compaction,
    KeepAlive,
    Operator,
    Query,
    Stimulus,
    WorldRefresh,
    Write,
)

__all__ = ["Placed", "PlacedAttempt", "check_consistency"]


@dataclass(frozen=True, slots=True)
class Placed:
    """A stimulus and the table it came from."""

    stimulus: Stimulus
    item: Item


@dataclass(frozen=True, slots=True)
class PlacedAttempt:
    """An attempt, the table it came from, and those of its branches."""

    attempt: Attempt
    item: Item
    ok: tuple[Placed, ...] = ()
    failed: tuple[Placed, ...] = ()


_Scope = tuple[int, str] | None
"""Attempt number and branch of a guarded stimulus, None for the rest."""


@dataclass(slots=True)
class _Known:
    """What the stimuli of a scenario bring, so that others can refer to it."""

    arrivals: dict[str, dict[_Scope, Arrival]] = field(default_factory=dict)
    written: dict[str, set[str]] = field(default_factory=dict)
    """Path → keys of the facts that some write of it states."""
    broken: list[re.Pattern[str]] = field(default_factory=list)
    """Ids of what comes, too, but whose tables have faults of their own."""

    def is_broken(self, name: str) -> bool:
        return any(pattern.fullmatch(name) for pattern in self.broken)

    def keys(self) -> set[str]:
        arrivals = (a for scopes in self.arrivals.values() for a in scopes.values())
        stated = {fact.key for arrival in arrivals for fact in arrival.facts}
        return stated.union(*self.written.values())

    def paths(self) -> set[str]:
        arrivals = (a for scopes in self.arrivals.values() for a in scopes.values())
        return {a.path for a in arrivals if a.path is not None} | self.written.keys()


def check_consistency(
    stimuli: Sequence[Placed],
    attempts: Sequence[PlacedAttempt],
    settings: Mapping[str, Any],
    faults: Faults,
    settings_paths: Mapping[str, Path],
    broken: Iterable[Item] = (),
) -> None:
    """Note in *faults* everything in which the parts of a scenario contradict each other.

    *settings* hold at least `turns` and `budget`; *settings_paths* say where each key stands.
    *broken* are tables whose faults have been noted: what only they could bring is not missed.
    """
    everything = list(_scoped(stimuli, attempts))
    known = _Known(broken=[_ids_of(item) for item in broken])
    for placed, scope in everything:
        _register(placed, scope, known, faults)
    for placed, scope in everything:
        _check_turn(placed, settings["turns"], faults)
        _check_references(placed, scope, known, faults)
    _check_repeats(everything, faults)
    _check_pings(stimuli, faults)
    _check_attempts(attempts, settings["turns"], known, faults)
    for name in settings.get("cache.breakpoints", ()):
        if name not in known.arrivals and not known.is_broken(name):
            message = _unknown("segment", name, known.arrivals)
            faults.add(f"cache.breakpoints: {message}", settings_paths.get("cache.breakpoints"))
    over = pins_over_budget((placed.stimulus for placed in stimuli), settings["budget"])
    if over is not None:
        faults.add(over, settings_paths.get("budget"))


def _check_pings(stimuli: Sequence[Placed], faults: Faults) -> None:
    """Note each ping that a wait would send so often that the run has no end in sight."""
    pings = {p.stimulus: p.item for p in stimuli if isinstance(p.stimulus, KeepAlive)}
    said: set[Path] = set()
    for ping, message in too_many(pings, (placed.stimulus for placed in stimuli)):
        item = pings[ping]
        if item.path not in said:
            faults.add(f"{item.title}: {message}", item.at("seconds"))
        said.add(item.path)


def _ids_of(item: Item) -> re.Pattern[str]:
    """Return what matches every id that a table with faults may have been meant to bring."""
    name = item.values.get("id")
    if not isinstance(name, str):
        return re.compile(r"[\s\S]*")
    return re.compile(re.escape(name).replace(re.escape("{turn}"), r"\d+"))


def _unknown(what: str, name: str, valid: Iterable[str]) -> str:
    names = list(valid)
    return unknown(what, name, names) if names else f"unknown {what} {name!r}; there is none"


def _scoped(
    stimuli: Iterable[Placed], attempts: Iterable[PlacedAttempt]
) -> Iterator[tuple[Placed, _Scope]]:
    for placed in stimuli:
        yield placed, None
    for attempt in attempts:
        for placed in attempt.ok:
            yield placed, (attempt.attempt.number, "ok")
        for placed in attempt.failed:
            yield placed, (attempt.attempt.number, "failed")


def _register(placed: Placed, scope: _Scope, known: _Known, faults: Faults) -> None:
    stimulus = placed.stimulus
    if isinstance(stimulus, Write):
        stated = known.written.setdefault(stimulus.path, set())
        stated.update(fact.key for fact in stimulus.facts or ())
    if not isinstance(stimulus, Arrival):
        return
    scopes = known.arrivals.setdefault(stimulus.id, {})
    if any(_clash(scope, other) for other in scopes):
        hint = ""
        if "turns" in placed.item.values:
            hint = "; what comes every turn needs {turn} in its id"
        faults.add(f"segment {stimulus.id!r} arrives twice{hint}", placed.item.at("id"))
    else:
        scopes[scope] = stimulus


def _clash(one: _Scope, other: _Scope) -> bool:
    """Return whether both could happen in one run; the two branches of one attempt cannot."""
    return one is None or other is None or one[0] != other[0] or one[1] == other[1]


def _check_repeats(everything: Iterable[tuple[Placed, _Scope]], faults: Faults) -> None:
    seen: dict[tuple[type[Stimulus], str], list[_Scope]] = {}
    for placed, scope in everything:
        stimulus, item = placed.stimulus, placed.item
        turn = "turns" if "turns" in item.values else "turn"
        match stimulus:
            case Query() | Act() | Operator():
                name, key, message = stimulus.id, "id", "the id is used twice"
            case KeepAlive():
                name, key = str(stimulus.turn), turn
                message = f"turn {stimulus.turn} has one already"
            case Compaction():
                name, key = str(stimulus.turn), turn
                message = f"turn {stimulus.turn} has one already"
            case Change():
                name, key = f"{stimulus.turn} {stimulus.what}", turn
                message = f"{stimulus.what} changes in turn {stimulus.turn} already"
            case _:
                continue
        scopes = seen.setdefault((type(stimulus), name), [])
        if any(_clash(scope, other) for other in scopes):
            faults.add(f"{item.title}: {message}", item.at(key))
        scopes.append(scope)


def _check_turn(placed: Placed, turns: int, faults: Faults) -> None:
    key = "turns" if "turns" in placed.item.values else "turn"
    if placed.stimulus.turn > turns and key in placed.item.values:
        faults.add(
            f"{placed.item.title} comes in turn {placed.stimulus.turn}, "
            f"after the last of {turns} turns",
            placed.item.at(key),
        )


def _check_references(placed: Placed, scope: _Scope, known: _Known, faults: Faults) -> None:
    stimulus, item = placed.stimulus, placed.item
    match stimulus:
        case Query():
            key, ids = "touches", stimulus.touches
        case Act():
            key, ids = "requires", stimulus.requires
        case Operator() | WorldRefresh():
            key, ids = "segment", (stimulus.segment,)
        case Compaction():
            key, ids = "kept", stimulus.kept
        case _:
            return
    sound = True
    for name in ids:
        fault = _reference_fault(name, stimulus.turn, scope, known)
        sound = sound and fault is None and name in known.arrivals
        if fault is not None:
            faults.add(f"{item.title}: {fault}", item.at(key))
    if not ids and not isinstance(stimulus, Compaction):
        faults.add(f"{item.title}: {key} names no segment", item.at(key))
    elif isinstance(stimulus, Query) and sound and not known.broken:
        _check_asked(stimulus, item, known, faults)


def _reference_fault(name: str, turn: int, scope: _Scope, known: _Known) -> str | None:
    if known.is_broken(name):
        return None
    scopes = known.arrivals.get(name)
    if scopes is None:
        return _unknown("segment", name, known.arrivals)
    for where, arrival in scopes.items():
        # A run goes on after an attempt only if that failed.
        passed = where is None or (where[1] == "failed" and arrival.turn < turn)
        if (where == scope or passed) and arrival.turn <= turn:
            return None
    first = min(arrival.turn for arrival in scopes.values())
    if first > turn:
        return f"segment {name!r} only comes in turn {first}, after turn {turn}"
    return f"segment {name!r} comes in a branch that need not have been taken"


def _check_asked(query: Query, item: Item, known: _Known, faults: Faults) -> None:
    sources = known.arrivals[query.touches[0]].values()
    stated = {fact.key for source in sources for fact in source.facts}
    for source in sources:
        if source.path is not None:
            stated |= known.written.get(source.path, set())
    if query.key not in stated:
        message = f"segment {query.touches[0]!r} does not state {query.key!r}"
        hint = f"; it states {', '.join(sorted(stated))}" if stated else ""
        faults.add(f"{item.title}: {message}{hint}", item.at("key"))


def _check_attempts(
    attempts: Sequence[PlacedAttempt], turns: int, known: _Known, faults: Faults
) -> None:
    before: Attempt | None = None
    keys, paths = known.keys(), known.paths()
    for expected, placed in enumerate(attempts, 1):
        attempt, item = placed.attempt, placed.item
        title = f"attempt {attempt.number}"
        if attempt.number != expected and not known.broken:
            faults.add(f"{title} should be number {expected}", item.at("number"))
        if before is not None and attempt.turn <= before.turn:
            faults.add(
                f"{title} must come after attempt {before.number}, which is in turn {before.turn}",
                item.at("turn"),
            )
        if attempt.turn > turns:
            faults.add(
                f"{title} comes in turn {attempt.turn}, after the last of {turns} turns",
                item.at("turn"),
            )
        for needed, what, valid in ((attempt.facts, "fact", keys), (attempt.paths, "path", paths)):
            for name in needed:
                if name not in valid and not known.broken:
                    faults.add(f"{title} needs {_unknown(what, name, valid)}", item.at("needs"))
        for branch in (*placed.ok, *placed.failed):
            if branch.stimulus.turn != attempt.turn:
                faults.add(
                    f"{branch.item.title} comes in turn {branch.stimulus.turn}, "
                    f"but its attempt is in turn {attempt.turn}",
                    branch.item.at("turn"),
                )
        before = attempt
