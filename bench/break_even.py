"""Break-even over whole workloads: what passes remove, what they break, and how many pay back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.api import SEEDS
from bench.cells import run_one
from bench.executors import opened, scatter
from bench.fleets import one_agent
from bench.kit import Kit
from bench.selection import select_policies, select_scenarios, with_book, with_price

if TYPE_CHECKING:
    from bench.progress import Report
    from scenarios.scenario import Scenario
    from sim.break_even import Pass
    from sim.records import Record

__all__ = [
    "PUBLISHED",
    "QUARTILES",
    "RATIOS",
    "Played",
    "Workload",
    "collect",
    "pass_rows",
    "played",
    "quartiles",
    "summarise",
    "workload",
]

RATIOS = (9.0, 11.5, 24.0, 49.0)
"""R = (w − r) / r at which the share of passes that pay back is published."""

QUARTILES = ("removed", "behind", "behind_by_removed", "calls")
"""What quartiles are taken of: b, S, S/b and L."""

PUBLISHED: Mapping[str, Any] = {
    "passes": 4_517,
    "behind_by_removed": (0.48, 0.71, 1.12),
    "calls": (15.0, 36.0, 77.0),
    "pays_at": (0.86, 0.83, 0.70, 0.50),
    "source": "4,517 replayed eviction batches (FutureEnterprises/anatomy, essay and method)",
}
"""The published row, in the words of :func:`summarise`; shares at :data:`RATIOS`."""


class Played(NamedTuple):
    """A run as far as its passes are concerned."""

    scenario: str
    policy: str
    seed: int
    status: str
    requests: int
    """Calls of the agent."""
    left: int
    """Tokens that left, each time they did, whatever stands in their place."""
    passes: tuple[tuple[Pass, bool], ...]
    """Each pass, and whether it was *forced*: without it the request had been over the budget."""
    ratio: float | None
    """R of the price, of the longer life where that was paid for; None where reads are free."""
    reason: str = ""
    """Why it was not run, or ended early."""


class Workload(NamedTuple):
    """What is run: *scenarios* and *policies* (label to spec), in the order of the output."""

    scenarios: list[Scenario]
    policies: Mapping[str, str]
    seeds: int

    def units(self) -> list[_Unit]:
        """Return what is run on one script each; what is not seeded is run once."""
        policies = tuple(self.policies.items())
        return [
            _Unit(scenario, seed, policies)
            for scenario in self.scenarios
            for seed in range(self.seeds if scenario.seeded else 1)
        ]

    @property
    def planned(self) -> int:
        """Number of runs."""
        return len(self.units()) * len(self.policies)

    def kit(self) -> Kit:
        """Return what a worker must have to make the runs."""
        return Kit.of(self.policies.values(), [scenario.settings for scenario in self.scenarios])

    def manifest(self) -> dict[str, Any]:
        """Return what made the runs: versions, policies, and each scenario's settings."""
        from bench.manifest import versions

        described = {
            scenario.name: {
                "kind": scenario.kind,
                "seeds": self.seeds if scenario.seeded else 1,
                "settings": dict(sorted(scenario.settings.items())),
            }
            for scenario in self.scenarios
        }
        return {**versions(), "scenarios": described, "policies": list(self.policies)}


class _Unit(NamedTuple):
    scenario: Scenario
    seed: int
    policies: tuple[tuple[str, str], ...]


def workload(
    scenarios: Iterable[str],
    policies: Iterable[str] | None = None,
    *,
    seeds: int = SEEDS,
    settings: Mapping[str, object] | None = None,
    price: str | None = None,
    prices: str | None = None,
    warn: Callable[[str], object] = lambda warning: None,
) -> Workload:
    """Return what is to be run, as `bench.api.compare` understands it.

    *prices* is the file of a price book of one's own; *warn* is told what a user should know of a
    scenario. Raises InputError for what cannot be used.
    """
    laid = with_price(with_book(settings or {}, prices), price)
    chosen, _ = select_scenarios(scenarios, laid)
    for note in dict.fromkeys(note for scenario in chosen for note in scenario.notes):
        warn(note)
    one_agent(chosen, "break-even")
    return Workload(chosen, select_policies(policies), seeds)


def collect(
    work: Workload,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Report = lambda done, planned: None,
    kept: list[Played] | None = None,
) -> list[Played]:
    """Run *work* in *jobs* processes, or by *executor*, and return every run, in its order.

    *kept* is a list that holds them, too, those that were finished even after an interrupt.
    Raises InputError for what cannot be run and EvictbenchError where a worker or a policy breaks.
    """
    planned = work.planned
    found: list[Played] = [] if kept is None else kept
    report(0, planned)
    try:
        with opened(executor, jobs, work.kit) as workers:
            for runs in scatter(workers, _play, work.units(), kind=_scenario_of):
                found += runs
                report(len(found), planned)
    finally:
        scenarios = [scenario.name for scenario in work.scenarios]
        policies = list(work.policies)
        found.sort(key=lambda r: (scenarios.index(r.scenario), policies.index(r.policy), r.seed))
    return found


def _scenario_of(unit: _Unit) -> str:
    return unit.scenario.name


def _play(unit: _Unit) -> list[Played]:
    script = unit.scenario.script(unit.seed)
    found = []
    for label, spec in unit.policies:
        metrics, records = run_one(script, spec)
        found.append(played(metrics, records, (unit.scenario.name, label, unit.seed)))
    return found


