"""A sweep carried out: every task that is missing, kept as soon as it is done."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING

from bench.cells import values_of
from bench.executors import opened, scatter
from bench.kit import Kit
from bench.runs import CELL, Unit, check_digests, run_unit
from bench.sweep.done import Done, pack
from bench.sweep.plan import SETTING
from scenarios.scenario import PinsOverBudget
from sim.errors import EvictbenchError

if TYPE_CHECKING:
    from bench.progress import Report
    from bench.sweep.plan import Plan, Task
    from bench.sweep.store import Store

__all__ = ["execute", "run_task"]


def execute(
    plan: Plan,
    store: Store,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Report = lambda done, planned: None,
) -> KeyboardInterrupt | EvictbenchError | None:
    """Run the tasks of *plan* that are not in *store*, and return what stopped it, if anything.

    *store* keeps each task as it comes back, in whatever order. *jobs* processes share the work, or
    *executor* does it; *report* is told the runs done and planned, those that were kept before
    among them.
    """
    finished = store.finished
    each = len(plan.policies)
    report(each * len(finished), plan.cells)
    missing = [task for task in plan.tasks() if task.number not in finished]
    try:
        with opened(executor, jobs, lambda: _kit(plan)) as workers:
            for done in scatter(workers, run_task, missing, _kind):
                store.keep(done)
                report(each * len(finished), plan.cells)
    except (KeyboardInterrupt, EvictbenchError) as error:
        return error
    return None


def _kit(plan: Plan) -> Kit:
    specs = dict.fromkeys(s for setting in plan.settings for s in setting.policies.values())
    return Kit.of(specs, [setting.scenario.settings for setting in plan.settings])


def _kind(task: Task) -> int:
    """Return the setting of *task*: its seeds take about as long as each other."""
    return task.setting.number


def run_task(task: Task) -> Done:
    """Carry out *task*: a row has the setting, its values, and those of the run.

    A setting whose first pins are over its budget cannot be run by any policy: its rows are failed
    ones, with the reason.
    """
    setting = task.setting
    price = setting.scenario.settings["price"]
    cells = tuple((price, label, spec) for label, spec in setting.policies.items())
    unit = Unit(setting.scenario, task.seed, cells, task.strict, None, task.beside, task.turns)
    front = {SETTING: setting.number, **setting.values}
    try:
        results = list(run_unit(unit))
    except PinsOverBudget as error:
        failed = values_of({"status": "failed", "reason": str(error)})
        name = setting.scenario.name
        rows = [
            {**front, **dict(zip(CELL, (name, label, task.seed, price), strict=True)), **failed}
            for label in setting.policies
        ]
        return Done(task.number, rows, [None] * len(rows) if task.turns else ())
    check_digests(results)
    rows = [{**front, **result.row} for result in results]
    turns = [None if each.turns is None else pack(each.turns) for each in results]
    met = next((result.digest for result in results if result.digest is not None), None)
    return Done(task.number, rows, turns if task.turns else (), met)
