"""``evictbench explain``: why an answer was wrong, where a segment was, what a turn held."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from bench.cli import options

if TYPE_CHECKING:
    from bench.explain.cases import Loaded
    from bench.explain.explanations import Case

__all__ = ["command"]


@click.command(short_help="Say why an answer was wrong, from admission to answer.")
@click.argument("scenarios", metavar="SCENARIO|SCRIPT.json|SESSION...", nargs=-1, required=True)
@click.option(
    "-p",
    "--policy",
    "policies",
    metavar="POLICY",
    multiple=True,
    help="A policy: NAME, NAME:OPTION=VALUE,… or FILE.py:CLASS. May be repeated. With "
    "--confabulations the first eight of `evictbench list policies` if there is none.",
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
@options.settings
@options.price
@options.prices
@options.jobs
@options.format_of("table", "json", "md")
def command(
    scenarios: tuple[str, ...],
    policies: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    segment: str | None,
    query: str | None,
    turn: int | None,
    confabulations: bool,
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
    --segment, --query or --turn the wrong answers of the run are listed.

    \b
    Examples:
      What went wrong?
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
        evictbench explain session.jsonl -p compaction
    """
    from bench.cli.emit import say, warn
    from bench.explain.cases import load_all
    from bench.selection import select_policies, with_book, with_price

    asked = [name for name, given in _asked(segment, query, turn, confabulations) if given]
    _sensible(asked, policies, seed, seeds)
    specs = tuple(select_policies(policies or None).values())
    settled = with_price(with_book(settings, prices), price)
    loaded = load_all(scenarios, settled, warn, say)
    numbers = range(seeds) if seeds else range(seed or 0, (seed or 0) + 1)
    if confabulations:
        given = _given(settings, price, prices)
        return _print(_confabulations(loaded, specs, numbers, jobs, given), form, "groups")
    cases = _cases(loaded, specs, numbers, bool(asked))
    what, explain = _explainer(segment, query, turn)
    return _print({what: _each(cases, explain)}, form, what)


def _explainer(
    segment: str | None, query: str | None, turn: int | None
) -> tuple[str, Callable[[Case], dict[str, Any]]]:
    """Return what is asked for, and what explains it of a run."""
    from bench.explain import explanations
    from bench.explain.checking import Reruns

    reruns: dict[tuple[str, int], Reruns] = {}

    def answer(case: Case) -> dict[str, Any]:
        script = case.script
        same = reruns.setdefault((script.scenario, script.seed), Reruns(script))
        return explanations.of_answer(case, query or "", same)

    if query is not None:
        return "explanations", answer
    if segment is not None:
        return "segments", lambda case: explanations.of_segment(case, segment)
    if turn is not None:
        return "turns", lambda case: explanations.of_turn(case, turn)
    return "runs", explanations.wrong_answers


def _each(cases: Sequence[Case], explain: Callable[[Case], dict[str, Any]]) -> list[dict[str, Any]]:
    """Explain every run that knows what is asked for; raises InputError if none does."""
    from bench.cli.emit import warn
    from sim.errors import InputError

    found, failed = [], []
    for case in cases:
        try:
            found.append(explain(case))
        except InputError as error:
            failed.append((case, error))
    if failed and not found:
        raise failed[0][1]
    for case, why in failed:
        warn(f"{case.script.scenario} under {case.policy}: {why}")
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


def _sensible(
    asked: Sequence[str], policies: Sequence[str], seed: int | None, seeds: int | None
) -> None:
    if len(asked) > 1:
        raise click.UsageError(f"{asked[0]} and {asked[1]} ask for two things; give one of them")
    if seed is not None and seeds is not None:
        raise click.UsageError("--seed names one seed and --seeds several; give one of them")
    if not policies and asked != ["--confabulations"]:
        raise click.UsageError("missing option '-p' / '--policy'")
    if seeds is not None and asked and asked != ["--confabulations"]:
        raise click.UsageError(f"{asked[0]} looks into one run; give --seed")


def _cases(
    loaded: Sequence[Loaded], specs: Sequence[str], numbers: range, strict: bool
) -> list[Case]:
    """Return the runs; one that a policy cannot make is an error if it is *strict*."""
    from bench.cli.emit import warn
    from bench.explain.cases import case_of
    from sim.errors import InputError

    found: list[Case] = []
    for _, scenario in loaded:
        for seed in numbers if scenario.seeded else numbers[:1]:
            for spec in specs:
                try:
                    found.append(case_of(scenario, spec, seed))
                except InputError as error:
                    if strict or "cannot run" not in str(error):
                        raise
                    warn(str(error))
    return found


def _confabulations(
    loaded: Sequence[Loaded], specs: tuple[str, ...], numbers: range, jobs: int | None,
    given: Sequence[str],
) -> dict[str, Any]:  # fmt: skip
    from bench import progress
    from bench.executors import available_jobs
    from bench.explain.grouping import Task, grouped

    cells = [
        (name, scenario, seed)
        for name, scenario in loaded
        for seed in (numbers if scenario.seeded else numbers[:1])
    ]
    tasks = [Task(at, *cell, specs) for at, cell in enumerate(cells)]
    with progress.shown("explaining") as report:
        found = grouped(tasks, jobs or available_jobs(), report)
    for group in found["groups"]:
        group["command"] = _command(group["example"], given)
    return found


def _given(settings: Mapping[str, str], price: str | None, prices: str | None) -> list[str]:
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words += ["--price", price] if price else []
    return words + (["--prices", prices] if prices else [])


def _command(example: Mapping[str, Any], given: Sequence[str]) -> str:
    words = ["evictbench", "explain", example["source"], "-p", example["policy"]]
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
    drawn = {
        "explanations": explain.answer_tables,
        "segments": explain.segment_tables,
        "turns": explain.turn_tables,
        "runs": explain.list_tables,
    }[what]
    print_as([table for each in document[what] for table in drawn(each)], form)
    return 0
