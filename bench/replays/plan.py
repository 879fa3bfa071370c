"""Replays carried out: one recorded session at a time, by as many workers as there are.

A task is a source, which a worker reads itself, under some of the policies; where there are fewer
sources than workers, the policies of one are shared out. Rows come back in the order of the plan.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from bench.executors import InProcess, Workers, opened, scatter
from bench.kit import Kit
from bench.replays.facts import facts
from bench.replays.reference import reference
from bench.runs import Result, Unit, check_digests, run_unit, stimuli_of
from bench.stamps import Stamps, differs, stamp
from sim.errors import EvictbenchError, InputError

if TYPE_CHECKING:
    from bench.turns import Turns
    from scenarios.scenario import Scenario
    from scenarios.transcripts.loading import Reading
    from scenarios.transcripts.sources import Source

__all__ = ["Finished", "Order", "execute"]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be replayed: the *sources*, how they are read, and under what.

    *policies* are specs by label, in the order of the output; without *prices*, a session is
    replayed at its own.
    """

    sources: Sequence[Source]
    reading: Reading
    policies: Mapping[str, str]
    prices: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    """The measures of ``bench.beside`` that each row gets besides the metrics."""
    turns: bool = False
    """Whether what each turn came to is kept, too."""

    @property
    def cells(self) -> int:
        """Runs of one session."""
        return len(self.policies) * max(1, len(self.prices))


@dataclass(frozen=True, slots=True)
class _Task:
    number: int
    source: Source
    reading: Reading
    policies: tuple[tuple[str, str], ...]
    prices: tuple[str, ...]
    beside: tuple[str, ...]
    turns: bool
    lead: bool
    """Whether it is the task of its source that tells what was found in it."""
    files: Stamps
    """The files of the source, where they may be others than those that were found."""


@dataclass(frozen=True, slots=True)
class _Played:
    """What one task found in one session."""

    name: str
    described: Mapping[str, Any]
    reference: Mapping[str, Any]
    results: list[Result]
    reduced: tuple[int, int]


