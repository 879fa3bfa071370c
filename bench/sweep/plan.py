"""The plan of a sweep: every setting with its scenario and policies, fixed before the first run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from bench.output import plain
from bench.runs import check_runs
from bench.selection import select_policies
from bench.sweep.axes import axes as read_axes
from bench.sweep.designs import points
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.sweep.axes import Axis
    from scenarios.scenario import Scenario

__all__ = ["SETTING", "Plan", "Setting", "Task", "plan"]

SETTING = "setting"
"""The column with a setting's number, from 0."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of a sweep: the *values* of the varied keys, and what is run with them.

    *policies* are specs by the label that they have in every setting.
    """

    number: int
    values: Mapping[str, Any]
    scenario: Scenario
    policies: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Task:
    """The cells of one setting and seed, which share a script, by their place in the plan."""

    number: int
    setting: Setting
    seed: int
    strict: bool
    beside: tuple[str, ...] = ()
    turns: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A sweep: *settings* × *policies* × *seeds*, a cell each, whose *turns* may be kept.

    A task's number, and so a cell's place in every output, follows from the plan alone.
    """

    scenario: str
    axes: tuple[Axis, ...]
    design: str
    settings: tuple[Setting, ...]
    policies: tuple[str, ...]
    seeds: int
    strict: bool = False
    beside: tuple[str, ...] = ()
    turns: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The varied keys, in the order they were given."""
        return tuple(axis.key for axis in self.axes)

    @property
    def cells(self) -> int:
        """Number of runs."""
        return len(self.settings) * len(self.policies) * self.seeds

    def tasks(self) -> Iterator[Task]:
        """Yield every task, in the order of the plan."""
        number = 0
        for setting in self.settings:
            for seed in range(self.seeds):
                yield Task(number, setting, seed, self.strict, self.beside, self.turns)
                number += 1


def plan(
    scenario: str,
    policies: Iterable[str] | None,
    vary: Iterable[str],
    *,
    settings: Mapping[str, object],
    seeds: int,
    design: str = "grid",
    count: int | None = None,
    strict: bool = False,
    beside: tuple[str, ...] = (),
    turns: bool = False,
) -> Plan:
    """Return the plan of a sweep of *scenario*, a name or path, over the axes *vary* describes.

    *settings* are laid over every setting, *count* is the number of points of a design that spreads
    them. Raises InputError for whatever is wrong with a key, value or policy, naming the setting.
    """
    from bench.loading import load

    chosen = select_policies(policies)
    base = load(scenario, settings)
    found = tuple(read_axes(vary, _keys(base), chosen))
    for axis in found:
        if axis.key in settings:
            raise InputError(f"{axis.key} is set and varied; leave one of them out")
    made = tuple(
        _setting(number, found, values, scenario, settings, chosen)
        for number, values in enumerate(points(found, design, count))
    )
    if any(setting.scenario.agents > 1 for setting in made):
        raise InputError("a sweep runs one agent at a time; compare takes several")
    _check_apart(made)
    number = seeds if base.seeded else 1
    whole = Plan(base.name, found, design, made, tuple(chosen), number, strict, beside, turns)
    check_runs(whole.cells)
    return whole


def _check_apart(settings: Iterable[Setting]) -> None:
    """Raise InputError if two settings would be the same in results, of nine digits."""
    seen = set()
    for setting in settings:
        values = tuple(map(plain, setting.values.values()))
        if values in seen:
            shown = ", ".join(f"{key}={value}" for key, value in setting.values.items())
            raise InputError(f"two settings are {shown}; values must differ in nine digits")
        seen.add(values)


def _keys(base: Scenario) -> Mapping[str, Any]:
    """Return the keys that can be varied: those of the settings of *base*."""
    from scenarios import reference

    every = reference.every_key()
    layer = base.name if base.name in reference.generators() else None
    known = {**every, **(reference.keys(layer) if layer else {})}
    return {
        name: key for name, key in known.items() if name in base.settings or key.default is None
    }


def _setting(
    number: int,
    axes: Sequence[Axis],
    values: Sequence[Any],
    scenario: str,
    settings: Mapping[str, object],
    policies: Mapping[str, str],
) -> Setting:
    from bench.loading import load

    mine = {a.key: value for a, value in zip(axes, values, strict=True) if a.policy is None}
    options: dict[str, dict[str, Any]] = {}
    for axis, value in zip(axes, values, strict=True):
        if axis.policy is not None:
            options.setdefault(axis.policy, {})[axis.option] = value
    shown = ", ".join(f"{axis.key}={value}" for axis, value in zip(axes, values, strict=True))
    try:
        loaded = load(scenario, {**settings, **mine})
        specs = {label: _spec(spec, options.get(label, {})) for label, spec in policies.items()}
    except InputError as error:
        raise InputError(f"setting {shown}: {error}") from None
    typed = {
        axis.key: _plain(loaded.settings.get(axis.key, value))
        if axis.policy is None
        else _option(value)
        for axis, value in zip(axes, values, strict=True)
    }
    return Setting(number, typed, loaded, specs)


def _plain(value: Any) -> Any:
    """Return *value* as a row can hold it: a list is written as on the command line."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def _option(value: Any) -> Any:
    """Return the *value* of an option; a text that is a number is one, as of a setting."""
    for kind in (int, float) if isinstance(value, str) else ():
        with suppress(ValueError, OverflowError):
            if isfinite(number := kind(value)):
                return number
    return value


def _spec(spec: str, options: Mapping[str, Any]) -> str:
    """Return *spec* with *options* over its own; raises InputError for what it does not take."""
    from policies import registry
    from policies.options import split

    if not options:
        return spec
    name = registry.head(spec)
    own = spec[len(name) + 1 :]
    given = {**(split(own, name) if own else {}), **options}
    made = f"{name}:{','.join(f'{key}={value}' for key, value in given.items())}"
    registry.make(made)
    return made
