"""Wrong answers of many runs by their cause: one task a script, in as many processes as wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from bench.cells import run_one
from bench.executors import local, scatter
from bench.explain.causes import cause_of
from bench.explain.checking import Reruns, rule_for
from bench.explain.findings import WRONG, findings, tell
from bench.explain.rules import remedies

if TYPE_CHECKING:
    from scenarios.scenario import Scenario

__all__ = ["Task", "grouped", "wrong_of"]


@dataclass(frozen=True, slots=True)
class Task:
    """The runs of one script: *scenario* on *seed*, under each of *policies*; *place* orders it."""

    place: int
    source: str
    """What names the scenario on a command line."""
    scenario: Scenario
    seed: int
    policies: tuple[str, ...]


Found = dict[str, Any]


def wrong_of(task: Task) -> tuple[int, list[Found], int]:
    """Return the place of *task*, its wrong answers with what the rule makes of each, its asks."""
    script = task.scenario.script(task.seed)
    reruns = Reruns(script)
    rows: list[Found] = []
    asked = 0
    for policy in task.policies:
        _, records = run_one(script, policy)
        told = tell(script, records)
        asked += sum(record[0] in ("answer", "act") for record in records)
        for finding in findings(told):
            cause = cause_of(told, finding)
            rule = rule_for(told, finding, cause)
            remedy = next(remedies(rule, cause, policy), None)
            checked = None if remedy is None else reruns.check(finding, remedy)
            rows.append(
                {
                    "scenario": script.scenario,
                    "source": task.source,
                    "policy": policy,
                    "seed": script.seed,
                    "id": finding.id,
                    "turn": finding.turn,
                    "outcome": finding.outcome,
                    "decision": cause.decision,
                    "reason": cause.reason,
                    "rule": rule.name,
                    "remedy": None if remedy is None else [remedy.policy, remedy.change],
                    "checked": None if checked is None else checked.outcome,
                    "helped": checked is not None and checked.helped,
                }
            )
    return task.place, rows, asked


def grouped(
    tasks: Sequence[Task],
    jobs: int = 1,
    report: Callable[[int, int], object] = lambda done, planned: None,
) -> dict[str, Any]:
    """Return every wrong answer of *tasks* by cause, most frequent first.

    *report* is told of runs done and planned. The result is the same for any number of *jobs*.
    """
    planned = sum(len(task.policies) for task in tasks)
    found: dict[int, tuple[list[Found], int]] = {}
    done = 0
    report(0, planned)
    with local(jobs) as workers:
        for place, rows, asked in scatter(workers, wrong_of, tasks):
            found[place] = rows, asked
            done += len(tasks[place].policies)
            report(done, planned)
    ordered = [found[place] for place in sorted(found)]
    rows = list(chain.from_iterable(rows for rows, _ in ordered))
    return {
        "runs": planned,
        "asked": sum(asked for _, asked in ordered),
        "wrong": len(rows),
        "outcomes": {o: sum(row["outcome"] == o for row in rows) for o in WRONG},
        "groups": list(_groups(rows)),
    }


_KEY = ("outcome", "decision", "reason", "rule")


def _groups(rows: Sequence[Found]) -> Iterator[dict[str, Any]]:
    groups: dict[tuple[str, ...], list[Found]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in _KEY), []).append(row)
    order = sorted(groups, key=lambda key: (-len(groups[key]), WRONG.index(key[0]), key))
    for key in order:
        members = groups[key]
        yield {
            **dict(zip(_KEY, key, strict=True)),
            "count": len(members),
            "share": len(members) / len(rows),
            "runs": len({(m["scenario"], m["policy"], m["seed"]) for m in members}),
            "seeds": len({(m["scenario"], m["seed"]) for m in members}),
            "scenarios": _names(m["scenario"] for m in members),
            "policies": _names(m["policy"] for m in members),
            "checked": sum(m["checked"] is not None for m in members),
            "helped": sum(m["helped"] for m in members),
            "under": _names(_remedy(m) for m in members if m["remedy"]),
            "became": dict(sorted(Counter(m["checked"] for m in members if m["checked"]).items())),
            "example": _example(members[0]),
        }


def _names(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _remedy(row: Mapping[str, Any]) -> str:
    policy, change = row["remedy"]
    return f"{policy} with {change}" if change else str(policy)


def _example(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("source", "scenario", "policy", "seed", "id", "turn")}
