"""The wrong answers of many runs, run by run: one task a script, in as many processes as wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from bench.executors import local, scatter
from bench.explain.cases import case_of
from bench.explain.explanations import wrong_answers
from bench.explain.grouping import Task

__all__ = ["listed", "wrong_in"]

_WORTH = 8
"""Tasks from which worker processes are worth their start."""

Told = dict[str, Any]


def wrong_in(task: Task) -> tuple[int, list[Told]]:
    """Return the place of *task*, and each of its runs with its wrong answers."""
    cases = (case_of(task.scenario, policy, task.seed) for policy in task.policies)
    return task.place, [{"source": task.source, **wrong_answers(case)} for case in cases]


def listed(
    tasks: Sequence[Task],
    jobs: int = 1,
    report: Callable[[int, int], object] = lambda done, planned: None,
) -> list[Told]:
    """Return the runs of *tasks*, in their order, each with its wrong answers.

    *report* is told of runs done and planned. The result is the same for any number of *jobs*.
    """
    runs = sum(len(task.policies) for task in tasks)
    found: dict[int, list[Told]] = {}
    done = 0
    report(0, runs)
    with local(jobs if len(tasks) >= _WORTH else 1) as workers:
        for place, told in scatter(workers, wrong_in, tasks):
            found[place] = told
            done += len(told)
            report(done, runs)
    return list(chain.from_iterable(found[place] for place in sorted(found)))
