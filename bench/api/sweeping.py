"""``sweep``: the same policies on the same seeds at many settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bench.api.asked import SEEDS, at_least_one, with_prices
from bench.api.started import command_line
from bench.beside import registry as besides
from bench.goals import goal
from bench.runs import check_runs
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.progress import Report
    from bench.sweep.result import Sweep

__all__ = ["sweep"]


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
    turns: bool = False,
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
    every run is kept as soon as it is finished, and *turns* are written there at the end, not held;
    *resume* goes on with the sweep there. The rest is as in :func:`compare`.
    """
    from bench.redacting import refuse_recordings
    from bench.sweep.plan import plan
    from bench.sweep.sweep import carry_out

    wanted, _ = with_prices(settings, price, prices)
    at_least_one(seeds=seeds, jobs=jobs)
    check_runs(seeds)
    try:
        made = plan(
            *(scenario, policies, vary),
            settings=wanted,
            seeds=seeds,
            design=design,
            count=points,
            strict=strict,
            beside=besides.chosen(beside),
            turns=turns,
        )
    except InputError:
        refuse_recordings([scenario])
        raise
    found = carry_out(
        made,
        scenario,
        command=command_line(but="--resume"),
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
