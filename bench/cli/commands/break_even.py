"""``evictbench break-even``: whether passes pay back, over whole workloads."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]

DEFAULT = "coding-agent"
"""What is run where no scenario is named."""


@click.command("break-even", short_help="Show what passes break, and how many pay back.")
@click.argument("scenarios", metavar="[SCENARIO]...", nargs=-1)
@options.policies
@options.seeds
@options.settings
@options.price
@options.prices
@options.workers
@click.option(
    "--passes",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.jsonl",
    help="Write every pass there, one JSON object a line.",
)
@options.format_of("table", "json", "csv", "md")
def command(
    scenarios: tuple[str, ...],
    policies: tuple[str, ...],
    seeds: int | None,
    settings: dict[str, str],
    price: str | None,
    prices: str | None,
    jobs: int | None,
    executor: str | None,
    passes: Path | None,
    form: str,
) -> int:
    """Show what passes remove, what they break, and how many of them pay back.

    A pass that removes b tokens breaks the prefix for the S cached tokens behind the first cut.
    With L calls to go, this one included, it pays back if b·L·r > S·(w − r) + refetch, where a
    token costs r read and w written: without refetches, if L > R·S/b with R = (w − r) / r. Beside
    the policies stands what is published of replayed sessions. Without SCENARIO: coding-agent.

    \b
    Examples:
      evictbench break-even
      evictbench break-even doc-analysis -p tiered -p pays-back --price gpt-5.5
      evictbench break-even support-agent --passes passes.jsonl --format json
      evictbench break-even -p own --seeds 300 --executor dask://HOST:8786
    """
    from bench import break_even, progress
    from bench.api import SEEDS
    from bench.cli.emit import ended_early, print_as, warn
    from bench.executors import available_jobs
    from bench.output import csv_text, json_document, json_lines
    from bench.results import write_text
    from bench.tables import break_even as shown
    from sim.errors import EvictbenchError, InputError

    work = break_even.workload(
        scenarios or (DEFAULT,),
        policies or None,
        seeds=seeds or SEEDS,
        settings=settings,
        price=price,
        prices=prices,
        warn=warn,
    )
    runs: list[break_even.Played] = []
    stopped: BaseException | None = None
    try:
        with progress.shown("break-even") as report:
            break_even.collect(work, jobs or available_jobs(), executor, report, runs)
    except (KeyboardInterrupt, EvictbenchError) as error:
        if isinstance(error, InputError) or not runs:
            raise
        stopped = error
    if passes is not None:
        lines = json_lines(break_even.pass_rows(runs))
        write_text(passes, "".join(f"{line}\n" for line in lines))
    summary = break_even.summarise(runs)
    if form == "json":
        counts = {"planned": work.planned, "finished": len(runs)}
        click.echo(json_document(shown.document(summary, {**work.manifest(), **counts})), nl=False)
    elif form == "csv":
        click.echo(csv_text(shown.rows(summary), shown.COLUMNS), nl=False)
    else:
        print_as(shown.break_even_tables(summary), form)
    return 0 if stopped is None else ended_early(stopped, len(runs), work.planned, "shown")
