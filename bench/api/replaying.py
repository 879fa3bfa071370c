"""``replay``: policies against each other on recorded sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from bench.api.asked import at_least_one, with_prices, words
from bench.api.replayed import Replay
from bench.api.started import Started
from bench.beside import registry as besides
from bench.loading import load_tools
from bench.selection import REPLAYED, price_rows, select_baseline, select_policies
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.progress import Report

__all__ = ["replay"]


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

    wanted, priced = with_prices(settings, price, prices)
    labels = select_policies(REPLAYED if policies is None else policies)
    named = select_baseline(baseline, labels)
    at_least_one(jobs=jobs)
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

    started = Started()
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
        "asked": words(named, pareto, None),
        "recordings": {
            "files": [fspath(file) for file in files],
            "budget": budget,
            "relevance": None if relevance is None else fspath(relevance),
            "tools": None if tools is None else fspath(tools),
            "tokenizer": tokenizer,
            "priced": list(priced),
        },
        "recorded": finished.references,
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


def _reductions(name: str, reduced: tuple[int, int], tools: str | PathLike[str]) -> str:
    """Return the sentence that says how many results of a recording a tools file reduces."""
    from scenarios.transcripts.findings import named

    limited, over = reduced
    of = "1 result" if limited == 1 else f"{limited:,} results"
    return (
        f"{name}: {named(fspath(tools))} declares a budget for {of}, of which {over:,} "
        f"{'is' if over == 1 else 'are'} over it and reduced"
    )
