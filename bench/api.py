"""The Python interface: the command line's words, for a notebook or a script.

from bench.api import compare

found = compare(["doc-analysis"], ["naive-rewrite", "tag-or-drop"], seeds=30)
found.frame.groupby("policy")["confabulation_rate"].mean()
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.beside import registry as besides
from bench.goals import Goal, goal
from bench.loading import load_tools
from bench.precision import MOST, Precision, Width, looks, precise, precision, told, widths
from bench.runs import Finished, Plan, columns, execute
from bench.selection import (
    REPLAYED,
    price_rows,
    select_baseline,
    select_policies,
    select_prices,
    select_scenarios,
    with_book,
    with_price,
)
from sim.errors import EvictbenchError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from bench.progress import Report
    from bench.sweep.result import Sweep
    from bench.tables.parts import Table
    from bench.turns import Turns
    from scenarios.scenario import Scenario

__all__ = ["SEEDS", "Comparison", "Replay", "compare", "replay", "sweep"]

SEEDS = 30
"""Seeds of a comparison that does not say how many."""


@dataclass(frozen=True)
class Comparison:
    """What was compared: *rows*, one a run; their *summary*; and the *manifest*.

    Differences are taken to *baseline*, None for what the summary chooses. *stopped* is what ended
    it before its end, if anything did; the rows are then those finished. *pareto* says that the
    front was asked for, *goal* by what a winner was.
    """

    rows: list[dict[str, Any]]
    baseline: str | None
    manifest: dict[str, Any]
    stopped: KeyboardInterrupt | EvictbenchError | None = None
    pareto: bool = False
    turns: list[Turns | None] = field(default_factory=list)
    """The turns of each row's run, where they were asked for; see `bench.turns`."""
    goal: Goal | None = None

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """A line for each scenario, price, policy and metric; see `bench.summary`."""
        from bench.summary import summarise
        from sim.metrics import METRICS

        return summarise(self.rows, METRICS, self.baseline)

    @property
    def columns(self) -> list[str]:
        """Names of a row's values, in the order of every output."""
        return [*columns(), *besides.columns(self.beside)]

    @cached_property
    def beside(self) -> dict[str, list[dict[str, Any]]]:
        """What was asked for beside the metrics, by name; see `bench.beside`."""
        found = {name: each.lines(self.rows) for name, each in besides.measures().items()}
        return {name: lines for name, lines in found.items() if lines}

    @cached_property
    def leaders(self) -> list[dict[str, Any]]:
        """The best policy of some metrics, with those that cannot be told from it."""
        from bench.leaders import leaders

        return leaders(self.rows)

    @cached_property
    def front(self) -> list[dict[str, Any]]:
        """The Pareto front where it was asked for; see `bench.front`."""
        from bench.front import fronts

        return fronts(self.rows) if self.pareto else []

    @cached_property
    def winners(self) -> list[dict[str, Any]]:
        """Who wins each scenario and price, where a goal was given; see `bench.winner`."""
        from bench.winner import winners

        return [] if self.goal is None else winners(self.rows, self.goal)

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a data frame, one row a run."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=self.columns)

    @property
    def advice(self) -> list[dict[str, Any]]:
        """What follows for each scenario, in words with their figures; see `bench.advice`."""
        from bench.advice import advise

        scenarios = self.manifest.get("scenarios", {})
        books = {
            name: {row["name"]: row for row in facts.get("prices", ())}
            for name, facts in scenarios.items()
        }
        return advise(self.rows, books)

    def tables(self, wide: bool) -> list[Table]:
        """Return the tables for a person; *wide* spells out what is else shortened."""
        from bench.tables.comparison import comparison_tables

        *tables, notes = comparison_tables(self, wide)
        more = (*self.winner_tables(wide), *self.front_tables(wide), *self.beside_tables(wide))
        return [*tables, *more, notes]

    def winner_tables(self, wide: bool) -> list[Table]:
        """Return the tables of who wins, none where no goal was given."""
        from bench.tables.winner import winner_tables

        return [] if self.goal is None else winner_tables(self.winners, self.goal, wide)

    def front_tables(self, wide: bool) -> list[Table]:
        """Return the tables of the Pareto front, none where it was not asked for."""
        from bench.tables.front import front_tables

        return front_tables(self.front, wide) if self.pareto else []

    def beside_tables(self, wide: bool) -> list[Table]:
        """Return the tables of what was asked for beside the metrics."""
        known = besides.measures()
        return [t for name, lines in self.beside.items() for t in known[name].tables(lines, wide)]

    def document(self) -> dict[str, Any]:
        """Return the parts of the JSON document, each a list, a table or an iterator."""
        from bench.summary import summary_lines
        from sim.metrics import METRICS

        return {
            "rows": self.rows,
            "summary": summary_lines(self.rows, METRICS, self.baseline),
            **self.beside,
            "leaders": self.leaders,
            **({"front": self.front} if self.pareto else {}),
            **({} if self.goal is None else {"winners": self.winners}),
            "advice": self.advice,
            "manifest": self.manifest,
        }


