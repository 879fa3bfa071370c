"""A sweep from its plan to its result, on disk all the while where a folder is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.manifest import describe_scenario, versions
from bench.results import prepare, save
from bench.selection import select_baseline
from bench.sweep.execute import Row, execute
from bench.sweep.fingerprint import changes, fingerprint
from bench.sweep.journal import Journal
from bench.sweep.result import Sweep
from scenarios.scenario import PinsOverBudget
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.progress import Report
    from bench.sweep.plan import Plan

__all__ = ["carry_out"]


def carry_out(
    plan: Plan,
    source: str,
    *,
    command: str,
    settings: Mapping[str, object],
    baseline: str | None = None,
    folder: Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
) -> Sweep:
    """Run *plan*, made of the scenario that the user calls *source*, and return what it found.

    With a *folder* every task is kept in its journal at once; *resume* goes on with what is there.
    Raises InputError for a folder in which a sweep is, without *resume*, or a different one, with
    it. What stops the work early is in the answer.
    """
    named = select_baseline(baseline, plan.policies)
    if folder is None:
        if resume:
            raise InputError("--resume goes on with the sweep in a folder; name it with --out")
        finished: dict[int, list[Row]] = {}
        stopped = execute(plan, finished, finished.__setitem__, jobs, executor, report)
        manifest = _manifest(plan, command, settings)
        return _result(plan, finished, named, manifest, stopped)
    prepare(folder)
    mark = fingerprint(plan, source)
    with _journal(folder, plan, mark, command, settings, resume, warn) as journal:
        stopped = execute(plan, journal.finished, journal.keep, jobs, executor, report)
        found = _result(plan, journal.finished, named, journal.header["manifest"], stopped)
        if stopped is None:
            save(found, folder)
            journal.remove()
    return found


def _journal(
    folder: Path,
    plan: Plan,
    mark: Mapping[str, Any],
    command: str,
    settings: Mapping[str, object],
    resume: bool,
    warn: Callable[[str], object],
) -> Journal:
    journal = Journal.resume(folder, warn) if resume else None
    if journal is None:
        header = {"fingerprint": mark, "manifest": _manifest(plan, command, settings)}
        return Journal.begin(folder, header)
    different = changes(journal.header["fingerprint"], mark)
    if different:
        raise InputError(
            f"the sweep there cannot go on, as this is not the same: {'; '.join(different)}",
            file=folder,
        )
    return journal


def _manifest(plan: Plan, command: str, settings: Mapping[str, object]) -> dict[str, Any]:
    first = plan.settings[0].scenario
    described = describe_scenario(first, range(plan.seeds))
    described["tokens_from"] = _tokens_from(plan)
    return {
        **versions(),
        "command": command,
        "scenarios": {plan.scenario: described},
        "policies": list(plan.policies),
        "prices": [described["price"]["name"]],
        "settings": dict(settings),
        "vary": [
            {
                "key": axis.key,
                **(
                    {"values": list(axis.values)}
                    if axis.values
                    else {"from": axis.low, "to": axis.high, "count": axis.count, "log": axis.log}
                ),
            }
            for axis in plan.axes
        ],
        "design": plan.design,
        "points": len(plan.settings),
        "seeds": plan.seeds,
        "strict": plan.strict,
        "planned": plan.cells,
    }


def _tokens_from(plan: Plan) -> str | None:
    """Return where the token counts of the scripts come from, None if no setting has a script."""
    for setting in plan.settings:
        with suppress(PinsOverBudget):
            return setting.scenario.script(0).tokens_from
    return None


def _result(
    plan: Plan,
    finished: Mapping[int, list[Row]],
    baseline: str | None,
    manifest: Mapping[str, Any],
    stopped: Any,
) -> Sweep:
    label = {name: place for place, name in enumerate(plan.policies)}
    rows = [row for number in sorted(finished) for row in finished[number]]
    rows.sort(key=lambda row: (row["setting"], label[row["policy"]], row["seed"]))
    return Sweep(
        rows,
        baseline,
        {**manifest, "finished": len(rows), "notes": []},
        stopped,
        points=[setting.values for setting in plan.settings],
    )
