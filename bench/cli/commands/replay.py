"""``evictbench replay``: policies against each other on recorded sessions."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1)
@options.policies
@options.recorded_budget
@options.relevance
@click.option(
    "--tools",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A tools file: results over the budget that their tool declares there are reduced.",
)
@options.tokenizer
@click.option(
    "--list-formats",
    "listed",
    is_flag=True,
    help="List the recordings that can be read, and exit.",
)
@options.settings
@options.each_price
@options.prices
@options.baseline
@options.beside
@options.pareto
@options.workers
@options.out
@options.turns
@options.strict
@options.format_of("table", "json", "csv", "md")
def command(
    files: tuple[str, ...],
    policies: tuple[str, ...],
    budget: int | None,
    relevance: Path | None,
    tools: Path | None,
    tokenizer: str | None,
    listed: bool,
    settings: dict[str, str],
    price: tuple[str, ...],
    prices: str | None,
    baseline: str | None,
    beside: tuple[str, ...],
    pareto: bool,
    jobs: int | None,
    executor: str | None,
    out: Path | None,
    turns: bool,
    strict: bool,
    form: str,
) -> int:
    """Compare policies on sessions that an agent has recorded.

    FILE is a transcript, or a folder of them: its form is recognised by its content. What in it
    cannot be used is named in a warning; with --strict it ends the replay. Without -p, nine
    policies are tried: those of the seeds that suit a recording, pays-back, lease and compaction.

    \b
    Examples:
      Which policy would have served this session best?
        evictbench replay session.jsonl
      The same with a window of 60,000 tokens:
        evictbench replay session.jsonl --budget 60000 -p tiered -p disciplined
      Had Bash returned at most 8,000 tokens, [tools.Bash] max_result_tokens = 8000:
        evictbench replay session.jsonl --tools tools.toml -p tiered -p tiered:arrival=off
      At the prices of two providers:
        evictbench replay session.jsonl --price claude-sonnet-5 --price gpt-5.5
      How far from the best possible is each, and was it salience that misled it?
        evictbench replay session.jsonl --budget 60000 --bound --reversals
      What can be read?
        evictbench replay --list-formats
    """
    from bench import api, progress
    from bench.cli.emit import emit, say, warn
    from bench.executors import available_jobs
    from bench.results import vacant

    if listed:
        return _list_formats(form)
    if not files:
        raise click.UsageError("missing argument 'FILE...'")
    options.needs_out(turns, out)
    if out is not None:
        vacant(out)
    with progress.shown("replaying") as report:
        comparison = api.replay(
            files,
            policies or None,
            budget=budget,
            settings=settings,
            price=price or None,
            prices=prices,
            relevance=relevance,
            tools=tools,
            tokenizer=tokenizer,
            baseline=baseline,
            strict=strict,
            beside=beside,
            pareto=pareto,
            turns=turns,
            jobs=jobs or available_jobs(),
            executor=executor,
            report=report,
            warn=warn,
            tell=say,
            partial=True,
        )
    return emit(comparison, form, out, strict)


def _list_formats(form: str) -> int:
    from bench.cli.emit import console, print_as
    from bench.output import csv_text, json_document
    from bench.tables import listing

    items = listing.items(listing.FORMATS)
    if form == "json":
        click.echo(json_document({listing.FORMATS: items}), nl=False)
    elif form == "csv":
        click.echo(csv_text(items, listing.columns(items)), nl=False)
    else:
        width = None if form == "md" else console().width
        print_as(listing.tables(listing.FORMATS, width), form)
    return 0
