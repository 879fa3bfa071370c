"""``evictbench chart``: a folder of results as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli import options

if TYPE_CHECKING:
    from bench.api import Comparison
    from bench.charts.choice import Choice
    from bench.charts.picture import Picture

__all__ = ["command"]


@click.command(short_help="Draw a folder of results.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("names", metavar="[CHART]...", nargs=-1)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where the pictures go. [default: DIR/charts]",
)
@click.option(
    "--format",
    "forms",
    type=options.OneOf(("png", "svg")),
    multiple=True,
    default=("png",),
    show_default=True,
    help="The form of a picture; repeat it for both.",
)
@click.option(
    "--theme",
    type=options.OneOf(("light", "dark", "print")),
    default="light",
    show_default=True,
    help="Its colours.",
)
@click.option(
    "--scenario",
    "scenarios",
    metavar="NAME",
    multiple=True,
    help="What it is of; may be repeated. [default: the first one with several seeds]",
)
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="The policy of a run or of a map. [default: the one that ranks first]",
)
@click.option("--price", metavar="NAME", help="One of the prices. [default: the first]")
@click.option(
    "--seed",
    type=options.Whole(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="The seed of a run.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="What a map shows. [default: confabulation_rate, or cost if that is everywhere the same]",
)
def command(
    folder: Path,
    names: tuple[str, ...],
    out: Path | None,
    forms: tuple[str, ...],
    theme: str,
    scenarios: tuple[str, ...],
    policy: str | None,
    price: str | None,
    seed: int,
    metric: str | None,
) -> int:
    """Draw what `compare --out`, `replay --out` or `sweep --out` left in DIR.

    Without a CHART, every one is drawn that there is something to show of; `evictbench list charts`
    says what each shows. A chart of one run makes that run again, and sees that it comes out as it
    did. The names of the files are printed, and what can be seen in each on standard error.

    \b
    Examples:
      evictbench compare doc-analysis -p own --bound --out results/docs
      evictbench chart results/docs
      One run, in print and for a slide:
        evictbench chart results/docs occupancy cache -p tiered --seed 3 --theme print
        evictbench chart results/docs pareto --theme dark --format svg
      Where do slack, swap and refusal lead?
        evictbench sweep doc-analysis -p tiered --vary salience.decay=0.6:0.98:20 \\
            --vary rehydrate.threshold=0.2:0.95:20 --out results/map
        evictbench chart results/map map
    """
    from bench import api
    from bench.charts.choice import Choice
    from bench.cli.emit import say
    from bench.results.atomic import prepare

    found = api.load(folder)
    choices = [Choice(name, price, policy, seed, metric) for name in scenarios or (None,)]
    drawn = _drawn(found, names, choices, theme)
    there = folder / "charts" if out is None else out
    prepare(there)
    for picture in drawn:
        for form in dict.fromkeys(forms):
            file = there / f"{picture.stem}.{form}"
            picture.save(file)
            click.echo(str(file))
        say(f"{picture.chart.name}: {picture.told}")
    return 0


def _drawn(
    found: Comparison, names: tuple[str, ...], choices: list[Choice], theme: str
) -> list[Picture]:
    """Return the pictures that were asked for by *names*, or all that there can be.

    Raises InputError where one that was asked for cannot be drawn, or none can; says why each other
    one cannot.
    """
    from bench.charts.picture import picture
    from bench.charts.registry import charts
    from bench.cli.emit import say
    from sim.errors import InputError

    if names:
        each = [(name, choice) for name in dict.fromkeys(names) for choice in choices]
        return [picture(found, name, choice, theme) for name, choice in each]
    swept = "vary" in found.manifest
    drawn, failed = [], []
    for name in (n for n, chart in charts().items() if (chart.of == "sweep") == swept):
        for choice in choices:
            try:
                drawn.append(picture(found, name, choice, theme))
            except InputError as error:
                failed.append((name, error))
    if failed and not drawn:
        raise failed[0][1]
    for name, why in failed:
        say(f"{name} is not drawn: {why}")
    return drawn
