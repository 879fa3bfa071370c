"""``compare``: policies against each other on the same workloads and seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from bench.api.asked import SEEDS, at_least_one, with_prices, words
from bench.api.comparison import Comparison
from bench.api.started import Started
from bench.beside import registry as besides
from bench.goals import goal
from bench.precision import MOST, Precision, Width, looks, precise, precision, told, widths
from bench.runs import Finished, Plan, check_runs, execute
from bench.selection import select_baseline, select_policies, select_scenarios
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.progress import Report
    from scenarios.scenario import Scenario

__all__ = ["compare"]


def compare(
    scenarios: Iterable[str | Scenario] | None = None,
    policies: Iterable[str] | None = None,
    *,
    seeds: int | None = None,
    settings: Mapping[str, object] | None = None,
    price: str | Iterable[str] | None = None,
    prices: str | PathLike[str] | None = None,
    baseline: str | None = None,
    strict: bool = False,
    beside: Iterable[str] = (),
    pareto: bool = False,
    turns: bool = False,
    require: Iterable[str] = (),
    minimise: str | None = None,
    maximise: str | None = None,
    until_ci: str | None = None,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
    partial: bool = False,
) -> Comparison:
    """Run *policies* on the same *scenarios* and seeds 0 … *seeds* − 1, and compare them.

    Without *seeds*, there are :data:`SEEDS` of them. With *until_ci*, ``METRIC=HALFWIDTH`` or
    ``METRIC=PERCENT%``, there are as many as it takes until every interval of that metric is that
    narrow, at most *seeds* or `bench.precision.MOST`; see `bench.precision`.

    A scenario is a name of the catalogue, a path to a scenario or script file, or a Scenario; a
    policy is ``NAME[:OPTION=VALUE,…]`` or ``FILE.py:CLASS``. None stands
    for all scenarios and for the policies of the seeds; the policies ``own``, ``field`` and
    ``all`` stand for those of the project, of harnesses, and every one.
    *settings* are laid over every scenario by dotted key. *price* is a row of the price book, or
    several: everything is then run at each of them, in the order of the book, on the same
    scripts; *prices* is the file of a price book of one's own. Differences are taken to
    *baseline*, by default ``no-op`` if it is among the policies, else the first of them. *beside*
    names what else is measured of each run: ``bound``, the least that any policy misses, and
    ``reversals``, how often salience was reversed between leaving and need; *pareto* asks for the
    policies that no other beats in answers, window and cost. Of the policies that meet every
    ``METRIC=VALUE``, ``METRIC<=VALUE`` or ``METRIC>=VALUE`` of *require*, the one with the least
    *minimise* or most *maximise* is named as the winner.
    *turns* keeps what each turn of each run came to.
    *jobs* processes share the work (a script that asks for more than one needs ``if __name__ ==
    "__main__":`` around it), or *executor* does: ``dask`` is a Dask cluster of *jobs* processes on
    this machine, ``dask://HOST:PORT`` one that is running, whose workers must have the same
    evictbench (docs/cluster.md), and an Executor is given *jobs* tasks at a time. *report* is
    told (runs done, runs planned), *warn* what a user should know about a scenario.

    Raises InputError for anything that cannot be used, and whatever ends the work early, unless
    *partial* is set: then what was finished is returned and ``stopped`` says what ended it.
    """
    asked = goal(require, minimise, maximise)
    wanted, priced = with_prices(settings, price, prices)
    chosen, remarks = _scenarios(scenarios, wanted)
    until = None if until_ci is None else precision(until_ci)
    if until is not None and not any(scenario.seeded for scenario in chosen):
        raise InputError("--until-ci needs a scenario that has seeds; a story is run once")
    most = (SEEDS if until is None else MOST) if seeds is None else seeds
    at_least_one(seeds=most, jobs=jobs)
    check_runs(most)
    labels, more = select_policies(policies), besides.chosen(beside)
    plan = Plan(chosen, labels, most, strict, priced, more, turns)
    check_runs(plan.cells)
    warnings = list(dict.fromkeys(note for scenario in chosen for note in scenario.notes))
    for warning in warnings:
        warn(warning)
    effort = _Effort(jobs, executor, report, partial)
    found = _compare(plan, baseline, wanted, remarks, effort, until)
    found.manifest["warnings"] = warnings
    found.manifest["asked"] = words(found.baseline, pareto, asked)
    return replace(found, pareto=pareto, goal=asked)


def _scenarios(
    wanted: Iterable[str | Scenario] | None, settings: Mapping[str, object]
) -> tuple[list[Scenario], list[str]]:
    """Select scenarios; the InputError for one that is a recording says what takes it."""
    from bench.redacting import refuse_recordings

    asked = None if wanted is None else list(wanted)
    try:
        return select_scenarios(asked, settings)
    except InputError:
        refuse_recordings(asked or ())
        raise


@dataclass(frozen=True, slots=True)
class _Effort:
    """By what means a plan is carried out, and who is told."""

    jobs: int
    executor: str | Executor | None
    report: Report
    partial: bool


def _compare(
    plan: Plan,
    baseline: str | None,
    settings: Mapping[str, object],
    remarks: Sequence[str],
    effort: _Effort,
    until: Precision | None,
) -> Comparison:
    from bench.manifest import describe_scenario

    named = select_baseline(baseline, plan.policies)
    described = {
        s.name: describe_scenario(s, plan.seeds_of(s), plan.prices_of(s)) for s in plan.scenarios
    }
    started = Started()
    finished, ran, seen = _looked(plan, named, effort, until)
    if finished.stopped is not None and not effort.partial:
        raise finished.stopped
    for scenario in plan.scenarios:
        described[scenario.name]["seeds"] = len(ran.seeds_of(scenario))
        described[scenario.name]["tokens_from"] = finished.tokens_from.get(scenario.name)
        described[scenario.name]["stimuli"] = finished.stimuli.get(scenario.name, {})
    notes = list(remarks)
    looked = None if until is None or not seen else told(until, seen)
    if looked is not None:
        notes.append(looked["says"])
    manifest = {
        **started.manifest(
            described, plan.policies, settings, plan.strict, finished.workers, effort.executor
        ),
        "planned": finished.planned,
        "finished": len(finished.rows),
        "notes": notes,
    }
    if looked is not None:
        manifest["until_ci"] = looked
    return Comparison(
        finished.rows,
        named,
        manifest,
        finished.stopped,
        turns=finished.turns,
        scenarios=tuple(plan.scenarios),
    )


def _looked(
    plan: Plan, baseline: str | None, effort: _Effort, until: Precision | None
) -> tuple[Finished, Plan, list[tuple[int, list[Width]]]]:
    """Carry out *plan*, as far as it takes *until* intervals are narrow enough.

    Returns what was finished, the part of the plan that it is of, and for each look that was taken
    its seeds and the widths there.
    """
    done = 0

    def count(runs: int) -> None:
        nonlocal done
        done += runs
        effort.report(done, ran.cells)

    found, ran, first = Finished(0), replace(plan, seeds=0), 0
    seen: list[tuple[int, list[Width]]] = []
    for seeds in [plan.seeds] if until is None else looks(plan.seeds):
        ran = replace(plan, seeds=seeds)
        count(0)
        part = replace(ran, first=first)
        found = found.joined(execute(part, effort.jobs, effort.executor, count), plan)
        if until is None or found.stopped is not None:
            break
        seen.append((seeds, widths(found.rows, until, baseline)))
        if precise(seen[-1][1]):
            break
        first = seeds
    return found, ran, seen
