"""The runs that are to be explained: scenarios, scripts and recorded sessions under policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cells import run_one
from bench.explain.explanations import Case
from sim.errors import InputError

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

__all__ = ["Loaded", "case_of", "load_all"]

Say = Callable[[str], object]

Loaded = tuple[str, "Scenario"]
"""What names a scenario on a command line, and the scenario."""


def load_all(
    names: Sequence[str], settings: Mapping[str, object], warn: Say, say: Say
) -> list[Loaded]:
    """Return the scenarios in *names*, each with the name it was asked for by.

    A file that is no scenario and no script is read as a recording; it may hold several sessions.
    What could not be used goes to *warn*, facts that are no faults to *say*.
    Raises InputError for an unknown name, for what cannot be read, and for several agents.
    """
    from bench.fleets import one_agent
    from bench.loading import load

    found: list[Loaded] = []
    for name in dict.fromkeys(names):
        if _is_recording(name):
            found += [(name, each) for each in _recorded(name, settings, warn, say)]
            continue
        scenario = load(name, settings)
        for note in scenario.notes:
            warn(note)
        found.append((name, scenario))
    one_agent((scenario for _, scenario in found), "explain")
    return found


def _is_recording(name: str) -> bool:
    from scenarios.scripts import is_script

    path = Path(name)
    if path.suffix == ".toml" or not path.exists():
        return False
    return path.is_dir() or not is_script(path)


def _recorded(name: str, settings: Mapping[str, object], warn: Say, say: Say) -> Iterable[Scenario]:
    from scenarios.transcripts.loading import load

    return load([name], settings=settings, on_warning=warn, on_note=say)


def case_of(scenario: Scenario, policy: str, seed: int) -> Case:
    """Return the run of *scenario* under *policy* on *seed*; raises InputError if it cannot run."""
    script = scenario.script(seed)
    metrics, records = run_one(script, policy)
    if not records:
        raise InputError(f"{policy} cannot run {scenario.name!r}: {metrics['reason']}")
    return Case(script, policy, metrics, records)
