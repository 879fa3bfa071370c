"""Scenarios that a family's generator makes, for any number of turns and any seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from scenarios import reference, tool_logs
from scenarios.scenario import Scenario
from scenarios.tool_logs import ToolLogs
from sim.errors import InputError
from sim.measured import Measure
from sim.script import Script

if TYPE_CHECKING:
    from scenarios.families import Family

__all__ = ["family", "family_script", "load_family"]


def family(name: str) -> Family:
    """Return the family of that name; raises KeyError for one that there is not."""
    from scenarios.families import GENERATORS

    return GENERATORS[name]


def family_script(
    name: str,
    label: str,
    settings: Mapping[str, Any],
    seed: int,
    replicate: int = 0,
    logs: ToolLogs | None = None,
) -> Script:
    """Return the script that family *name* makes of *seed*, for a scenario called *label*.

    Each *replicate* of a seed, from 0, is the script of another agent.
    """
    return replace(family(name).script(settings, seed, logs, replicate), scenario=label)


def load_family(
    name: str, overrides: Mapping[str, Any] | None = None, measure: Measure | None = None
) -> Scenario:
    """Return family *name* as a scenario, with *overrides* (text or typed) over its defaults.

    *measure* is what measures the logs of a folder that they name. Raises InputError with
    everything that is wrong with them.
    """
    given = reference.read_overrides(overrides or {}, name)
    settings = reference.settle(reference.defaults(name), given)
    conflicts = list(reference.conflicts(settings))
    if conflicts:
        raise InputError("\n".join(conflicts))
    logs = tool_logs.of_settings(settings, measure)
    return Scenario(
        name=name,
        kind="family",
        settings=settings,
        make=partial(family_script, name, name, settings, logs=logs),
        seeded=True,
        about=family(name).summary,
        notes=() if logs is None else logs.notes,
    )
