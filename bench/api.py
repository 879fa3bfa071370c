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
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.loading import load_tools
from bench.runs import Plan, columns, execute
from bench.selection import (
    select_baseline,
    select_policies,
    select_prices,
    select_scenarios,
    sorted_scenarios,
    with_book,
    with_price,
)
from sim.errors import EvictbenchError, InputError
from sim.script import Arrival

if TYPE_CHECKING:
    import pandas as pd

    from bench.progress import Report
    from scenarios.scenario import Scenario

__all__ = ["SEEDS", "Comparison", "compare", "replay"]

SEEDS = 30
"""Seeds of a comparison that does not say how many."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared: *rows*, one a run; their *summary*; and the *manifest*.

    *stopped* is what ended it before its end, if anything did; the rows are then those finished.
    """

    rows: list[dict[str, Any]]
    summary: list[dict[str, Any]]
    manifest: dict[str, Any]
    stopped: KeyboardInterrupt | EvictbenchError | None = None

    @property
    def columns(self) -> list[str]:
        """Names of a row's values, in the order of every output."""
        return columns()

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

    def document(self) -> dict[str, Any]:
        """Return the parts of the JSON document."""
        return {
            "rows": self.rows,
            "summary": self.summary,
            "advice": self.advice,
            "manifest": self.manifest,
        }


def compare(
    scenarios: Iterable[str | Scenario] | None = None,
    policies: Iterable[str] | None = None,
    *,
    seeds: int = SEEDS,
    settings: Mapping[str, object] | None = None,
    price: str | Iterable[str] | None = None,
    prices: str | PathLike[str] | None = None,
    baseline: str | None = None,
    strict: bool = False,
    jobs: int = 1,
    executor: Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
    partial: bool = False,
) -> Comparison:
    """Run *policies* on the same *scenarios* and seeds 0 … *seeds* − 1, and compare them.

    A scenario is a name of the catalogue, a path to a scenario or script file, or a Scenario; a
    policy is ``NAME[:OPTION=VALUE,…]`` or ``FILE.py:CLASS``. None stands
    for all scenarios and for the policies of the seeds; the policy ``all`` for every one.
    *settings* are laid over every scenario by dotted key. *price* is a row of the price book, or
    several: everything is then run at each of them, in the order of the book, on the same scripts;
    *prices* is the file of a price book of one's own. Differences are taken to *baseline*, by
    default ``no-op`` if it is among the policies, else the first of them. *jobs* processes
    share the work (a script that asks for more than one needs ``if __name__ == "__main__":``
    around it), or *executor* does it; *report* is told (runs done, runs planned), *warn* what a
    user should know about a scenario.

    Raises InputError for anything that cannot be used, and whatever ends the work early, unless
    *partial* is set: then what was finished is returned and ``stopped`` says what ended it.
    """
    wanted, priced = _priced(settings, price, prices)
    chosen, remarks = select_scenarios(scenarios, wanted)
    plan = _plan(chosen, policies, seeds, strict, priced)
    warnings = list(dict.fromkeys(note for scenario in chosen for note in scenario.notes))
    for warning in warnings:
        warn(warning)
    found = _compare(plan, baseline, wanted, remarks, _Effort(jobs, executor, report, partial))
    found.manifest["warnings"] = warnings
    return found


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
    jobs: int = 1,
    executor: Executor | None = None,
    report: Report = lambda done, planned: None,
    warn: Callable[[str], object] = lambda warning: None,
    tell: Callable[[str], object] = lambda fact: None,
    partial: bool = False,
) -> Comparison:
    """Run *policies* on the sessions recorded in *files*, and compare them.

    *budget* is the token limit, by default what the recording suggests; *relevance* a file of
    scores that replaces those mined from the text; *tools* a tools file, by whose budgets results
    are reduced; *tokenizer* what counts its tokens. *warn* is told of every part of a recording
    that could not be used, which with *strict* is an InputError; *tell* of how many results the
    tools file reduces. The rest is as in :func:`compare`.
    """
    from scenarios import transcripts

    wanted, priced = _priced(settings, price, prices)
    warnings: list[str] = []
    notes: list[str] = []

    def heard(warning: str) -> None:
        warnings.append(warning)
        warn(warning)

    chosen = transcripts.load(
        list(files),
        budget=budget,
        settings=wanted,
        strict=strict,
        on_warning=heard,
        relevance_file=relevance,
        on_note=notes.append,
        tokenizer=tokenizer,
        declared=None if tools is None else load_tools(Path(tools), tokenizer),
    )
    plan = _plan(sorted_scenarios(chosen), policies, 1, strict, priced)
    told = [] if tools is None else [_reductions(scenario, tools) for scenario in chosen]
    for fact in told:
        tell(fact)
    effort = _Effort(jobs, executor, report, partial)
    found = _compare(plan, baseline, wanted, notes, effort)
    found.manifest["warnings"] = warnings
    if tools is not None:
        found.manifest["reductions"] = told
    return found


