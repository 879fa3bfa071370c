"""``evictbench explain``: why an answer was wrong, where a segment was, what a turn held."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from bench.cli import options

if TYPE_CHECKING:
    from bench.explain.cases import Planned
    from bench.explain.choosing import Question
    from bench.explain.explanations import Case
    from bench.explain.grouping import Task

__all__ = ["command"]


@click.command(short_help="Say why an answer was wrong, from admission to answer.")
@click.argument("scenarios", metavar="SCENARIO|SCRIPT.json|SESSION...", nargs=-1, required=True)
@click.option(
    "-p",
    "--policy",
    "policies",
    metavar="POLICY",
    multiple=True,
    help="A policy: NAME, NAME:OPTION=VALUE,… or FILE.py:CLASS. May be repeated; `own`, "
    "`field` and `all` stand for several. Without it those that `compare`, or of a session "
    "`replay`, takes without it; with "
    "--query, --segment or --turn the first of them under which there is something to explain.",
)
@click.option(
    "--session",
    "sessions",
    metavar="NAME",
    multiple=True,
    help="Of a recording or folder of several sessions, that one alone. May be repeated.",
)
@click.option("--seed", type=options.Whole(min=0), metavar="N", help="[default: 0]")
@click.option(
    "--seeds", type=options.Whole(min=1), metavar="N", help="Seeds 0 to N - 1; a story is run once."
)
@click.option("--segment", metavar="ID", help="Where that segment was at every turn, and why.")
@click.option("--query", metavar="ID", help="The chain of that query or act.")
@click.option(
    "--turn", type=options.Whole(min=1), metavar="N", help="What that turn's window held, and why."
)
@click.option(
    "--confabulations", is_flag=True, help="All wrong answers of all runs, grouped by their cause."
)
@click.option(
    "--budget",
    type=options.Whole(min=1),
    metavar="N",
    help="The window's limit in tokens. [default: the scenario's, or what the recording suggests]",
)
@options.settings
@options.price
@options.prices
@options.jobs
@options.format_of("table", "json", "md")
def command(
    scenarios: tuple[str, ...],
    policies: tuple[str, ...],
    sessions: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    segment: str | None,
    query: str | None,
    turn: int | None,
    confabulations: bool,
    budget: int | None,
    settings: dict[str, str],
    price: str | None,
    prices: str | None,
    jobs: int | None,
    form: str,
) -> int:
    """Explain a run from its event records: why an answer was wrong, where a segment was.

    The chain of a wrong answer goes from the admission of what would have answered it to the
    answer. The decision that made it inevitable is marked, and the rule against it is checked: the
    same script is run under that rule, and what came of the same question is said. Without
    --segment, --query or --turn the wrong answers of each run are listed.

    \b
    Examples:
      What goes wrong, policy by policy?
        evictbench explain threshold-drift
      What went wrong under one?
        evictbench explain threshold-drift -p naive-rewrite
      Why was 3000 answered?
        evictbench explain threshold-drift -p naive-rewrite --query timeout-value
      Where was the table of rate limits, and why did it not come back?
        evictbench explain rate-limit-table -p slack-swap-refuse --segment table
      What did the window hold at turn 12?
        evictbench explain rate-limit-table -p slack-swap-refuse --turn 12
      What do the policies get wrong, by cause?
        evictbench explain doc-analysis coding-agent --confabulations --seeds 10
      Your own session:
        evictbench explain session.jsonl -p compaction --budget 60000
      One of many:
        evictbench explain recordings/ --session bugfix -p tiered --query query-4
    """
    from bench.cli.emit import say, warn
    from bench.explain.cases import load_all, planned
    from bench.selection import with_book, with_price

    asked = [name for name, given in _asked(segment, query, turn, confabulations) if given]
    _sensible(asked, seed, seeds)
    settled = with_price(with_book(settings, prices), price)
    one = "" if not asked or confabulations else asked[0]
    found = load_all(scenarios, settled, warn, say, budget=budget, sessions=sessions, asked=one)
    numbers = range(seeds) if seeds else range(seed or 0, (seed or 0) + 1)
    plan = planned(found, policies, numbers[0], warn)
    if confabulations:
        given = _given(settings, budget, price, prices)
        return _print(_confabulations(plan, numbers, jobs, given), form, "groups")
    if not asked:
        return _print({"runs": _listed(plan, numbers, jobs)}, form, "runs")
    question = _question(segment, query, turn)
    what, explain = _explainer(question)
    cases = _cases(plan, numbers[0], None if policies else question)
    return _print({what: _each(cases, explain)}, form, what)


def _question(segment: str | None, query: str | None, turn: int | None) -> Question:
    from bench.explain.choosing import Question

    if query is not None:
        return Question("query", query)
    return Question("turn", turn or 0) if segment is None else Question("segment", segment)


def _explainer(question: Question) -> tuple[str, Callable[[Case], dict[str, Any]]]:
    """Return what is asked for, and what explains it of a run."""
    from bench.explain import explanations
    from bench.explain.checking import Reruns

    reruns: dict[str, Reruns] = {}

    def answer(case: Case) -> dict[str, Any]:
        same = reruns.setdefault(case.script.digest(), Reruns(case.script))
        return explanations.of_answer(case, str(question.about), same)

    if question.what == "query":
        return "explanations", answer
    if question.what == "segment":
        return "segments", lambda case: explanations.of_segment(case, str(question.about))
    return "turns", lambda case: explanations.of_turn(case, int(question.about))


def _each(cases: Iterable[Case], explain: Callable[[Case], dict[str, Any]]) -> list[dict[str, Any]]:
    """Explain every run that knows what is asked for; raises InputError if none does."""
    from bench.cli.emit import warn
    from sim.errors import InputError

    found, failed = [], []
    for case in cases:
        try:
            found.append(explain(case))
        except InputError as error:
            failed.append((f"{case.script.scenario} under {case.policy}", error))
    if failed and not found:
        raise failed[0][1]
    for run, why in failed:
        warn(f"{run}: {why}")
    return found


def _asked(
    segment: str | None, query: str | None, turn: int | None, confabulations: bool
) -> list[tuple[str, bool]]:
    return [
        ("--segment", segment is not None),
        ("--query", query is not None),
        ("--turn", turn is not None),
        ("--confabulations", confabulations),
    ]


def _sensible(asked: Sequence[str], seed: int | None, seeds: int | None) -> None:
    if len(asked) > 1:
        raise click.UsageError(f"{asked[0]} and {asked[1]} ask for two things; give one of them")
    if seed is not None and seeds is not None:
        raise click.UsageError("--seed names one seed and --seeds several; give one of them")
    if seeds is not None and asked and asked != ["--confabulations"]:
        raise click.UsageError(f"{asked[0]} looks into one run; give --seed")


def _cases(plan: Sequence[Planned], seed: int, question: Question | None) -> Iterator[Case]:
    """Yield the runs; with a *question* the first of each scenario in which it finds something."""
    from bench.cli.emit import say
    from bench.explain.cases import case_of
    from bench.explain.choosing import chosen

    for each in plan:
        scenario = each.loaded.scenario
        if question is not None:
            yield chosen(scenario, each.policies, seed, question, say)
            continue
        for policy in each.policies:
            yield case_of(scenario, policy, seed)


def _tasks(plan: Sequence[Planned], numbers: range) -> list[Task]:
    from bench.explain.grouping import Task

    cells = [(each, seed) for each in plan for seed in each.seeds(numbers)]
    return [
        Task(at, each.loaded.source, each.loaded.scenario, seed, each.policies)
        for at, (each, seed) in enumerate(cells)
    ]


def _listed(plan: Sequence[Planned], numbers: range, jobs: int | None) -> list[dict[str, Any]]:
    from bench import progress
    from bench.executors import available_jobs
    from bench.explain.listed import listed

    with progress.shown("explaining") as report:
        return listed(_tasks(plan, numbers), jobs or available_jobs(), report)


def _confabulations(
    plan: Sequence[Planned], numbers: range, jobs: int | None, given: Sequence[str]
) -> dict[str, Any]:
    from bench import progress
    from bench.executors import available_jobs
    from bench.explain.grouping import grouped

    with progress.shown("explaining") as report:
        found = grouped(_tasks(plan, numbers), jobs or available_jobs(), report)
    recorded = {each.loaded.source for each in plan if each.loaded.recorded}
    for group in found["groups"]:
        example = group["example"]
        group["command"] = _command(example, given, example["source"] in recorded)
    return found


def _given(
    settings: Mapping[str, str], budget: int | None, price: str | None, prices: str | None
) -> list[str]:
    words = [] if budget is None else ["--budget", str(budget)]
    words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words += ["--price", price] if price else []
    return words + (["--prices", prices] if prices else [])


def _command(example: Mapping[str, Any], given: Sequence[str], recorded: bool) -> str:
    words = ["evictbench", "explain", example["source"]]
    words += ["--session", example["scenario"]] if recorded else []
    words += ["-p", example["policy"]]
    words += ["--seed", str(example["seed"])] if example["seed"] else []
    return shlex.join([*words, *given, "--query", example["id"]])


def _print(document: dict[str, Any], form: str, what: str) -> int:
    """Print *document* as *form*; what it holds under *what* says which tables it has."""
    if form == "json":
        from bench.output import json_document

        click.echo(json_document(document), nl=False)
        return 0
    from bench.cli.emit import print_as
    from bench.tables import explain

    if what == "groups":
        print_as(list(explain.group_tables(document)), form)
        return 0
    if what == "runs":
        print_as(list(explain.list_tables(document["runs"])), form)
        return 0
    drawn = {
        "explanations": explain.answer_tables,
        "segments": explain.segment_tables,
        "turns": explain.turn_tables,
    }[what]
    print_as([table for each in document[what] for table in drawn(each)], form)
    return 0
