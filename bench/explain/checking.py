"""Whether a rule would have helped: the same script under it, and what came of the question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from bench.cells import run_one
from bench.explain.causes import cause_of, growth
from bench.explain.findings import findings, is_wrong, tell
from bench.explain.rules import RULES, Remedy, remedies, rule_of

if TYPE_CHECKING:
    from bench.explain.causes import Cause
    from bench.explain.findings import Finding, Told
    from bench.explain.rules import Rule
    from sim.records import Record
    from sim.script import Script, Stimulus

__all__ = ["MOST", "Check", "Reruns", "brief", "check", "rule_for"]

_ELSE = (
    "tag",
    "copy",
    "tag and copy",
    "refresh in place",
    "page at arrival",
    "gate",
    "drop",
    "pin",
    "open door",
)
"""Rules that are tried in this order when the rule of a cause does not help."""


MOST = 3
"""Runs that are tried for the rule of a cause before other rules are."""


@dataclass(frozen=True, slots=True)
class Check:
    """What came of a question under a *remedy*.

    *outcome* is the answer's, ``kept`` for an act that could read what it requires, ``not asked``
    where the run took another branch or ended before, or ``not-applicable``; *why* is the cause of
    what is still wrong, or why nothing was asked.
    """

    remedy: Remedy
    outcome: str
    why: str = ""

    @property
    def helped(self) -> bool:
        """Whether the answer is correct, or the act in order."""
        return self.outcome in ("correct", "kept")


class Reruns:
    """Runs of one script under other rules, each made once."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._made: dict[tuple[str, str], tuple[Script, dict[str, Any], list[Record]]] = {}

    def of(self, remedy: Remedy) -> tuple[Script, dict[str, Any], list[Record]]:
        """Return the script, metrics and records under *remedy*."""
        key = remedy.policy, remedy.kind
        if key not in self._made:
            script = _copied(self._script, remedy.kind) if remedy.kind else self._script
            self._made[key] = (script, *run_one(script, remedy.policy))
        return self._made[key]

    def check(self, finding: Finding, remedy: Remedy) -> Check:
        """Return what came of the question of *finding* under *remedy*."""
        script, metrics, records = self.of(remedy)
        kind = "act" if finding.what == "act" else "answer"
        asked = next((r for r in records if r[0] == kind and r[3] == finding.id), None)
        if metrics["status"] == "not-applicable":
            return Check(remedy, "not-applicable", str(metrics["reason"]))
        if asked is None:
            return Check(remedy, "not asked", _ended(metrics))
        if not is_wrong(asked):
            return Check(remedy, "kept" if kind == "act" else asked[6], _because(asked))
        told = tell(script, records)
        found = findings(told, (finding.id,))[0]
        cause = cause_of(told, found)
        return Check(remedy, found.outcome, brief(told.records, cause))


def _because(record: Record) -> str:
    return "" if record[0] == "act" else str(record[7])


def _ended(metrics: dict[str, Any]) -> str:
    if metrics["status"] == "failed":
        return f"the run failed: {metrics['reason']}"
    return f"the run took another course and ended after turn {metrics['turns']}"


def brief(records: Any, cause: Cause) -> str:
    """Return *cause* in a few words, with its turn."""
    words = f"{cause.decision} ({cause.reason})" if cause.reason else cause.decision
    return words if cause.index is None else f"{words}, turn {records[cause.index][2]}"


def rule_for(told: Told, finding: Finding, cause: Cause) -> Rule:
    """Return the rule that answers *cause*."""
    grew = growth(told, cause.index) if cause.index is not None else None
    if grew is None:
        return rule_of(cause, finding.what == "act")
    what, segment, tokens = grew
    oversized = what == "admit" and told.stated.exceeds(segment, tokens)
    return rule_of(cause, finding.what == "act", what, oversized)


def check(reruns: Reruns, finding: Finding, cause: Cause, rule: Rule, policy: str) -> list[Check]:
    """Return what came of the question under *rule*, and under others until one helps.

    Those that have the rule are tried first, at most :data:`MOST`; then one of each other rule.
    """
    found: list[Check] = []
    for remedy in _candidates(cause, rule, policy):
        found.append(reruns.check(finding, remedy))
        if found[-1].helped:
            break
    return found


def _candidates(cause: Cause, rule: Rule, policy: str) -> Iterator[Remedy]:
    if rule.name == "none":
        return
    tried: set[tuple[str, str]] = set()
    others = ((name, 1) for name in _ELSE if name != rule.name)
    for name, most in ((rule.name, MOST), *others):
        for remedy in islice(remedies(RULES[name], cause, policy), most):
            if (remedy.policy, remedy.kind) not in tried:
                tried.add((remedy.policy, remedy.kind))
                yield remedy


def _copied(script: Script, kind: str) -> Script:
    """Return *script* with an external copy of every segment of *kind*."""
    from sim.script import Arrival

    def copied(stimuli: tuple[Stimulus, ...]) -> tuple[Stimulus, ...]:
        return tuple(
            replace(s, copy=True) if isinstance(s, Arrival) and str(s.kind) == kind else s
            for s in stimuli
        )

    attempts = tuple(replace(a, ok=copied(a.ok), failed=copied(a.failed)) for a in script.attempts)
    return replace(script, stimuli=copied(script.stimuli), attempts=attempts)