def played(
    metrics: Mapping[str, Any], records: Sequence[Record], cell: tuple[str, str, int]
) -> Played:
    """Return the passes of a run from its *metrics* and *records*; *cell* says which run it is."""
    from sim.break_even import passes

    if not records:
        return Played(*cell, metrics["status"], 0, 0, (), None, metrics["reason"] or "")
    left = sum(metrics[f"{book}_tokens"] for book in _LEFT)
    _, write, read, _ = next(record[8] for record in records if record[0] == "run")
    found = passes(records)
    if found:
        write = found[-1].write
    return Played(
        *cell,
        metrics["status"],
        metrics["calls"],
        left,
        tuple(zip(found, _forced(records), strict=True)),
        (write - read) / read if read else None,
        metrics["reason"] or "",
    )


_LEFT = ("evicted_copy", "evicted_dispensable", "rewritten", "truncated")

_SENT = {"call": 3, "maintain": 4, "wasted": 5}
"""Records of a request, and where its tokens stand in them."""


def _forced(records: Iterable[Record]) -> Iterator[bool]:
    """Yield for each pass whether its request, with what has left, were over the budget."""
    budget, removed = 0, None
    for record in records:
        kind = record[0]
        if kind == "run":
            budget = record[6]
        elif kind == "pass":
            removed = record[3]
        elif removed is not None and kind in _SENT:
            yield record[_SENT[kind]] + removed > budget
            removed = None


def pass_rows(runs: Iterable[Played]) -> Iterator[dict[str, Any]]:
    """Yield every pass with the run it belongs to, as `sim.break_even.Pass` has it."""
    for run in runs:
        for each, forced in run.passes:
            cell = {"scenario": run.scenario, "policy": run.policy, "seed": run.seed}
            yield {**cell, **each._asdict(), "forced": forced}


def summarise(runs: Iterable[Played]) -> list[dict[str, Any]]:
    """Return one row for each scenario and policy, in the order of *runs*.

    Each has the counts `runs`, `completed`, `passes` and `apart`: passes that left the window no
    smaller, which are in nothing that follows; and the `reason` why there are no runs, if the
    policy is not applicable. Then the quartiles (three numbers) of b `removed`,
    S `behind`, `behind_by_removed` and L `calls`; the shares `pays_at` each of :data:`RATIOS`,
    refetches left out, and `paid_back` at the price's own `ratio` with them; the shares `forced`,
    `cold` (nothing was cached) and `truncated` (by the backstop, in part at least);
    `lost_in_front`, the share of all that a cut lost that stood in front of it; `refetched`,
    tokens brought back by all that left; and `requests`, the median calls of a run. None where
    there is nothing to take it of.
    """
    groups: dict[tuple[str, str], list[Played]] = {}
    for run in runs:
        groups.setdefault((run.scenario, run.policy), []).append(run)
    return [_row(*cell, group) for cell, group in groups.items()]


def _row(scenario: str, policy: str, runs: list[Played]) -> dict[str, Any]:
    able = [run for run in runs if run.status != "not-applicable"]
    every = [entry for run in able for entry in run.passes]
    kept = [(each, forced) for each, forced in every if each.removed > 0]
    cuts = [each for each, _ in kept]
    broken = sum(each.broken for each in cuts)
    left = sum(run.left for run in able)
    free = not able or able[0].ratio is None
    return {
        "scenario": scenario,
        "policy": policy,
        "runs": len(able),
        "completed": sum(run.status == "completed" for run in able),
        "requests": _middle([run.requests for run in able]),
        "passes": len(every),
        "apart": len(every) - len(kept),
        "removed": quartiles([each.removed for each in cuts]),
        "behind": quartiles([each.behind for each in cuts]),
        "behind_by_removed": quartiles([each.behind / each.removed for each in cuts]),
        "calls": quartiles([each.calls for each in cuts]),
        "pays_at": None
        if not cuts
        else [sum(each.pays_at(ratio) for each in cuts) / len(cuts) for ratio in RATIOS],
        "ratio": None if free else able[0].ratio,
        "paid_back": None if free else _share(cuts, lambda each: bool(each.paid_back)),
        "forced": _share(kept, lambda entry: entry[1]),
        "cold": _share(cuts, lambda each: each.live == 0),
        "truncated": _share(cuts, lambda each: each.truncated > 0),
        "lost_in_front": 1.0 - sum(each.behind for each in cuts) / broken if broken else None,
        "refetched": sum(each.refetched for each in cuts) / left if left else None,
        "reason": None if able else runs[0].reason,
    }


def _share(items: Sequence[Any], holds: Callable[[Any], bool]) -> float | None:
    return sum(map(holds, items)) / len(items) if items else None


def _middle(values: Sequence[float]) -> float | None:
    found = quartiles(values)
    return None if found is None else found[1]


def quartiles(values: Sequence[float]) -> list[float] | None:
    """Return the quartiles of *values*, linear between two of them; None if there are none."""
    if not values:
        return None
    ordered = sorted(values)
    found = []
    for share in (0.25, 0.5, 0.75):
        at = share * (len(ordered) - 1)
        low = int(at)
        high = min(low + 1, len(ordered) - 1)
        found.append(ordered[low] + (at - low) * (ordered[high] - ordered[low]))
    return found
