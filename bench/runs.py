"""Runs: every scenario under every policy on every seed, one row each.

A cell is one scenario × policy × seed. Cells are fixed before the first of them runs, and rows
come back in the order of the plan, whoever ran them and whenever they were ready.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.executors import local, scatter
from sim.errors import AuditError, EvictbenchError, PolicyError

if TYPE_CHECKING:
    from scenarios.scenario import Scenario
    from sim.engine import Run
    from sim.policy import Policy
    from sim.prices import Price
    from sim.records import Record
    from sim.script import Script

__all__ = ["Finished", "Plan", "execute", "price_of", "run_one"]

Row = dict[str, Any]

CELLS_PER_TASK = 8
"""Cells sent to a worker together, where there are enough of them for every worker."""


TASKS_PER_JOB = 4
"""Tasks that each worker gets at least, where there are enough cells."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: *scenarios* and *policies* (their labels) in the order of the output.

    A scenario that is not seeded is run once, as seed 0, whatever *seeds* says.
    """

    scenarios: Sequence[Scenario]
    policies: Sequence[str]
    seeds: int = 1
    strict: bool = False

    def seeds_of(self, scenario: Scenario) -> range:
        """Return the seeds that *scenario* is run on."""
        return range(self.seeds if scenario.seeded else 1)

    @property
    def cells(self) -> int:
        """Number of runs."""
        return len(self.policies) * sum(len(self.seeds_of(s)) for s in self.scenarios)

    def place(self, row: Mapping[str, Any]) -> tuple[int, int, int]:
        """Return the key that sorts the rows of this plan."""
        names = [scenario.name for scenario in self.scenarios]
        return names.index(row["scenario"]), self.policies.index(row["policy"]), row["seed"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Cells that share one script: one scenario and seed under some policies."""

    scenario: Scenario
    seed: int
    policies: tuple[str, ...]
    strict: bool


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell leaves: its row, and what its run met."""

    row: Row
    digest: str | None
    tokens_from: str


@dataclass(slots=True)
class Finished:
    """The rows of a plan, in order; those that were finished if something *stopped* it.

    *tokens_from* says of each scenario where its token counts come from.
    """

    planned: int
    rows: list[Row] = field(default_factory=list)
    tokens_from: dict[str, str] = field(default_factory=dict)
    stopped: KeyboardInterrupt | EvictbenchError | None = None


def execute(
    plan: Plan,
    jobs: int = 1,
    executor: Executor | None = None,
    on_finished: Callable[[int], object] = lambda runs: None,
) -> Finished:
    """Run *plan* in *jobs* processes, or by *executor*, and return what was finished.

    *on_finished* is told the number of runs that have just ended. What stops the work before its
    end is in the answer: an interrupt, an InputError for a script that no policy could run, an
    EvictbenchError if a worker or a policy broke or two policies did not meet the same stimuli.
    """
    results: list[Result] = []
    finished = Finished(plan.cells)
    try:
        with local(jobs) if executor is None else nullcontext(executor) as workers:
            for batch in scatter(workers, _run_batch, _batches(plan, jobs), ahead=2 * jobs):
                results += batch
                on_finished(len(batch))
        _check_digests(results)
    except (KeyboardInterrupt, EvictbenchError) as error:
        finished.stopped = error
    except BrokenProcessPool:
        finished.stopped = EvictbenchError(
            "a worker process died, perhaps for want of memory; try fewer with --jobs"
        )
    results.sort(key=lambda result: plan.place(result.row))
    finished.rows = [result.row for result in results]
    finished.tokens_from = {r.row["scenario"]: r.tokens_from for r in results}
    return finished


def run_one(
    script: Script, policy: str, strict: bool = False
) -> tuple[dict[str, Any], list[Record]]:
    """Return the metrics and the event records of *script* under *policy*.

    Where the policy is not applicable, the metrics say so and are None, and nothing happened.
    Raises InputError for an unknown policy and, with *strict*, PolicyError for its first bug.
    """
    made = _make_policy(policy)
    reason = _not_applicable(script, made)
    if reason is not None:
        return _values({"status": "not-applicable", "reason": reason}), []
    run = _simulate(script, made, strict, script.digest())
    return _values(run.metrics), run.records


def price_of(settings: Mapping[str, Any]) -> Price:
    """Return the price that the flat *settings* of a scenario name, ``cache.*`` laid over it."""
    overrides = tuple(
        (key.removeprefix("cache."), value)
        for key, value in sorted(settings.items())
        if key.startswith("cache.") and key != "cache.breakpoints" and value is not None
    )
    return _price(settings["price"], overrides)


@lru_cache(maxsize=64)
def _price(name: str, overrides: tuple[tuple[str, Any], ...]) -> Price:
    from bench.prices import get_price

    return get_price(name, dict(overrides))


def _batches(plan: Plan, jobs: int) -> Iterator[tuple[Unit, ...]]:
    """Yield the units of *plan* in tasks large enough to be worth sending, and enough of them."""
    scripts = [(s, seed) for s in plan.scenarios for seed in plan.seeds_of(s)]
    wanted = TASKS_PER_JOB * jobs
    size = max(1, min(CELLS_PER_TASK // max(1, len(plan.policies)), len(scripts) // wanted))
    share = max(1, len(plan.policies) // ceil(wanted / max(1, len(scripts))))
    units = [
        Unit(scenario, seed, tuple(plan.policies[start : start + share]), plan.strict)
        for scenario, seed in scripts
        for start in range(0, len(plan.policies), share)
    ]
    for start in range(0, len(units), size):
        yield tuple(units[start : start + size])


def _run_batch(units: Sequence[Unit]) -> list[Result]:
    return [result for unit in units for result in _run_unit(unit)]


def _run_unit(unit: Unit) -> Iterator[Result]:
    script = unit.scenario.script(unit.seed)
    digest = script.digest()
    for name in unit.policies:
        policy = _make_policy(name)
        met, values = _outcome(script, policy, unit.strict, digest)
        row = {"scenario": unit.scenario.name, "policy": policy.label, "seed": script.seed}
        yield Result({**row, **_values(values)}, met, script.tokens_from)


def _outcome(
    script: Script, policy: Policy, strict: bool, digest: str
) -> tuple[str | None, Mapping[str, Any]]:
    """Return the hash of what the run met, None if it left none, and its metrics."""
    reason = _not_applicable(script, policy)
    if reason is not None:
        return None, {"status": "not-applicable", "reason": reason}
    try:
        run = _simulate(script, policy, strict, digest)
    except PolicyError as error:
        reason = f"{error.rule}: {error}"
        return None, {"status": "failed", "reason": reason, "policy_bugs": 1}
    return run.digest, run.metrics


def _values(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return every metric, then status and reason; None where *found* has nothing for it."""
    from sim.metrics import NAMES

    return {name: found.get(name) for name in (*NAMES, "status", "reason")}


