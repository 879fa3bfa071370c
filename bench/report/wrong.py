"""What went wrong: runs that failed, wrong answers by their cause, and one of each explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.tables.parts import Column, Line, Table, tokens
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.api import Comparison
    from bench.explain.grouping import Task
    from scenarios.scenario import Scenario

__all__ = ["Explained", "Wrong", "failed_table", "wrong_answers"]

_MOST = 24
"""Causes of which one answer is explained in full, the most frequent first."""

_SEED = 0


@dataclass(frozen=True, slots=True)
class Explained:
    """One wrong answer, explained: what it is, and its tables."""

    title: str
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """The wrong answers of some runs: their *tables*, examples, and what was left out and why."""

    tables: tuple[Table, ...]
    explained: tuple[Explained, ...]
    left_out: tuple[str, ...]


def failed_table(found: Comparison) -> Table | None:
    """Return who failed how often and first why, None if no run failed."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in found.rows:
        groups.setdefault((row["scenario"], row["policy"]), []).append(row)
    lines = []
    for (scenario, policy), rows in groups.items():
        failed = [row for row in rows if row["status"] == "failed"]
        if failed:
            share = f"{tokens(len(failed))} of {tokens(len(rows))}"
            lines.append(Line((scenario, policy, share, str(failed[0]["reason"]))))
    if not lines:
        return None
    columns = (
        Column("scenario"),
        Column("policy"),
        Column("runs that failed", True),
        Column("why, the first of them"),
    )
    return Table("Runs that failed", columns, tuple(lines))


def wrong_answers(
    found: Comparison,
    price: str | None,
    jobs: int = 1,
    report: Callable[[int, int], object] = lambda done, planned: None,
) -> Wrong:
    """Return the wrong answers of every scenario of *found* on its first seed, under each policy.

    Runs that had none are not made again. Of those of each cause the first is explained in full.
    *price* is the one of several that is looked at.
    """
    from bench.explain.grouping import grouped
    from bench.tables.explain import group_tables

    tasks, left_out = _tasks(found, price)
    if not tasks:
        return Wrong((), (), tuple(left_out))
    document = grouped(tasks, jobs, report)
    scenarios = {task.scenario.name: task.scenario for task in tasks}
    for group in document["groups"]:
        group["command"] = ""
    causes, *_ = group_tables(document)
    explained = tuple(_explained(scenarios, document["groups"]))
    more = len(document["groups"]) - _MOST
    if more > 0:
        left_out.append(f"{more} more causes have no example here")
    return Wrong((causes,), explained, tuple(left_out))


_WRONG = ("confabulated", "stale", "abstained", "violations")


def _tasks(found: Comparison, price: str | None) -> tuple[list[Task], list[str]]:
    """Return what is to be run again, a task a scenario, and what is not and why."""
    from bench.explain.grouping import Task

    repeats = found.repeats
    specs = found.manifest.get("specs", {})
    wanted: dict[tuple[str, str], dict[str, None]] = {}
    for row in found.rows:
        if row["seed"] == _SEED and _meant(found, row, price) and any(row[n] for n in _WRONG):
            label = row["policy"]
            mine = wanted.setdefault((row["scenario"], row["price"]), {})
            mine[specs.get(label, label)] = None
    tasks: list[Task] = []
    left_out: list[str] = []
    for (name, at), policies in wanted.items():
        try:
            scenario = repeats.at(name, at)
        except InputError as error:
            left_out.append(f"{name} is not explained: {error.message}")
            continue
        if scenario.agents > 1:
            left_out.append(f"{name} is not explained: it has {scenario.agents:,} agents")
            continue
        tasks.append(Task(len(tasks), name, scenario, _SEED, tuple(policies)))
    return tasks, left_out


def _meant(found: Comparison, row: Mapping[str, Any], price: str | None) -> bool:
    """Whether *row* is of the one price of its scenario that is looked at."""
    prices = dict.fromkeys(r["price"] for r in found.rows if r["scenario"] == row["scenario"])
    return bool(row["price"] == (price if price in prices else next(iter(prices))))


def _explained(
    scenarios: Mapping[str, Scenario], groups: Sequence[Mapping[str, Any]]
) -> Iterator[Explained]:
    """Yield the first wrong answer of each of *groups*, explained."""
    from bench.explain.cases import case_of
    from bench.explain.checking import Reruns
    from bench.explain.explanations import Case, of_answer
    from bench.tables.explain import answer_tables

    cases: dict[tuple[str, str], Case] = {}
    reruns: dict[str, Reruns] = {}
    for group in groups[:_MOST]:
        example = group["example"]
        name, policy = example["scenario"], example["policy"]
        if (name, policy) not in cases:
            cases[name, policy] = case_of(scenarios[name], policy, _SEED)
        case = cases[name, policy]
        same = reruns.setdefault(name, Reruns(case.script))
        told = of_answer(case, example["id"], same)
        reason = f" ({group['reason']})" if group["reason"] else ""
        title = (
            f"{group['outcome']}, {group['decision']}{reason}: {policy} on {name}, "
            f"turn {told['turn']}"
        )
        yield Explained(title, tuple(answer_tables(told)))
