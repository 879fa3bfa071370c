"""``evictbench run``: one scenario under one policy, with every figure and every event."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]


@click.command()
@click.argument("scenario", metavar="SCENARIO|SCRIPT.json")
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    required=True,
    help="The policy: NAME, NAME:OPTION=VALUE,… or FILE.py:CLASS.",
)
@click.option("--seed", type=options.Whole(min=0), default=0, metavar="N", help="[default: 0]")
@options.settings
@options.price
@options.prices
@click.option(
    "--events",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.jsonl",
    help="Write the event records there, one JSON object a line.",
)
@click.option(
    "--write-script",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.json",
    help="Write the script of the run there, which `run` reads back.",
)
@options.strict
@options.format_of("table", "json")
def command(
    scenario: str,
    policy: str,
    seed: int,
    settings: dict[str, str],
    price: str | None,
    prices: str | None,
    events: Path | None,
    write_script: Path | None,
    strict: bool,
    form: str,
) -> int:
    """Run one scenario, or a script, under one policy and show every figure of it.

    \b
    Examples:
      Why did the base class go missing?
        evictbench run signature-change -p naive-trim
      The same story, flipped:
        evictbench run rate-limit-table/small-dump -p slack-swap-refuse
      Everything that happened, one JSON object an event:
        evictbench run coding-agent -p tiered --seed 3 --events events.jsonl
      What did each eviction cost, and did it pay back?
        evictbench run coding-agent -p tiered --price claude-fable-5.1
      A script as a file, and back:
        evictbench run stale-file -p tiered --write-script stale.json
        evictbench run stale.json -p tiered
    """
    from bench.cells import run_one
    from bench.cli.codes import STRICT
    from bench.cli.emit import print_as, warn
    from bench.costs import by_cause, by_turn, passes_of
    from bench.loading import load
    from bench.output import json_document, json_lines
    from bench.results import write_text
    from bench.selection import with_book, with_price
    from sim.records import to_dicts
    from sim.script import script_to_json

    loaded = load(scenario, with_price(with_book(settings, prices), price))
    for note in loaded.notes:
        warn(note)
    script = loaded.script(seed)
    if write_script is not None:
        write_text(write_script, json_document(script_to_json(script), exact=True))
    metrics, records = run_one(script, policy, strict)
    happened = list(to_dicts(records))
    if events is not None:
        write_text(events, "".join(f"{line}\n" for line in json_lines(happened)))
    views = (by_cause(records), by_turn(records), passes_of(records))
    if form == "json":
        costs = dict(zip(("by_cause", "by_turn", "passes"), views, strict=True))
        document = {"metrics": metrics, "events": happened, "costs": costs}
        click.echo(json_document(document), nl=False)
    else:
        from bench.tables.costs import cost_tables
        from bench.tables.run import run_tables

        print_as([*run_tables(script, policy, metrics, happened), *cost_tables(*views)], "table")
    return STRICT if strict and metrics["policy_bugs"] else 0