@dataclass(frozen=True)
class Replay(Comparison):
    """A comparison on recorded sessions, with what the recording itself came to.

    *recorded* has, by session, what `bench.replays.reference` says; *what_if* a row for each
    session, price and policy, and *pooled* a line over the sessions, as `bench.replays.what_if`.
    """

    recorded: dict[str, dict[str, Any]] = field(default_factory=dict)
    what_if: list[dict[str, Any]] = field(default_factory=list)
    pooled: list[dict[str, Any]] = field(default_factory=list)

    @cached_property
    def front(self) -> list[dict[str, Any]]:
        """The Pareto front where it was asked for, over all sessions if there are several."""
        from bench.front import fronts, pooled_fronts

        if not self.pareto:
            return []
        return (pooled_fronts if len(self.recorded) > 1 else fronts)(self.rows)

    def tables(self, wide: bool) -> list[Table]:
        """Return the tables for a person; *wide* spells out what is else shortened."""
        from bench.tables.replay import replay_tables

        return replay_tables(self, wide)

    def document(self) -> dict[str, Any]:
        """Return the parts of the JSON document."""
        document = super().document()
        more = {"recorded": self.recorded, "what_if": self.what_if, "pooled": self.pooled}
        return {**document, **more}


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
    for all scenarios and for the policies of the seeds; the policy ``all`` for every one.
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
    wanted, priced = _priced(settings, price, prices)
    chosen, remarks = _scenarios(scenarios, wanted)
    until = None if until_ci is None else precision(until_ci)
    if until is not None and not any(scenario.seeded for scenario in chosen):
        raise InputError("--until-ci needs a scenario that has seeds; a story is run once")
    most = (SEEDS if until is None else MOST) if seeds is None else seeds
    plan = _plan(chosen, policies, most, strict, priced, besides.chosen(beside), turns)
    warnings = list(dict.fromkeys(note for scenario in chosen for note in scenario.notes))
    for warning in warnings:
        warn(warning)
    effort = _Effort(jobs, executor, report, partial)
    found = _compare(plan, baseline, wanted, remarks, effort, until)
    found.manifest["warnings"] = warnings
    return replace(found, pareto=pareto, goal=asked)


def replay(
    files: Sequence[str | PathLike[str]],
    policies: Iterable[str] | None = None,
    *,
    budget: int | None = None,
    settings: Mapping[str, object] | None = None,
    price: str | Iterable[str] | None = None,
    prices: str | PathLike[str] | None = None,
    relevance: str | PathLike[str] | None = None,
    tools: str | PathLike[str] | None = None,
    tokenizer: str | None = None,
    baseline: str | None = None,
    strict: bool = False,
    beside: Iterable[str] = (),
    pareto: bool = False,
    turns: bool = False,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
    tell: Callable[[str], object] = lambda fact: None,
    partial: bool = False,
) -> Replay:
    """Run *policies* on the sessions recorded in *files*, and compare them.

    *budget* is the token limit, by default what the recording suggests; *relevance* a file of
    scores that replaces those mined from the text; *tools* a tools file, by whose budgets results
    are reduced; *tokenizer* what counts its tokens. *warn* is told of every part of a recording
    that could not be used, which with *strict* is an InputError; the manifest has them in the order
    of the sessions. *tell* is told how many results the tools file reduces. The rest is as in
    :func:`compare`.
    """
    from bench import replays
    from bench.replays.what_if import pooled, what_if
    from scenarios.transcripts.loading import Reading
    from scenarios.transcripts.sources import find

    wanted, priced = _priced(settings, price, prices)
    labels = select_policies(REPLAYED if policies is None else policies)
    named = select_baseline(baseline, labels)
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    more = besides.chosen(beside)
    declared = None if tools is None else load_tools(Path(tools), tokenizer)
    reading = Reading.of(
        budget,
        wanted,
        relevance,
        strict=strict,
        tokenizer=tokenizer,
        declared=declared,
        rows=None if priced else price_rows(wanted),
    )
    passed: list[str] = []

    def pass_over(warning: str) -> None:
        passed.append(warning)
        warn(warning)

    started = _Started()
    sources = find(files, strict, pass_over)
    order = replays.Order(sources, reading, labels, priced, more, turns)
    finished = replays.execute(order, jobs, executor, report, warn)
    if finished.stopped is not None and not partial:
        raise finished.stopped
    if finished.stopped is None and not finished.rows:
        raise InputError("no model call is recorded in any of the files")
    manifest = {
        **started.manifest(finished.described, labels, wanted, strict, finished.workers, executor),
        "planned": finished.planned,
        "finished": len(finished.rows),
        "notes": finished.notes,
        "warnings": [*passed, *finished.warnings],
    }
    if tools is not None:
        told = [_reductions(name, each, tools) for name, each in finished.reduced.items()]
        manifest["reductions"] = told
        for fact in told:
            tell(fact)
    rows = what_if(finished)
    return Replay(
        finished.rows,
        named,
        manifest,
        finished.stopped,
        pareto,
        turns=finished.turns,
        recorded=finished.references,
        what_if=rows,
        pooled=pooled(rows),
    )


