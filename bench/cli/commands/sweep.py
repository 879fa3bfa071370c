"""``evictbench sweep``: the same policies at many settings."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]


@click.command(short_help="Run policies at many settings, and show what moves them.")
@click.argument("scenario", metavar="SCENARIO")
@options.policies
@click.option(
    "--vary",
    metavar="KEY=RANGE",
    multiple=True,
    required=True,
    help="A key to vary, START:STOP:COUNT, START:STOP:COUNT:log or A,B,C; repeat for more keys. "
    "KEY is one of the scenario's, or POLICY:OPTION.",
)
@click.option(
    "--design",
    type=options.OneOf(("grid", "sobol", "lhs")),
    default="grid",
    show_default=True,
    help="Every combination, or points spread over all keys at once (Sobol, Latin hypercube).",
)
@click.option(
    "--points",
    type=options.Whole(min=1),
    metavar="N",
    help="Points of a Sobol or Latin hypercube design. [default: COUNT of the ranges]",
)
@options.seeds
@options.settings
@options.price
@options.prices
@options.baseline
@options.require
@options.minimise
@options.maximise
@options.beside
@options.workers
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep every finished run there at once, and the results at the end.",
)
@options.turns
@click.option(
    "--resume", is_flag=True, help="Go on with the sweep in --out: run only what is missing."
)
@options.strict
@options.format_of("table", "json", "csv", "md")
def command(
    scenario: str,
    policies: tuple[str, ...],
    vary: tuple[str, ...],
    design: str,
    points: int | None,
    seeds: int | None,
    settings: dict[str, str],
    price: str | None,
    prices: str | None,
    baseline: str | None,
    require: tuple[str, ...],
    minimise: str | None,
    maximise: str | None,
    beside: tuple[str, ...],
    jobs: int | None,
    executor: str | None,
    out: Path | None,
    turns: bool,
    resume: bool,
    strict: bool,
    form: str,
) -> int:
    """Run policies on the same seeds at every setting of some keys.

    What comes out is how figures range over the settings, how much each key moves them, which
    policy is best where and between which values that changes. With --out every finished run is on
    disk at once: whatever ends the sweep, the same command with --resume runs what is missing, and
    the results are the same to the byte.

    \b
    Examples:
      When does a gate let through, swap or refuse?
        evictbench sweep doc-analysis -p slack-swap-refuse --set budget=40000 \\
            --vary salience.decay=0.5:0.99:20 --vary rehydrate.threshold=0.1:0.9:20 \\
            --seeds 20 --out results/gate
      Which policy for which window?
        evictbench sweep coding-agent -p tiered -p disciplined -p lease \\
            --vary budget=30000:200000:8:log
      Which is cheapest with no answer made up, and where does that change?
        evictbench sweep doc-analysis -p tiered -p disciplined -p masking \\
            --vary budget=20000:80000:7 --require confabulation_rate=0 --minimise total_cost_usd
      Many keys at once:
        evictbench sweep doc-analysis -p tiered --design sobol --points 128 \\
            --vary salience.decay=0.5:0.99 --vary rehydrate.threshold=0.1:0.9 \\
            --vary returns.rate=0:0.6 --vary reader=strict,measured
      An option of one policy, and prices:
        evictbench sweep doc-analysis -p tag-or-drop -p tiered \\
            --vary tag-or-drop:rewrite.below=0.1:0.5:5 --vary price=claude-sonnet-5,gpt-4.1
      Every turn of every run, too:
        evictbench sweep doc-analysis -p tiered --vary budget=20000:80000:4 \\
            --out results/turns --turns
      It was stopped; go on:
        evictbench sweep … --out results/gate --resume
    """
    from bench import api, progress
    from bench.cli.emit import emit, warn
    from bench.executors import available_jobs
    from bench.results import prepare

    options.needs_out(turns, out)
    if out is not None:
        prepare(out)
    with progress.shown("sweeping") as report:
        found = api.sweep(
            scenario,
            policies or None,
            vary,
            design=design,
            points=points,
            seeds=api.SEEDS if seeds is None else seeds,
            settings=settings,
            price=price,
            prices=prices,
            baseline=baseline,
            require=require,
            minimise=minimise,
            maximise=maximise,
            beside=beside,
            turns=turns,
            out=out,
            resume=resume,
            strict=strict,
            jobs=jobs or available_jobs(),
            executor=executor,
            report=report,
            warn=warn,
            partial=True,
        )
    return emit(found, form, None, strict, kept=out)