@dataclass(slots=True)
class Finished:
    """The sessions of an order, in order; those that were finished if something *stopped* it.

    *described* and *references* are by name; *seen* has, row by row, what `bench.replays.facts`
    makes of its records, *turns* those of its run where they were asked for; *reduced* is how many
    results had a budget, and how many were over it.
    """

    planned: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    seen: list[dict[str, Any] | None] = field(default_factory=list)
    turns: list[Turns | None] = field(default_factory=list)
    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    references: dict[str, dict[str, Any]] = field(default_factory=dict)
    reduced: dict[str, tuple[int, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: KeyboardInterrupt | EvictbenchError | None = None
    workers: int = 0
    """Tasks that were done at a time."""


def execute(
    order: Order,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Callable[[int, int], object] = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
) -> Finished:
    """Replay *order* in *jobs* processes, or by *executor*, and return what was finished.

    *executor* is as `bench.executors.opened` takes it; what works elsewhere must have the same
    recordings at the same paths. *report* is told the runs done and planned, *warn* what in a
    recording could not be used, as soon as its source has been read. What stops the work early is
    in the answer: an interrupt, an InputError for a recording that cannot be used, an
    EvictbenchError if a policy broke.
    """
    gathered = _Gathered(order, report, warn)
    try:
        with opened(executor, jobs, lambda: _kit(order)) as workers:
            gathered.workers = workers.count
            tasks = list(_tasks(order, workers))
            gathered.expect(len(tasks))
            if isinstance(workers.executor, InProcess):
                for task in tasks:
                    gathered.take(task, _play(task, gathered.count))
            else:
                for task, found in scatter(workers, _work, tasks, kind=_size_of):
                    gathered.take(task, found)
    except (KeyboardInterrupt, EvictbenchError) as error:
        gathered.stopped = error
    return gathered.finish()


def _kit(order: Order) -> Kit:
    return Kit.of(order.policies.values(), [order.reading.given])


def _tasks(order: Order, workers: Workers) -> Iterator[_Task]:
    policies, jobs = list(order.policies.items()), workers.count
    shares = max(1, min(len(policies), ceil(jobs / len(order.sources)))) if jobs > 1 else 1
    size = ceil(len(policies) / shares)
    for number, source in enumerate(order.sources):
        files = stamp(map(str, source.files)) if workers.remote else ()
        for start in range(0, len(policies), size):
            mine = tuple(policies[start : start + size])
            told = order.prices, order.beside, order.turns
            yield _Task(number, source, order.reading, mine, *told, start == 0, files)


_Found = tuple[list[_Played], list[str], list[str]]


def _size_of(task: _Task) -> int:
    """Return the size of what a task reads, to the power of two that is above its bytes."""
    return sum(file.stat().st_size for file in task.source.files if file.exists()).bit_length()


def _work(task: _Task) -> tuple[_Task, _Found]:
    lacking = differs(task.files)
    if lacking is not None:
        raise InputError(f"the worker on {platform.node()} {lacking}")
    return task, _play(task, lambda runs: None)


def _play(task: _Task, count: Callable[[int], object]) -> _Found:
    from scenarios.transcripts.loading import scenarios_of

    warnings: list[str] = []
    notes: list[str] = []
    played = []
    for scenario in scenarios_of(task.source, task.reading, warnings.append, notes.append):
        played.append(_session(scenario, task))
        count(len(played[-1].results))
    return played, warnings, notes


def _session(scenario: Scenario, task: _Task) -> _Played:
    from bench.manifest import describe_scenario

    prices = task.prices or (scenario.settings["price"],)
    described = describe_scenario(scenario, range(1), prices)
    cells = tuple((price, label, spec) for price in prices for label, spec in task.policies)
    unit = Unit(scenario, 0, cells, task.reading.strict, facts, task.beside, task.turns)
    results = list(run_unit(unit))
    check_digests(results)
    told = reference(scenario, task.source.format, prices) if task.lead else {}
    return _Played(scenario.name, described, told, results, _reduced(scenario))


def _reduced(scenario: Scenario) -> tuple[int, int]:
    from sim.script import Arrival

    arrivals = (s for s in scenario.script(0).stimuli if isinstance(s, Arrival))
    limited = [arrival for arrival in arrivals if arrival.max_result_tokens is not None]
    return len(limited), sum(arrival.reduced_tokens is not None for arrival in limited)


class _Gathered:
    """Puts what tasks find in order, however they come back."""

    def __init__(
        self,
        order: Order,
        report: Callable[[int, int], object],
        warn: Callable[[str], object],
    ) -> None:
        self.stopped: KeyboardInterrupt | EvictbenchError | None = None
        self._order = order
        self._report, self._warn = report, warn
        self._found: list[list[_Found]] = [[] for _ in order.sources]
        self._heard: dict[int, list[str]] = {}
        self._next = 0
        """The source whose warnings are told next."""
        self.workers = 0
        self._left, self._each = 0, 0.0
        self._done = self._counted = 0

    def expect(self, tasks: int) -> None:
        """Take in how many *tasks* there are."""
        self._left = tasks
        self._each = self._order.cells * len(self._order.sources) / max(1, tasks)
        self._report(0, round(self._each * self._left))

    def count(self, runs: int) -> None:
        """Take in that *runs* more have ended, of a task that goes on."""
        self._done += runs
        self._counted += runs
        self._report(self._done, max(self._done, round(self._done + self._each * self._left)))

    def take(self, task: _Task, found: _Found) -> None:
        """Take in what *task* found."""
        self._found[task.number].append(found)
        self._left -= 1
        self._done += sum(len(played.results) for played in found[0]) - self._counted
        self._counted = 0
        self._report(self._done, round(self._done + self._each * self._left))
        if task.lead:
            self._heard[task.number] = found[1]
            self._tell()

    def _tell(self) -> None:
        """Tell what was heard of sources whose turn it is: those before them have been told."""
        while self._next in self._heard:
            for warning in self._heard.pop(self._next):
                self._warn(warning)
            self._next += 1

    def finish(self) -> Finished:
        """Return everything, in the order of the plan; a name that comes twice is numbered."""
        for number in sorted(self._heard):  # work that was stopped leaves gaps
            for warning in self._heard.pop(number):
                self._warn(warning)
        planned = self._done + round(self._each * self._left)
        finished = Finished(planned, stopped=self.stopped, workers=self.workers)
        labels = {label: place for place, label in enumerate(self._order.policies)}
        for found in self._found:
            told: dict[str, None] = {}
            for played, warnings, notes in found:
                told.update(dict.fromkeys(warnings))
                finished.notes += [note for note in notes if note not in finished.notes[-99:]]
                for each in played:
                    finished.described.setdefault(each.name, dict(each.described))
                    finished.reduced[each.name] = each.reduced
                    if each.reference:
                        finished.references[each.name] = dict(each.reference)
            finished.warnings += told
            self._rows(found, labels, finished)
        return finished

    def _rows(self, found: list[_Found], labels: Mapping[str, int], finished: Finished) -> None:
        names: dict[str, list[Result]] = {}
        for played, _, _ in found:
            for each in played:
                names.setdefault(each.name, []).extend(each.results)
        for name, results in names.items():
            prices = finished.described[name]["prices"]
            place = {row["name"]: number for number, row in enumerate(prices)}
            results.sort(key=lambda r: (place[r.row["price"]], labels[r.row["policy"]]))
            check_digests(results)
            finished.rows += [result.row for result in results]
            finished.seen += [result.seen for result in results]
            if self._order.turns:
                finished.turns += [result.turns for result in results]
            finished.described[name]["tokens_from"] = results[0].tokens_from
            finished.described[name]["stimuli"] = stimuli_of(results).get(name, {})