def sweep(
    scenario: str,
    policies: Iterable[str] | None,
    vary: Iterable[str],
    *,
    design: str = "grid",
    points: int | None = None,
    seeds: int = SEEDS,
    settings: Mapping[str, object] | None = None,
    price: str | None = None,
    prices: str | PathLike[str] | None = None,
    baseline: str | None = None,
    require: Iterable[str] = (),
    minimise: str | None = None,
    maximise: str | None = None,
    beside: Iterable[str] = (),
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    strict: bool = False,
    jobs: int = 1,
    executor: str | Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
    partial: bool = False,
) -> Sweep:
    """Run *policies* on *scenario*, a name or path, at every setting of the keys in *vary*.

    *vary* are texts as of the command line: ``KEY=START:STOP:COUNT``, ``KEY=A,B,C``; *design* is
    ``grid``, ``sobol`` or ``lhs``, the latter two of *points* settings. *out* is a folder in which
    every run is kept as soon as it is finished; *resume* goes on with the sweep there. The rest is
    as in :func:`compare`.
    """
    from bench.redacting import refuse_recordings
    from bench.sweep.plan import plan
    from bench.sweep.sweep import carry_out

    wanted, _ = _priced(settings, price, prices)
    if seeds < 1:
        raise InputError(f"seeds must be at least 1, not {seeds}")
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    try:
        made = plan(
            *(scenario, policies, vary),
            settings=wanted,
            seeds=seeds,
            design=design,
            count=points,
            strict=strict,
            beside=besides.chosen(beside),
        )
    except InputError:
        refuse_recordings([scenario])
        raise
    found = carry_out(
        made,
        scenario,
        command=_command(but="--resume"),
        settings=wanted,
        baseline=baseline,
        goal=goal(require, minimise, maximise),
        folder=None if out is None else Path(out),
        resume=resume,
        jobs=jobs,
        executor=executor,
        report=report,
        warn=warn,
    )
    if found.stopped is not None and not partial:
        raise found.stopped
    return found


def _reductions(name: str, reduced: tuple[int, int], tools: str | PathLike[str]) -> str:
    """Return the sentence that says how many results of a recording a tools file reduces."""
    from scenarios.transcripts.findings import named

    limited, over = reduced
    of = "1 result" if limited == 1 else f"{limited:,} results"
    return (
        f"{name}: {named(fspath(tools))} declares a budget for {of}, of which {over:,} "
        f"{'is' if over == 1 else 'are'} over it and reduced"
    )


def _priced(
    settings: Mapping[str, object] | None,
    price: str | Iterable[str] | None,
    book: str | PathLike[str] | None,
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return the settings to lay over scenarios, one price among them, and all prices wanted."""
    wanted = with_book(settings or {}, book)
    prices = select_prices(price, wanted)
    return with_price(wanted, prices[0] if len(prices) == 1 else None), prices


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


def _plan(
    scenarios: Sequence[Scenario],
    policies: Iterable[str] | None,
    seeds: int,
    strict: bool,
    prices: tuple[str, ...],
    beside: tuple[str, ...],
    turns: bool,
) -> Plan:
    if seeds < 1:
        raise InputError(f"seeds must be at least 1, not {seeds}")
    return Plan(scenarios, select_policies(policies), seeds, strict, prices, beside, turns)


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

    if effort.jobs < 1:
        raise InputError(f"jobs must be at least 1, not {effort.jobs}")
    named = select_baseline(baseline, plan.policies)
    described = {
        s.name: describe_scenario(s, plan.seeds_of(s), plan.prices_of(s)) for s in plan.scenarios
    }
    started = _Started()
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
    return Comparison(finished.rows, named, manifest, finished.stopped, turns=finished.turns)


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


def _command(but: str | None = None) -> str:
    """Return the command line of this process, without the program's folder and the word *but*."""
    program = Path(sys.argv[0]).name
    start = ["python", "-m", "bench"] if program == "__main__.py" else [program]
    return shlex.join([*start, *(word for word in sys.argv[1:] if word != but)])


class _Started:
    """When the work began, for its manifest."""

    def __init__(self) -> None:
        self._when, self._clock = datetime.now(UTC), time.monotonic()

    def manifest(
        self,
        described: Mapping[str, Mapping[str, Any]],
        policies: Iterable[str],
        settings: Mapping[str, object],
        strict: bool,
        jobs: int,
        executor: str | Executor | None,
    ) -> dict[str, Any]:
        """Return what the manifest of every comparison holds.

        What two equal comparisons may differ in stands under ``effort`` alone.
        """
        from bench.manifest import versions

        named = "processes" if executor is None else executor
        prices = [row["name"] for facts in described.values() for row in facts["prices"]]
        return {
            **versions(),
            "scenarios": described,
            "policies": list(policies),
            "prices": list(dict.fromkeys(prices)),
            "settings": dict(settings),
            "strict": strict,
            "effort": {
                "command": _command(),
                "started": self._when.isoformat(timespec="seconds"),
                "seconds": time.monotonic() - self._clock,
                "executor": named if isinstance(named, str) else type(named).__name__,
                "jobs": jobs,
            },
        }
