"""``evictbench ablate``: what each rule of a policy is worth."""

from __future__ import annotations

import click

from bench.cli import options

__all__ = ["command"]


@click.command(short_help="Show what each rule of a policy is worth.")
@click.argument("scenarios", metavar="SCENARIO...", nargs=-1, required=True)
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    required=True,
    help="The policy: NAME or NAME:OPTION=VALUE,… (see `evictbench list policies`).",
)
@options.seeds
@options.settings
@options.each_price
@options.prices
@options.beside
@options.workers
@options.format_of("table", "json", "csv", "md")
def command(
    scenarios: tuple[str, ...],
    policy: str,
    seeds: int | None,
    settings: dict[str, str],
    price: tuple[str, ...],
    prices: str | None,
    beside: tuple[str, ...],
    jobs: int | None,
    executor: str | None,
    form: str,
) -> int:
    """Switch each rule of a policy off, and each on alone, and show what it is worth.

    A rule is an option that can be off (docs/policies.md). All arms meet the same seeds, and worth
    is what a run has without the rule less what it has with it: in answers made up, violations,
    peak tokens and cost, with 95 % intervals.

    \b
    Examples:
      evictbench ablate doc-analysis -p disciplined
      evictbench ablate coding-agent -p tiered --seeds 100 --format csv
      evictbench ablate support-agent -p tag-or-drop:rewrite.below=0.4
    """
    from bench import ablation, api, progress
    from bench.cli.emit import WIDE, console, ended_early, print_as, warn
    from bench.executors import available_jobs
    from bench.output import csv_text, json_document
    from bench.tables.ablation import ablation_tables
    from sim.errors import InputError

    made = ablation.ablation(policy)
    with progress.shown("ablating") as report:
        found = api.compare(
            scenarios,
            list(made.policies.values()),
            seeds=seeds,
            settings=settings,
            price=price or None,
            prices=prices,
            baseline=made.whole,
            beside=beside,
            jobs=jobs or available_jobs(),
            executor=executor,
            report=report,
            warn=warn,
            partial=True,
        )
    if found.stopped is not None and (isinstance(found.stopped, InputError) or not found.rows):
        raise found.stopped
    lines = ablation.worth(made, found.rows)
    if form == "json":
        parts = {"worth": lines, **found.beside, "rows": found.rows}
        document = {**parts, "manifest": found.manifest}
        click.echo(json_document(document), nl=False)
    elif form == "csv":
        click.echo(csv_text(lines, list(lines[0])), nl=False)
    else:
        wide = form == "md" or console().width >= WIDE
        tables = [*ablation_tables(lines, made.whole, wide), *found.beside_tables(wide)]
        print_as(tables, form)
    if found.stopped is None:
        return 0
    return ended_early(found.stopped, len(found.rows), found.manifest["planned"], "shown")
