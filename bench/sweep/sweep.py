"""A sweep from its plan to its result, on disk all the while where a folder is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.api.asked import words
from bench.cells import writer_of
from bench.manifest import describe_scenario, versions
from bench.results import Results, load, prepare, save, tidy
from bench.results.names import JOURNAL, MANIFEST
from bench.selection import select_baseline
from bench.sweep.execute import execute
from bench.sweep.fingerprint import changes, fingerprint, folded
from bench.sweep.journal import Journal
from bench.sweep.result import Sweep
from bench.sweep.store import KeptTurns, Memory
from scenarios.scenario import PinsOverBudget
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.goals import Goal
    from bench.progress import Report
    from bench.sweep.plan import Plan
    from bench.sweep.store import Store
    from bench.turns import Turns

__all__ = ["carry_out"]

_WRITER = "summariser.price"


def carry_out(
    plan: Plan,
    source: str,
    *,
    command: str,
    settings: Mapping[str, object],
    baseline: str | None = None,
    goal: Goal | None = None,
    folder: Path | None = None,
    resume: bool = False,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
) -> Sweep:
    """Run *plan*, made of the scenario that the user calls *source*, and return what it found.

    *goal* says which policy is best at a setting. With a *folder* every task is kept in its journal
    at once; *resume* goes on with what is there. Raises InputError for a folder in which a sweep
    is, without *resume*, or a different one, with it. What stops the work early is in the answer;
    turns are in it where there is no folder, and else in the folder alone.
    """
    named = select_baseline(baseline, plan.policies)
    if folder is None:
        if resume:
            raise InputError("--resume goes on with the sweep in a folder; name it with --out")
        memory = Memory()
        stopped = execute(plan, memory, jobs, executor, report)
        manifest = _manifest(plan, command, settings)
        found = _result(plan, memory, named, goal, manifest, stopped)
        return replace(found, turns=_turns(plan, memory))
    prepare(folder)
    mark = fingerprint(plan, source, named)
    before = _finished(folder, mark, resume)
    if before is not None:
        return Sweep(before.rows, named, before.manifest, goal=goal, points=points(plan))
    with _journal(folder, plan, mark, command, settings, resume, warn) as journal:
        try:
            stopped = execute(plan, journal, jobs, executor, report)
            found = _result(plan, journal, named, goal, journal.header["manifest"], stopped)
            if stopped is None:
                tidy(folder)
                save(found, folder, _turns(plan, journal))
                journal.remove()
        finally:
            if not journal.finished:  # there is nothing to go on with
                journal.remove()
    return found


def _finished(folder: Path, mark: Mapping[str, Any], resume: bool) -> Results | None:
    """Return the results in *folder*, if a sweep has come to its end there, None if not.

    Raises InputError where they are in the way, or of another sweep than *mark* is of.
    """
    if (folder / JOURNAL).exists() or not (folder / MANIFEST).exists():
        return None
    if not resume:
        raise InputError("there are results already; name another folder", file=folder)
    found = load(folder)
    before = found.manifest.get("fingerprint")
    if not isinstance(before, Mapping):
        raise InputError("the results there are of no sweep", file=folder)
    _check(before, mark, folder)
    return found


def _check(before: Mapping[str, Any], mark: Mapping[str, Any], folder: Path) -> None:
    different = changes(before, mark)
    if different:
        raise InputError(
            f"the sweep there cannot go on, as this is not the same: {'; '.join(different)}",
            file=folder,
        )


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
        manifest = {**_manifest(plan, command, settings), "fingerprint": dict(mark)}
        return Journal.begin(folder, {"manifest": manifest})
    try:
        _check(journal.header["manifest"]["fingerprint"], mark, folder)
    except InputError:
        journal.close()
        raise
    return journal


def _manifest(plan: Plan, command: str, settings: Mapping[str, object]) -> dict[str, Any]:
    first = plan.settings[0].scenario
    prices = list(dict.fromkeys(each.scenario.settings["price"] for each in plan.settings))
    described = describe_scenario(first, range(plan.seeds), prices)
    described["tokens_from"] = _tokens_from(plan)
    writers = {str(each.scenario.settings.get(_WRITER)): each.scenario for each in plan.settings}
    if len(writers) > 1:
        found = (writer_of(scenario.settings) for scenario in writers.values())
        described["writers"] = [asdict(row) for row in found if row is not None]
    return {
        **versions(),
        "scenarios": {plan.scenario: described},
        "policies": list(plan.policies),
        "prices": prices,
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
        "effort": {"command": command},
    }


def _tokens_from(plan: Plan) -> str | None:
    """Return where the token counts of the scripts come from, None if no setting has a script."""
    for setting in plan.settings:
        with suppress(PinsOverBudget):
            return setting.scenario.script(0).tokens_from
    return None


def _result(
    plan: Plan,
    store: Store,
    baseline: str | None,
    goal: Goal | None,
    manifest: Mapping[str, Any],
    stopped: Any,
) -> Sweep:
    rows = [store.finished[task][at] for task, at in _cells(plan, store)]
    mark = {"fingerprint": folded(manifest["fingerprint"])} if "fingerprint" in manifest else {}
    return Sweep(
        rows,
        baseline,
        {
            **manifest,
            **mark,
            "scenarios": {
                name: {**described, "stimuli": _stimuli(plan, store)}
                for name, described in manifest["scenarios"].items()
            },
            "finished": len(rows),
            "notes": [],
            "asked": words(baseline, False, goal),
        },
        stopped,
        goal=goal,
        points=points(plan),
    )


def _stimuli(plan: Plan, store: Store) -> dict[str, str]:
    """Return for each seed, as a text, the hash of what was met.

    Where settings differ in it, as where the turns are varied, it is one of the hashes of all.
    """
    met: dict[str, list[str]] = {}
    for task in plan.tasks():
        found = store.met.get(task.number)
        if found is not None:
            met.setdefault(str(task.seed), []).append(found)
    return {
        seed: each[0] if len(set(each)) == 1 else sha256("".join(each).encode()).hexdigest()
        for seed, each in met.items()
    }


def _turns(plan: Plan, store: Store) -> Sequence[Turns | None]:
    """Return the turns of the rows of a result, if they were to be kept."""
    return KeptTurns(store, _cells(plan, store)) if plan.turns else ()


def _cells(plan: Plan, store: Store) -> list[tuple[int, int]]:
    """Return the task of every cell that is finished, and which of its rows it is, in order.

    The order is that of every output: by setting, then policy, then seed.
    """
    cells = range(len(plan.policies))
    tasks = [task for task in plan.tasks() if task.number in store.finished]
    found = [(task.setting.number, at, task.seed, task.number) for task in tasks for at in cells]
    return [(number, at) for _, at, _, number in sorted(found)]


def points(plan: Plan) -> list[dict[str, Any]]:
    """Return the values of the varied keys at every setting of *plan*."""
    return [dict(setting.values) for setting in plan.settings]
