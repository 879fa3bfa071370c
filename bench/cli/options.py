"""Options that several commands have, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from sim.errors import InputError, unknown

__all__ = [
    "OneOf",
    "Whole",
    "baseline",
    "beside",
    "each_price",
    "file",
    "format_of",
    "is_typed",
    "jobs",
    "maximise",
    "minimise",
    "needs_out",
    "out",
    "pareto",
    "parse_settings",
    "policies",
    "price",
    "prices",
    "recorded_budget",
    "relevance",
    "require",
    "seeds",
    "settings",
    "strict",
    "tokenizer",
    "turns",
    "until_ci",
    "workers",
]

OWN_BOOK = "EVICTBENCH_PRICES"
"""Names the price book of those who always want theirs; ``--prices`` wins over it."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Option = Callable[[Decorated], Decorated]


def file(path: str) -> Path:
    """Return *path* with a leading ``~`` resolved."""
    return Path(path).expanduser()


def parse_settings(
    ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return ``KEY=VALUE`` texts as a dict; the last of several for one key counts."""
    found = {}
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"{text!r} is not KEY=VALUE", ctx, option)
        found[key.strip()] = value.strip()
    return found


class OneOf(click.Choice):
    """One of some words; a wrong one is answered with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value not in self.choices:
            self.fail(unknown("word", str(value), [str(c) for c in self.choices]), param, ctx)
        return super().convert(value, param, ctx)


class Whole(click.IntRange):
    """A whole number in a range; digits may stand in groups, as in 24_000."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            int(value)
        except ValueError:
            bare = "".join(c for c in str(value) if c not in ", '")
            digits = bare.isascii() and bare.isdigit() and len(bare) < 20
            hint = f"; write {bare} or {int(bare):_}" if digits else ""
            self.fail(f"{value!r} is no whole number{hint}", param, ctx)
        return super().convert(value, param, ctx)


def format_of(*names: str) -> Option[Any]:
    """Return the option ``--format`` with the *names* it takes, the first by default."""
    return click.option(
        "--format",
        "form",
        type=OneOf(names),
        default=names[0],
        show_default=True,
        help="What to print on standard output.",
    )


def beside(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give *command* a flag for each measure there is; it gets *beside*, the names asked for."""
    from bench.beside.registry import measures

    @wraps(command)
    def collected(**given: Any) -> Any:
        asked = tuple(name for name in measures() if given.pop(name))
        return command(beside=asked, **given)

    for name, measure in reversed(measures().items()):
        click.option(f"--{name}", name, is_flag=True, help=measure.about)(collected)
    return collected


def is_typed(ctx: click.Context, name: str) -> bool:
    """Return whether the option *name* was given on the command line."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _own_book(ctx: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Return *path*, and say so where it is from the environment and not to be seen."""
    if path is not None and not is_typed(ctx, option.name or "") and not ctx.resilient_parsing:
        click.echo(f"evictbench: {OWN_BOOK} lays the prices of {path} over the book", err=True)
    return path


def _one(ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> str | None:
    """Return the one name that an option takes here, and others take several times."""
    if len(set(names)) > 1:
        raise click.BadParameter(f"it takes one name here, not {len(names)}", ctx, option)
    return names[0] if names else None


policies = click.option(
    "-p",
    "--policy",
    "policies",
    metavar="POLICY",
    multiple=True,
    help="A policy: NAME, NAME:OPTION=VALUE,… or FILE.py:CLASS. Repeat it to compare several; "
    "without it, the first eight of `evictbench list policies`, on a recording those that suit it; "
    "`own` means the project's own, `field` those of harnesses, `all` every one.",
)

seeds = click.option(
    "--seeds",
    type=Whole(min=1),
    metavar="N",
    help="Run every family on seeds 0 to N - 1; a story is run once. [default: 30]",
)

settings = click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    callback=parse_settings,
    help="Lay a setting over the scenario's own, such as budget=60000. May be repeated.",
)

each_price = click.option(
    "--price",
    "price",
    metavar="NAME",
    multiple=True,
    help="The row of the price book (see `evictbench list prices`). Repeat it to see where the "
    "order of the policies depends on the price. [default: the scenario's, else claude-sonnet-5]",
)

price = click.option(
    "--price",
    metavar="NAME",
    multiple=True,
    callback=_one,
    help="The row of the price book (see `evictbench list prices`). "
    "[default: the scenario's, else claude-sonnet-5]",
)

prices = click.option(
    "--prices",
    metavar="FILE",
    envvar=OWN_BOOK,
    show_envvar=True,
    callback=_own_book,
    help="A price book of your own, laid over the one that comes with evictbench.",
)

baseline = click.option(
    "--baseline",
    metavar="POLICY",
    help="Take differences to this one of the policies. "
    "[default: no-op, else the first that is applicable]",
)

pareto = click.option(
    "--pareto",
    is_flag=True,
    help="Show the policies that no other beats in made-up answers, peak and cost, and how surely.",
)

require = click.option(
    "--require",
    metavar="METRIC=VALUE",
    multiple=True,
    help="Let only policies win whose METRIC is VALUE in every run, or whose mean is METRIC<=VALUE "
    "or METRIC>=VALUE (see `evictbench list metrics`). May be repeated.",
)

minimise = click.option(
    "--minimise",
    metavar="METRIC",
    help="Name the winner: the policy with the least METRIC of those that meet every --require.",
)

maximise = click.option(
    "--maximise", metavar="METRIC", help="Name the winner: the policy with the most METRIC."
)

until_ci = click.option(
    "--until-ci",
    metavar="METRIC=HALFWIDTH",
    help="Add seeds, 20, 30, 45, … in all and at most --seeds (300 by default), until the 95 % "
    "interval of every paired difference of METRIC to the baseline is at most HALFWIDTH to either "
    "side: in the metric's unit, or N% of the baseline's mean.",
)

jobs = click.option(
    "--jobs",
    type=Whole(min=1),
    metavar="N",
    help="Worker processes; the result is the same for any number. [default: one a processor]",
)


def _executor(ctx: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Return *text* if an executor can be called so."""
    from bench.executors.address import scheduler

    try:
        if text is not None:
            scheduler(text)
    except InputError as error:
        raise click.BadParameter(str(error), ctx, option) from None
    return text


def workers(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give *command* the options that say who does the work; it gets *jobs* and *executor*."""

    @wraps(command)
    def asked(executor: str | None, **given: Any) -> Any:
        if executor is not None and "://" in executor and given["jobs"] is not None:
            raise click.UsageError("--jobs is for this machine: a cluster has its own workers")
        return command(executor=executor, **given)

    option = click.option(
        "--executor",
        metavar="WHERE",
        callback=_executor,
        help="Who does the work: processes of this machine, a Dask cluster on it (dask) or one "
        "that is running (dask://HOST:PORT), see docs/cluster.md. [default: processes]",
    )
    return jobs(option(asked))


out = click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep runs and summary there as Parquet, with a manifest and a schema (docs/results.md).",
)

turns = click.option(
    "--turns",
    is_flag=True,
    help="With --out, keep what each turn of each run came to, too.",
)


def needs_out(turns: bool, out: Path | None) -> None:
    """Raise UsageError if *turns* are to be kept and there is no folder *out* for them."""
    if turns and out is None:
        raise click.UsageError("--turns needs --out, where it keeps them")


strict = click.option(
    "--strict",
    is_flag=True,
    help="Refuse what is tolerated otherwise; exit with 3 if a policy has a bug.",
)

recorded_budget = click.option(
    "--budget",
    type=Whole(min=1),
    metavar="N",
    help="The window's limit in tokens. [default: what the recording suggests]",
)

relevance = click.option(
    "--relevance",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Scores of segments that replace those found in the text.",
)

tokenizer = click.option(
    "--tokenizer",
    metavar="NAME",
    help="What counts tokens: o200k, cl100k or bytes/4. [default: o200k]",
)
