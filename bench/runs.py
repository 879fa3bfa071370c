"""Runs: every scenario at every price under every policy on every seed, one row each.

A cell is one scenario × price × policy × seed. Cells are fixed before the first of them runs, and
rows come back in the order of the plan, whoever ran them and whenever they were ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from bench import cells
from bench.beside import registry as beside
from bench.cells import Observe, make_policy, outcome
from bench.executors import opened, scatter
from bench.fleets import fleet_outcome, scripts_of
from bench.kit import Kit
from bench.turns import turns_of
from sim.errors import EvictbenchError, InputError

if TYPE_CHECKING:
    from bench.turns import Turns
    from scenarios.scenario import Scenario
    from sim.records import Record

__all__ = [
    "CELL",
    "MOST",
    "Finished",
    "Plan",
    "Result",
    "Unit",
    "check_digests",
    "check_runs",
    "columns",
    "execute",
    "run_unit",
    "stimuli_of",
]

Row = dict[str, Any]

CELL = (*cells.CELL, "price")
"""What a row of a comparison is the run of."""

UNITS_PER_WORKER = 4
"""Units that each worker gets at least, where there are enough cells."""


MOST = 10_000_000
"""Runs of a comparison or a sweep: their rows must fit in the memory of one machine."""


def check_runs(runs: int) -> None:
    """Raise InputError if that many *runs* are more than one comparison or sweep can have."""
    if runs > MOST:
        raise InputError(f"{runs:,} runs are more than can be made at once, {MOST:,}")


def columns() -> list[str]:
    """Return the names of a row's values, in the order of every output."""
    return [*CELL, *(name for name in cells.columns() if name not in CELL)]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run: *scenarios*, *policies* and *prices*, all in the order of the output.

    A policy is known by its label, under which stands the spec that makes it. A scenario that is
    not seeded is run once, as seed 0, whatever *seeds* says. Without *prices*, each scenario is run
    at its own. A plan that goes on from another has a *first* seed above 0.
    """

    scenarios: Sequence[Scenario]
    policies: Mapping[str, str]
    seeds: int = 1
    strict: bool = False
    prices: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    """The measures of ``bench.beside`` that each row gets besides the metrics."""
    turns: bool = False
    """Whether what each turn came to is kept, too."""
    first: int = 0

    def seeds_of(self, scenario: Scenario) -> range:
        """Return the seeds that *scenario* is run on."""
        return range(self.first, self.seeds if scenario.seeded else 1)

    def prices_of(self, scenario: Scenario) -> tuple[str, ...]:
        """Return the prices that *scenario* is run at."""
        return self.prices or (scenario.settings["price"],)

    @property
    def cells(self) -> int:
        """Number of runs."""
        scripts = sum(len(self.seeds_of(s)) * len(self.prices_of(s)) for s in self.scenarios)
        return len(self.policies) * scripts

    def place(self, row: Mapping[str, Any]) -> tuple[int, int, int, int]:
        """Return the key that sorts the rows of this plan."""
        at = [scenario.name for scenario in self.scenarios].index(row["scenario"])
        prices, policies = self.prices_of(self.scenarios[at]), list(self.policies)
        return at, prices.index(row["price"]), policies.index(row["policy"]), row["seed"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Cells that share one script: one scenario and seed under some (price, label, spec)."""

    scenario: Scenario
    seed: int
    cells: tuple[tuple[str, str, str], ...]
    strict: bool
    observe: Observe | None = None
    beside: tuple[str, ...] = ()
    turns: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a cell leaves: its row, what its run met, and what was *seen* in its records.

    *turns* are those of the run, None where they were not asked for or it came to nothing.
    """

    row: Row
    digest: str | None
    tokens_from: str
    seen: Any = None
    turns: Turns | None = None


@dataclass(slots=True)
class Finished:
    """The rows of a plan, in order; those that were finished if something *stopped* it.

    *tokens_from* says of each scenario where its token counts come from, *stimuli* what each of its
    seeds met, as a hash. *turns* has those of each row, where they were asked for.
    """

    planned: int
    rows: list[Row] = field(default_factory=list)
    turns: list[Turns | None] = field(default_factory=list)
    tokens_from: dict[str, str] = field(default_factory=dict)
    stimuli: dict[str, dict[str, str]] = field(default_factory=dict)
    stopped: KeyboardInterrupt | EvictbenchError | None = None
    workers: int = 0
    """Tasks that were done at a time."""

    def joined(self, other: Finished, plan: Plan) -> Finished:
        """Return what this and *other*, which went on from it, finished of *plan*."""
        rows, turns = [*self.rows, *other.rows], [*self.turns, *other.turns]
        order = sorted(range(len(rows)), key=lambda at: plan.place(rows[at]))
        stimuli = {name: dict(met) for name, met in self.stimuli.items()}
        for name, met in other.stimuli.items():
            stimuli.setdefault(name, {}).update(met)
        return Finished(
            self.planned + other.planned,
            [rows[at] for at in order],
            [turns[at] for at in order] if turns else [],
            {**self.tokens_from, **other.tokens_from},
            stimuli,
            other.stopped,
            max(self.workers, other.workers),
        )


def execute(
    plan: Plan,
    jobs: int = 1,
    executor: str | Executor | None = None,
    on_finished: Callable[[int], object] = lambda runs: None,
) -> Finished:
    """Run *plan* in *jobs* processes, or by *executor*, and return what was finished.

    *executor* is as `bench.executors.opened` takes it.

    *on_finished* is told the number of runs that have just ended. What stops the work before its
    end is in the answer: an interrupt, an InputError for a script that no policy could run, an
    EvictbenchError if a worker or a policy broke or two policies did not meet the same stimuli.
    """
    results: list[Result] = []
    finished = Finished(plan.cells)
    try:
        with opened(executor, jobs, lambda: _kit(plan)) as workers:
            finished.workers = workers.count
            units = _units(plan, workers.count)
            for found in scatter(workers, _run, units, kind=_scenario_of):
                results += found
                on_finished(len(found))
        check_digests(results)
    except (KeyboardInterrupt, EvictbenchError) as error:
        finished.stopped = error
    results.sort(key=lambda result: plan.place(result.row))
    finished.rows = [result.row for result in results]
    finished.turns = [result.turns for result in results] if plan.turns else []
    finished.tokens_from = {r.row["scenario"]: r.tokens_from for r in results}
    finished.stimuli = stimuli_of(results)
    return finished


def _kit(plan: Plan) -> Kit:
    return Kit.of(plan.policies.values(), [scenario.settings for scenario in plan.scenarios])


def _units(plan: Plan, workers: int) -> list[Unit]:
    """Return what is run on one script each; with few scripts, the cells of one are shared out."""
    scripts = [(s, seed) for s in plan.scenarios for seed in plan.seeds_of(s)]
    shares = ceil(UNITS_PER_WORKER * workers / max(1, len(scripts)))
    size = max(1, len(plan.policies) * max(1, len(plan.prices)) // shares)
    told = plan.beside, plan.turns
    return [
        Unit(scenario, seed, mine[start : start + size], plan.strict, None, *told)
        for scenario, seed in scripts
        for mine in (_cells(plan, scenario),)
        for start in range(0, len(mine), size)
    ]


def _cells(plan: Plan, scenario: Scenario) -> tuple[tuple[str, str, str], ...]:
    prices, policies = plan.prices_of(scenario), plan.policies.items()
    return tuple((price, label, spec) for price in prices for label, spec in policies)


def _scenario_of(unit: Unit) -> str:
    return unit.scenario.name


def _run(unit: Unit) -> list[Result]:
    return list(run_unit(unit))


def run_unit(unit: Unit) -> Iterator[Result]:
    """Run the cells of *unit* on one script an agent: what is met does not depend on the price."""
    scripts = scripts_of(unit.scenario, unit.seed)
    digests = [script.digest() for script in scripts]
    script = scripts[0]
    watch = beside.watching(unit.beside, script)
    nothing = dict.fromkeys(beside.columns(unit.beside))

    def observe(records: list[Record]) -> tuple[dict[str, Any], Any, Turns | None]:
        seen = None if unit.observe is None else unit.observe(records)
        return watch(records), seen, turns_of(records) if unit.turns else None

    for price, label, spec in unit.cells:
        priced = [replace(each, settings={**each.settings, "price": price}) for each in scripts]
        more, seen, turns = nothing, None, None
        if len(priced) == 1:
            policy = make_policy(spec)
            values, met, kept = outcome(priced[0], policy, unit.strict, digests[0], observe)
            more, seen, turns = kept or (nothing, None, None)
        else:
            values, met, turns = fleet_outcome(priced, spec, unit.strict, digests, unit.turns)
        cell = dict(zip(CELL, (unit.scenario.name, label, script.seed, price), strict=True))
        yield Result({**cell, **values, **more}, met, script.tokens_from, seen, turns)


def check_digests(results: Sequence[Result]) -> None:
    """Raise EvictbenchError if two policies did not meet the same stimuli."""
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


def stimuli_of(results: Sequence[Result]) -> dict[str, dict[str, str]]:
    """Return by scenario and seed, as a text, the hash of what runs met, the same for each."""
    met: dict[str, dict[str, str]] = {}
    for result in results:
        if result.digest is not None:
            met.setdefault(result.row["scenario"], {})[str(result.row["seed"])] = result.digest
    return {name: dict(sorted(s.items(), key=lambda each: int(each[0]))) for name, s in met.items()}