def _reductions(scenario: Scenario, tools: str | PathLike[str]) -> str:
    """Return the sentence that says how many results of a recording a tools file reduces."""
    arrivals = (s for s in scenario.script(0).stimuli if isinstance(s, Arrival))
    limited = [arrival for arrival in arrivals if arrival.max_result_tokens is not None]
    over = [arrival for arrival in limited if arrival.reduced_tokens is not None]
    of = "1 result" if len(limited) == 1 else f"{len(limited):,} results"
    return (
        f"{scenario.name}: {fspath(tools)} declares a budget for {of}, of which {len(over):,} "
        f"{'is' if len(over) == 1 else 'are'} over it and reduced"
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


def _plan(
    scenarios: Sequence[Scenario],
    policies: Iterable[str] | None,
    seeds: int,
    strict: bool,
    prices: tuple[str, ...],
) -> Plan:
    if seeds < 1:
        raise InputError(f"seeds must be at least 1, not {seeds}")
    return Plan(scenarios, select_policies(policies), seeds, strict, prices)


@dataclass(frozen=True, slots=True)
class _Effort:
    """By what means a plan is carried out, and who is told."""

    jobs: int
    executor: Executor | None
    report: Report
    partial: bool


def _compare(
    plan: Plan,
    baseline: str | None,
    settings: Mapping[str, object],
    remarks: Sequence[str],
    effort: _Effort,
) -> Comparison:
    from bench.manifest import describe_scenario, versions
    from bench.summary import summarise
    from sim.metrics import METRICS

    if effort.jobs < 1:
        raise InputError(f"jobs must be at least 1, not {effort.jobs}")
    named = select_baseline(baseline, plan.policies)
    described = {
        s.name: describe_scenario(s, plan.seeds_of(s), plan.prices_of(s)) for s in plan.scenarios
    }
    started, clock = datetime.now(UTC), time.monotonic()
    done = 0

    def count(runs: int) -> None:
        nonlocal done
        done += runs
        effort.report(done, plan.cells)

    count(0)
    finished = execute(plan, effort.jobs, effort.executor, count)
    if finished.stopped is not None and not effort.partial:
        raise finished.stopped
    for name in described:
        described[name]["tokens_from"] = finished.tokens_from.get(name)
    manifest = {
        **versions(),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        "scenarios": described,
        "policies": list(plan.policies),
        "prices": list(dict.fromkeys(p for s in plan.scenarios for p in plan.prices_of(s))),
        "settings": dict(settings),
        "strict": plan.strict,
        "planned": finished.planned,
        "finished": len(finished.rows),
        "notes": list(remarks),
        "started": started.isoformat(timespec="seconds"),
        "seconds": time.monotonic() - clock,
        "jobs": effort.jobs,
    }
    summary = summarise(finished.rows, METRICS, named)
    return Comparison(finished.rows, summary, manifest, finished.stopped)
