"""A sweep carried out: every task that is missing, kept as soon as it is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from bench.cells import values_of
from bench.executors import local, scatter
from bench.runs import CELL, Unit, check_digests, run_unit
from bench.sweep.plan import SETTING
from scenarios.scenario import PinsOverBudget
from sim.errors import EvictbenchError

if TYPE_CHECKING:
    from bench.progress import Report
    from bench.sweep.plan import Plan, Task

__all__ = ["Row", "execute", "run_task"]

Row = dict[str, Any]


def execute(
    plan: Plan,
    finished: dict[int, list[Row]],
    keep: Callable[[int, list[Row]], object],
    jobs: int = 1,
    executor: Executor | None = None,
    report: Report = lambda done, planned: None,
) -> KeyboardInterrupt | EvictbenchError | None:
    """Run the tasks of *plan* that are not in *finished*, and return what stopped it, if anything.

    *keep* is told the number and the rows of each task as it comes back, in whatever order, and
    adds them to *finished*. *jobs* processes share the work, or *executor* does it; *report* is
    told the runs done and planned, those of *finished* among them.
    """
    each = len(plan.policies)
    report(each * len(finished), plan.cells)
    missing = (task for task in plan.tasks() if task.number not in finished)
    try:
        with local(jobs) if executor is None else nullcontext(executor) as workers:
            for batch in scatter(workers, _run_batch, _batches(missing, plan, jobs), 2 * jobs):
                for number, rows in batch:
                    keep(number, rows)
                report(each * len(finished), plan.cells)
    except (KeyboardInterrupt, EvictbenchError) as error:
        return error
    except BrokenProcessPool:
        return EvictbenchError(
            "a worker process died, perhaps for want of memory; try fewer with --jobs"
        )
    return None


def _batches(tasks: Iterator[Task], plan: Plan, jobs: int) -> Iterator[tuple[Task, ...]]:
    size = max(1, min(8 // len(plan.policies), len(plan.settings) * plan.seeds // (4 * jobs)))
    batch: list[Task] = []
    for task in tasks:
        batch.append(task)
        if len(batch) == size:
            yield tuple(batch)
            batch.clear()
    if batch:
        yield tuple(batch)


def _run_batch(tasks: Sequence[Task]) -> list[tuple[int, list[Row]]]:
    return [(task.number, run_task(task)) for task in tasks]


def run_task(task: Task) -> list[Row]:
    """Return the rows of *task*, one a policy: the setting, its values, and those of the run.

    A setting whose first pins are over its budget cannot be run by any policy: its rows are failed
    ones, with the reason.
    """
    setting = task.setting
    price = setting.scenario.settings["price"]
    cells = tuple((price, label, spec) for label, spec in setting.policies.items())
    unit = Unit(setting.scenario, task.seed, cells, task.strict, beside=task.beside)
    front = {SETTING: setting.number, **setting.values}
    try:
        results = list(run_unit(unit))
    except PinsOverBudget as error:
        failed = values_of({"status": "failed", "reason": str(error)})
        name = setting.scenario.name
        return [
            {**front, **dict(zip(CELL, (name, label, task.seed, price), strict=True)), **failed}
            for label in setting.policies
        ]
    check_digests(results)
    return [{**front, **result.row} for result in results]
