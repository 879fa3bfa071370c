"""``evictbench report``: a folder of results as one page for a design review."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bench.cli import options

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["command"]


@click.command(short_help="Make one page of a folder of results, for a design review.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help="The page. [default: DIR/report.html]",
)
@click.option(
    "--scenario",
    metavar="NAME",
    help="What is looked into, turn by turn. [default: the first one with several seeds]",
)
@click.option("--price", metavar="NAME", help="One of the prices. [default: the first]")
@click.option(
    "-p",
    "--policy",
    metavar="POLICY",
    help="Whose run has charts. [default: the one that ranks first]",
)
@click.option(
    "--seed",
    type=options.Whole(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="The seed of the runs that are looked into.",
)
@click.option("--title", metavar="TEXT", default="", help="The question in your own words.")
@click.option(
    "--validation",
    metavar="FILE",
    help="What `validate --format json` printed, instead of judging the gates now.",
)
@click.option("--no-validation", is_flag=True, help="Leave the gates out; the page says so.")
@options.jobs
def command(
    folder: Path,
    out: Path | None,
    scenario: str | None,
    price: str | None,
    policy: str | None,
    seed: int,
    title: str,
    validation: str | None,
    no_validation: bool,
    jobs: int | None,
) -> int:
    """Make one HTML file of what `compare --out`, `replay --out` or `sweep --out` left in DIR.

    The page needs no network and nothing beside it: the question and who wins, tables that can be
    sorted, charts, the window of one scenario turn by turn under every policy, wrong answers
    explained, what the simulator was held against and what it does not claim, and how to make it
    again. Runs that are looked into are made again, and must come out as they did.

    The gates of `evictbench validate` are judged for it, which takes a minute or two; --validation
    takes what they said before.

    \b
    Examples:
      evictbench compare --out results/default
      evictbench report results/default
      With the gates judged once, on recordings too:
        evictbench validate --data recordings --format json > gates.json
        evictbench report results/default --validation gates.json -o review.html
      Another scenario turn by turn:
        evictbench report results/default --scenario coding-agent --no-validation
    """
    from bench import api, progress
    from bench.charts.choice import Choice
    from bench.cli.emit import say
    from bench.executors import available_jobs
    from bench.report.page import page
    from bench.report.report import Asked, gather
    from bench.results.atomic import write_bytes

    if validation is not None and no_validation:
        raise click.UsageError("--validation gives the gates and --no-validation leaves them out")
    workers = jobs or available_jobs()
    found = api.load(folder)
    judged = None if no_validation else _validation(validation, workers)
    choice = Choice(scenario, price, policy, seed)
    asked = Asked(choice, title, judged, workers, progress.shown)
    contents = gather(found, asked)
    file = folder / "report.html" if out is None else out
    write_bytes(file, page(contents).encode())
    click.echo(str(file))
    for left_out in contents.left_out:
        say(left_out)
    return 0


def _validation(file: str | None, jobs: int) -> Mapping[str, Any]:
    from bench.report.validity import judged_now, read_validation

    return judged_now(jobs) if file is None else read_validation(options.file(file))
