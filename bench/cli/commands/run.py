"""``evictbench run``: one scenario under one policy, with every figure and every event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli import options

if TYPE_CHECKING:
    from scenarios.scenario import Scenario
    from sim.script import Script

__all__ = ["command"]


def _show_schema(ctx: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from bench.export.schema import schema_text

        click.echo(schema_text(), nl=False)
        ctx.exit()


@click.command(short_help="Run one scenario or script; show every figure.")
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
    "--events-schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Print the JSON Schema of an event record, and exit.",
)
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.json",
    help="Write the run as a trace there, which Perfetto (ui.perfetto.dev) opens.",
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
    trace: Path | None,
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
      On a time line: calls, tools, what the window held, what left it?
        evictbench run coding-agent -p tiered --trace trace.json
      What did each eviction cost, and did it pay back?
        evictbench run coding-agent -p tiered --price claude-fable-5.1
      Eight agents on one server, and how long they queued?
        evictbench run coding-agent -p tiered --price vllm --set agents=8
      A script as a file, and back:
        evictbench run stale-file -p tiered --write-script stale.json
        evictbench run stale.json -p tiered
    """
    from bench.cli.codes import STRICT
    from bench.cli.emit import print_as, warn
    from bench.fleets import one_agent, scripts_of
    from bench.output import json_document, json_lines
    from bench.redacting import refuse_overwriting
    from bench.results import write_text
    from bench.selection import with_book, with_price

    inputs = _inputs([scenario, policy, prices], settings.get("tool_logs"))
    _check_apart({"--events": events, "--trace": trace, "--write-script": write_script})
    for output in (events, trace):
        if output is not None:
            refuse_overwriting(output, inputs)
    loaded = _load(scenario, with_price(with_book(settings, prices), price))
    for note in loaded.notes:
        warn(note)
    if write_script is not None:
        one_agent([loaded], "--write-script")
    scripts = scripts_of(loaded, seed)
    if write_script is not None:
        _write_script(write_script, scripts[0], inputs)
    document = (_alone if len(scripts) == 1 else _fleet)(scripts, policy, strict)
    metrics, happened = document["metrics"], document["events"]
    if events is not None:
        write_text(events, "".join(f"{line}\n" for line in json_lines(happened)))
    if trace is not None:
        from bench.export.trace import trace as traced

        write_text(trace, json_document(traced(happened, scripts)))
    if form == "json":
        click.echo(json_document(document), nl=False)
    else:
        from bench.tables.costs import cost_tables
        from bench.tables.run import run_tables

        words = [scenario, "-p", policy, *(["--seed", str(seed)] if seed else [])]
        words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        words += [*(["--price", price] if price else []), *(["--prices", prices] if prices else [])]
        server = document.get("server")
        tables = run_tables(scripts[0], policy, metrics, happened, server, words)
        print_as([*tables, *cost_tables(*document["costs"].values())], "table")
    return STRICT if strict and metrics["policy_bugs"] else 0


def _load(name: str, settings: Mapping[str, object]) -> Scenario:
    from bench.loading import load
    from bench.redacting import refuse_recordings
    from sim.errors import InputError

    try:
        return load(name, settings)
    except InputError:
        refuse_recordings([name])
        raise


def _inputs(words: Sequence[str | None], logs: str | None) -> list[Path]:
    """Return the files that *words* name, with flips or classes behind them, and the *logs*."""
    heads = [
        head + mark
        for word in words
        for end in (".toml", ".json", ".py")
        for head, mark, _ in [(word or "").partition(end)]
    ]
    files = [path for path in map(Path, dict.fromkeys(heads)) if path.is_file()]
    return files if logs is None else [*files, Path(logs)]


def _check_apart(outputs: Mapping[str, Path | None]) -> None:
    """Raise a usage error if two options name one file."""
    from os.path import realpath

    from bench.output import on_one_line
    from bench.results import is_file_or_new

    named: dict[str, str] = {}
    for option, file in outputs.items():
        if file is not None and is_file_or_new(file):
            other = named.setdefault(realpath(file), option)
            if other != option:
                name = on_one_line(str(file))
                raise click.UsageError(f"{other} and {option} name the same file, {name}")


def _write_script(file: Path, script: Script, inputs: Sequence[Path]) -> None:
    """Write *script* to *file*; over the input it was read from only if nothing changes there."""
    from bench.output import json_document
    from bench.redacting import refuse_overwriting
    from bench.results import write_text
    from sim.script import script_to_json

    text = json_document(script_to_json(script), exact=True)
    if not (file.is_file() and file.read_bytes() == text.encode()):
        refuse_overwriting(file, inputs)
        write_text(file, text)


def _alone(scripts: Sequence[Script], policy: str, strict: bool) -> dict[str, Any]:
    """Run one agent and return the parts of the JSON document."""
    from bench.cells import run_one
    from bench.costs import by_cause, by_turn, passes_of
    from sim.records import to_dicts

    metrics, records = run_one(scripts[0], policy, strict)
    return {
        "metrics": metrics,
        "events": list(to_dicts(records)),
        "costs": {
            "by_cause": by_cause(records),
            "by_turn": by_turn(records),
            "passes": passes_of(records),
        },
    }


def _fleet(scripts: Sequence[Script], policy: str, strict: bool) -> dict[str, Any]:
    """Run several agents and return the parts of the JSON document.

    Costs are those of all agents together, a turn of the same number being one; each event and
    each pass says whose it is.
    """
    from itertools import chain

    from bench.costs import by_cause, by_turn, passes_of
    from bench.fleets import fleet_of
    from sim.fleet import events

    fleet = fleet_of(scripts, policy, strict)
    return {
        "metrics": fleet.metrics,
        "agents": [{"agent": agent, **values} for agent, values in enumerate(fleet.agents)],
        "server": fleet.server,
        "events": list(events(fleet.records)),
        "costs": {
            "by_cause": by_cause(chain.from_iterable(fleet.records)),
            "by_turn": by_turn(chain.from_iterable(fleet.records)),
            "passes": [
                {"agent": agent, **each}
                for agent, records in enumerate(fleet.records)
                for each in passes_of(records)
            ],
        },
    }