def _not_applicable(script: Script, policy: Policy) -> str | None:
    """Return why *policy* cannot run *script*, None if it can."""
    from sim.engine import lacking

    missing = lacking(script, policy)
    return f"the scenario does not offer {' and '.join(missing)}" if missing else None


def _make_policy(spec: str) -> Policy:
    from policies.registry import make

    return make(spec)


def _simulate(script: Script, policy: Policy, strict: bool, digest: str) -> Run:
    from sim.engine import run

    where = f"{policy.label} on {script.scenario}, seed {script.seed}"
    try:
        return run(script, policy, price_of(script.settings), strict=strict, digest=digest)
    except AuditError as error:
        raise AuditError(f"{where}: {error}") from error
    except EvictbenchError:
        raise
    except Exception as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        frame = traceback.extract_tb(cause.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        raise EvictbenchError(
            f"{where}, raised {type(cause).__name__} at {place}: {cause}"
        ) from error


def _check_digests(results: Sequence[Result]) -> None:
    first: dict[tuple[str, int], Result] = {}
    for result in results:
        if result.digest is None:
            continue
        row = result.row
        other = first.setdefault((row["scenario"], row["seed"]), result)
        if other.digest != result.digest:
            raise EvictbenchError(
                f"{row['scenario']}, seed {row['seed']}: {other.row['policy']} and "
                f"{row['policy']} did not meet the same stimuli, so they cannot be compared"
            )
