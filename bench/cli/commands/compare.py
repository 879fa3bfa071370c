"""``evictbench compare``: policies against each other on the same workloads and seeds."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]


@click.command()
@click.argument("scenarios", metavar="[SCENARIO]...", nargs=-1)
@options.policies
@options.seeds
@options.settings
@options.each_price
@options.prices
@options.baseline
@options.beside
@options.pareto
@options.require
@options.minimise
@options.maximise
@options.until_ci
@options.workers
@options.out
@options.turns
@options.strict
@options.format_of("table", "json", "csv", "md")
def command(
    scenarios: tuple[str, ...],
    policies: tuple[str, ...],
    seeds: int | None,
    settings: dict[str, str],
    price: tuple[str, ...],
    prices: str | None,
    baseline: str | None,
    beside: tuple[str, ...],
    pareto: bool,
    require: tuple[str, ...],
    minimise: str | None,
    maximise: str | None,
    until_ci: str | None,
    jobs: int | None,
    executor: str | None,
    out: Path | None,
    turns: bool,
    strict: bool,
    form: str,
) -> int:
    """Compare policies on the same workloads, seed by seed.

    A SCENARIO is a story, STORY/FLIP, a family (see `evictbench list scenarios`) or a path to a
    scenario file; without one, all stories and families are run. Every policy meets the same
    stimuli, so differences are paired by seed and shown with their 95 % intervals.

    \b
    Examples:
      Every policy on every workload:
        evictbench compare -p own
      Two policies, a hundred seeds, two hundred turns each:
        evictbench compare doc-analysis -p naive-rewrite -p tag-or-drop \\
            --seeds 100 --set turns=200
      What is one rule worth? Switch it off by name:
        evictbench compare coding-agent -p tiered -p tiered:arrival=off
      Your own policy against the field, kept for later:
        evictbench compare support-agent -p disciplined -p mine.py:Mine --out results/mine
      The same with every turn of every run, for a notebook:
        evictbench compare support-agent -p disciplined --out results/turns --turns
      How far is each from the best possible?
        evictbench compare doc-analysis -p clairvoyant -p tiered -p disciplined --bound
      Was it salience that misled them?
        evictbench compare doc-analysis -p slack-swap-refuse -p tag-or-drop --reversals
      Which one is cheapest of those that never made anything up?
        evictbench compare doc-analysis -p own --require confabulation_rate=0 \\
            --minimise total_cost_usd
      As many seeds as it takes to know costs to 5 % of the baseline's, at most 200:
        evictbench compare doc-analysis --until-ci total_cost_usd=5% --seeds 200
      Does the best policy depend on the provider?
        evictbench compare doc-analysis --price claude-fable-5.1 --price gpt-4.1 --price uncached
      On the real logs in a folder, in place of made-up sizes:
        evictbench compare coding-agent -p disciplined --set tool_logs=logs
    """
    from bench import api, progress
    from bench.cli.emit import emit, warn
    from bench.executors import available_jobs
    from bench.results import vacant

    options.needs_out(turns, out)
    if out is not None:
        vacant(out)
    with progress.shown("comparing") as report:
        comparison = api.compare(
            scenarios or None,
            policies or None,
            seeds=seeds,
            settings=settings,
            price=price or None,
            prices=prices,
            baseline=baseline,
            strict=strict,
            beside=beside,
            pareto=pareto,
            turns=turns,
            require=require,
            minimise=minimise,
            maximise=maximise,
            until_ci=until_ci,
            jobs=jobs or available_jobs(),
            executor=executor,
            report=report,
            warn=warn,
            partial=True,
        )
    return emit(comparison, form, out, strict)
