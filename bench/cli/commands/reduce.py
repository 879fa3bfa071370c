"""``evictbench reduce``: what of a tool's output enters the window, and what is lost by it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from bench.cli import options
from sim.errors import InputError

__all__ = ["command"]

_INPUT = "-"
"""Stands for standard input."""


@click.command(short_help="Reduce a tool's output; show what is lost.")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--tool",
    metavar="NAME",
    help="The reducer that knows the output, or with --tools a tool declared there. "
    "[default: recognised by content]",
)
@click.option(
    "--max-tokens",
    type=options.Whole(),
    metavar="N",
    help="The budget, markers included, at least 40. [default: the tool's own, else 24,000]",
)
@click.option(
    "--tools",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A tools file that declares max_result_tokens and reducer of each tool.",
)
@click.option(
    "--since",
    metavar="FILE",
    help="The output of the run before, or -: show only what differs from it, where that is "
    "shorter.",
)
@click.option(
    "--tokenizer",
    "counted_by",
    metavar="NAME",
    help="o200k, cl100k, or the fast estimate bytes/4. [default: o200k]",
)
@click.option(
    "--show/--no-show",
    default=True,
    help="Print the text above the measure, or the measure alone. [default: --show]",
)
@options.format_of("table", "text", "json", "md")
def command(
    file: str,
    tool: str | None,
    max_tokens: int | None,
    tools: Path | None,
    since: str | None,
    counted_by: str | None,
    show: bool,
    form: str,
) -> int:
    """Reduce a tool's output by its own structure, and show what survives.

    A type check keeps the first error of each file, a test run each distinct failure once, a build
    its first error and target, a log each repeated line once; whatever is left out is counted in
    the text. `evictbench list reducers` shows the formats; what none of them knows is cut to head
    and tail with a marked gap.

    \b
    Examples:
      mypy . | evictbench reduce - --max-tokens 4000
      What would your agent see? The text alone:
        evictbench reduce ci.log --max-tokens 8000 --format text
      The budgets that your tools declare:
        evictbench reduce check.log --tools examples/tools.json --tool typecheck
      Only what has changed since the last run:
        evictbench reduce check.log --since check-before.log
    """
    from bench.cli.emit import print_as
    from bench.reducing import DEFAULT_TOKENS, reduce_output

    _check(file, since, max_tokens)
    reducer, limit = tool, max_tokens
    if tools is not None:
        reducer, declared = _declared(tools, tool)
        limit = limit or declared
    before = None if since is None else _read(since)
    found = reduce_output(_read(file), limit or DEFAULT_TOKENS, reducer, counted_by, before)
    if form == "json":
        from bench.output import json_document

        click.echo(json_document(found.document()), nl=False)
    elif form == "text":
        click.echo(found.result.text)
    else:
        from bench.tables.reducing import reducing_tables

        if show:
            click.echo(found.result.text)
            click.echo()
        print_as(reducing_tables(file, found), form)
    return 0


def _check(file: str, since: str | None, max_tokens: int | None) -> None:
    """Raise what is wrong with the command line itself."""
    from policies.reducers.room import LEAST

    if max_tokens is not None and max_tokens < LEAST:
        raise click.BadParameter(
            f"{max_tokens:,} tokens are below the least of {LEAST}", param_hint="'--max-tokens'"
        )
    if file == since == _INPUT:
        raise InputError("FILE and --since cannot both be -: standard input can be read once")


def _declared(file: Path, tool: str | None) -> tuple[str | None, int | None]:
    """Return the reducer and the budget that *tool* declares in *file*."""
    from scenarios.tools import read_tools_file
    from sim.errors import unknown

    found = read_tools_file(options.file(str(file))).tools
    if tool is None:
        raise InputError(f"--tools needs --tool, one of {', '.join(found)}", file=file)
    if tool not in found:
        raise InputError(unknown("tool", tool, list(found)), file=file)
    return found[tool].reducer, found[tool].max_result_tokens


def _read(file: str) -> bytes:
    if file == _INPUT:
        return _read_input()
    if not file:
        raise InputError("the name of a file to read is empty; - is standard input")
    path = options.file(file)
    try:
        return path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"cannot be read: {reason}", file=path) from None


def _read_input() -> bytes:
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file, or pipe an output in")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"standard input cannot be read: {reason}") from None
