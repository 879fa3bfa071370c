"""Judging: each complaint's scenario run under its policy and under others, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.cells import make_policy, run_one

if TYPE_CHECKING:
    from scenarios.complaint import Complaint
    from scenarios.scenario import Scenario
    from sim.script import Script

__all__ = ["Judged", "Measured", "judge"]

Report = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a complaint's measure came to under *policy*, and whether the failure is there.

    *figure* is None where there was nothing to measure, and *reason* says why.
    """

    policy: str
    figure: float | None
    there: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A complaint with the name of its scenario, under its own policy and under *others*."""

    scenario: str
    complaint: Complaint
    own: Measured
    others: Sequence[Measured]


def judge(
    chosen: Iterable[Scenario],
    others: Mapping[str, str],
    report: Report = lambda done, planned: None,
) -> list[Judged]:
    """Return each of *chosen* judged under its own policy and under *others*, label to spec.

    A scenario that is drawn is judged by its first seed. *report* is told (judged, planned).
    Raises InputError for a policy that a complaint names and that there is none of.
    """
    told = [(s, s.complaint) for s in chosen if s.complaint is not None]
    judged: list[Judged] = []
    for scenario, complaint in told:
        script = scenario.script(0)
        own = _measured(script, make_policy(complaint.policy).label, complaint.policy, complaint)
        more = [
            own if label == own.policy else _measured(script, label, spec, complaint)
            for label, spec in others.items()
        ]
        judged.append(Judged(scenario.name, complaint, own, more))
        report(len(judged), len(told))
    return judged


def _measured(script: Script, label: str, spec: str, complaint: Complaint) -> Measured:
    figure, reason = _figure(script, spec, complaint.measure)
    if figure is not None and complaint.against is not None:
        base, why = _figure(script, complaint.against, complaint.measure)
        figure, reason = (None, why) if base is None else (figure - base, reason)
    return Measured(label, figure, figure is not None and figure > complaint.above, reason)


def _figure(script: Script, spec: str, measure: str) -> tuple[float | None, str]:
    values, _ = run_one(script, spec)
    figure: float | None = values[measure]
    reason = str(values["reason"] or f"there is no {measure} in this run")
    return figure, "" if figure is not None else reason
