"""The runs that are to be explained: scenarios, scripts and recorded sessions under policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cells import make_policy, not_applicable, run_one
from bench.explain.explanations import Case
from bench.explain.steps import few
from scenarios.transcripts.findings import folded
from scenarios.transcripts.loading import Reading, scenarios_of
from scenarios.transcripts.sources import find
from sim.errors import InputError, unknown

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

__all__ = ["Loaded", "Planned", "case_of", "load_all", "planned"]

Say = Callable[[str], object]

_MOST = 3
"""Recorded sessions that one question looks into unasked, as many as a replay has tables of."""

_LISTED = 12
"""Sessions that are named where none of them is meant."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A *scenario*, what names its *source* on a command line, and what that is."""

    source: str
    scenario: Scenario
    recorded: bool = False
    """Whether the source is read as a recording, which may hold several sessions."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Policies, as specs, that can run what is *loaded*."""

    loaded: Loaded
    policies: tuple[str, ...]

    def seeds(self, numbers: range) -> range:
        """Return those of *numbers* that differ: a story and a recording have one script."""
        return numbers if self.loaded.scenario.seeded else numbers[:1]


def load_all(
    names: Sequence[str],
    settings: Mapping[str, object],
    warn: Say,
    say: Say,
    *,
    budget: int | None = None,
    sessions: Sequence[str] = (),
    asked: str = "",
) -> list[Loaded]:
    """Return the scenarios in *names*, each with the name it was asked for by.

    A file that is no scenario and no script is read as a recording; it may hold several sessions,
    of which *sessions*, if there are any, are kept alone. *budget* is the token limit of all.
    *asked* is the option that looks into one session, if there is one. What could not be used goes
    to *warn*, facts that are no faults to *say*, of the sessions that are kept.
    Raises InputError for an unknown name, for what cannot be read, for several agents, and for
    more sessions than would be looked into.
    """
    from bench.fleets import one_agent
    from bench.loading import load

    if budget is not None:
        settings = _with_budget(settings, budget)
    found: list[Loaded] = []
    recordings = _Recordings(settings, sessions, warn)
    for name in dict.fromkeys(names):
        if _is_recording(name):
            found += recordings.load(name)
            continue
        scenario = load(name, settings)
        for note in scenario.notes:
            warn(note)
        if recordings.wanted(scenario.name):
            found.append(Loaded(name, scenario))
    recordings.check(asked)
    recordings.tell(say)
    one_agent((loaded.scenario for loaded in found), "explain")
    return found


class _Recordings:
    """Reads the sessions that are *wanted*, all if none is named, and what is to be said of them.

    What is found amiss in others goes to *warn* only if a wanted one is not there.
    """

    def __init__(self, settings: Mapping[str, object], sessions: Sequence[str], warn: Say) -> None:
        self._settings = settings
        self._sessions = sessions
        self._warn = warn
        self._met: dict[str, None] = {}
        self._kept: list[str] = []
        self._keeps = not sessions
        self._passed: list[str] = []
        self._notes: list[str] = []

    def wanted(self, name: str) -> bool:
        """Take in that there is a scenario called *name*; return whether it is to be kept."""
        self._met.setdefault(name)
        return not self._sessions or name in self._sessions

    def load(self, name: str) -> Iterator[Loaded]:
        """Yield the wanted sessions of the recordings in *name*."""
        from bench.selection import price_rows

        reading = Reading.of(settings=self._settings, rows=price_rows(self._settings))
        for source in find([name], False, self._heard):
            for session in scenarios_of(source, reading, self._heard, self._notes.append):
                self._keeps = self.wanted(session.name)
                if self._keeps:
                    self._kept.append(session.name)
                    yield Loaded(name, session, recorded=True)
            self._keeps = not self._sessions

    def _heard(self, warning: str) -> None:
        if self._keeps:
            self._warn(warning)
        else:
            self._passed.append(warning)

    def check(self, asked: str) -> None:
        """Raise InputError for a session that is not there, and for too many if one is *asked*."""
        for session in self._sessions:
            if session not in self._met:
                for warning in self._passed:
                    self._warn(warning)
                raise InputError(_no_session(session, list(self._met)))
        if asked and len(self._kept) > _MOST:
            raise InputError(
                f"{len(self._kept):,} sessions are recorded there and {asked} looks into one; "
                f"--session NAME chooses it: {few(self._kept)}"
            )

    def tell(self, say: Say) -> None:
        """Say the notes on the sessions that were kept."""
        kept = set(self._kept)
        for note in folded(n for n in self._notes if getattr(n, "session", None) in kept):
            say(note)


def _no_session(name: str, known: Sequence[str]) -> str:
    sentence = unknown("session", name, known)
    if "did you mean" in sentence or len(known) <= _LISTED:
        return sentence
    return f"unknown session {name!r}; there are {len(known):,}: {few(known)}"


def _with_budget(settings: Mapping[str, object], budget: int) -> dict[str, object]:
    if str(settings.get("budget", budget)) != str(budget):
        raise InputError(f"two budgets were given: {settings['budget']} and {budget}")
    return {**settings, "budget": str(budget)}


def _is_recording(name: str) -> bool:
    from scenarios.scripts import is_script

    path = Path(name)
    if not name or path.suffix == ".toml":
        return False
    if not path.exists():
        return has_magic(name)
    return path.is_dir() or not is_script(path)


def planned(found: Sequence[Loaded], wanted: Sequence[str], seed: int, warn: Say) -> list[Planned]:
    """Return the policies under which each of *found* is to be run: *wanted*, or the default ones.

    The default ones are those of `replay` for a recorded session, else those of `compare`, as far
    as they can run it. One that was wanted and cannot run a scenario is named to *warn*; raises
    InputError if no policy can run any of them.
    """
    from bench.selection import REPLAYED, select_policies

    compared = tuple(select_policies(wanted or None).values())
    replayed = compared if wanted else tuple(select_policies(REPLAYED).values())
    plan: list[Planned] = []
    cannot: dict[tuple[str, str], list[str]] = {}
    for loaded in found:
        can = []
        script = loaded.scenario.script(seed)
        for spec in replayed if "recording" in script.capabilities else compared:
            reason = not_applicable(script, make_policy(spec))
            if reason is None:
                can.append(spec)
            else:
                cannot.setdefault((spec, reason), []).append(loaded.scenario.name)
        if can:
            plan.append(Planned(loaded, tuple(can)))
    sentences = [
        f"{spec} cannot run {few([repr(name) for name in dict.fromkeys(names)])}: {reason}"
        for (spec, reason), names in cannot.items()
    ]
    if not plan and sentences:
        raise InputError(sentences[0])
    for sentence in sentences if wanted else ():
        warn(sentence)
    return plan


def case_of(scenario: Scenario, policy: str, seed: int) -> Case:
    """Return the run of *scenario* under *policy* on *seed*; raises InputError if it cannot run."""
    script = scenario.script(seed)
    metrics, records = run_one(script, policy)
    if not records:
        raise InputError(f"{policy} cannot run {scenario.name!r}: {metrics['reason']}")
    return Case(script, policy, metrics, records)
