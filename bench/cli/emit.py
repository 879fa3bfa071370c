"""How a comparison leaves the command line: on disk, on standard output, and as an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli.codes import BROKEN, INTERRUPTED, STRICT
from bench.output import escaped
from sim.errors import EvictbenchError, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from bench.api import Comparison
    from bench.tables.parts import Table

__all__ = ["WIDE", "console", "emit", "ended_early", "print_as", "say", "warn"]

WIDE = 100
"""Columns from which a table has room to spell its numbers out."""


def emit(
    comparison: Comparison, form: str, out: Path | None, strict: bool, kept: Path | None = None
) -> int:
    """Write *comparison* to *out*, print it as *form*, and return the exit code.

    *kept* is a folder in which it stands already, as far as it came.
    Raises what ended it early where that was no interrupt and nothing is worth keeping.
    """
    stopped = comparison.stopped
    if isinstance(stopped, InputError) or (
        isinstance(stopped, EvictbenchError) and not comparison.rows
    ):
        raise stopped
    if not comparison.rows:
        click.echo("evictbench: interrupted before a run was finished", err=True)
        return INTERRUPTED
    if out is not None:
        from bench.results import save

        save(comparison, out)
    _print(comparison, form)
    if stopped is not None:
        return _say_stopped(comparison, out, kept)
    return _policy_bugs(comparison) if strict else 0


def console() -> Console:
    """Return the console of standard output: no colours unless it is a terminal that takes them."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise  # as any other output does; the app knows what it means

    return Plain(highlight=False, soft_wrap=False)


def ended_early(stopped: BaseException | None, finished: int, planned: int, kept: str) -> int:
    """Say that *stopped* ended the work, and where the *finished* runs are; return the exit code.

    It is an interrupt, or what broke.
    """
    broken = isinstance(stopped, EvictbenchError)
    why = str(stopped) if broken else "interrupted"
    say(f"{why}; {finished} of {planned} runs were finished and are {kept}")
    return BROKEN if broken else INTERRUPTED


def print_as(tables: list[Table], form: str) -> None:
    """Print *tables* as *form*, ``table`` or ``md``."""
    from bench.output import markdown, print_tables

    if form == "md":
        click.echo(markdown(tables), nl=False)
    else:
        print_tables(tables, console())


def say(sentence: str) -> None:
    """Say *sentence*, a fact, on standard error."""
    click.echo(f"evictbench: {escaped(sentence)}", err=True)


def warn(sentence: str) -> None:
    """Say *sentence* on standard error."""
    click.echo(f"evictbench: warning: {escaped(sentence)}", err=True)


def _print(comparison: Comparison, form: str) -> None:
    if form == "json":
        from bench.output import json_pieces

        for piece in json_pieces(comparison.document()):
            click.echo(piece, nl=False)
    elif form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(comparison.rows, comparison.columns), nl=False)
    else:
        wide = form == "md" or console().width >= WIDE
        print_as(comparison.tables(wide), form)


def _say_stopped(comparison: Comparison, out: Path | None, folder: Path | None) -> int:
    kept = f"kept in {out}" if out is not None else "shown; --out DIR would keep them"
    if folder is not None:
        kept = f"kept in {folder}: the same command with --resume goes on"
    finished, planned = (comparison.manifest[name] for name in ("finished", "planned"))
    return ended_early(comparison.stopped, finished, planned, kept)


def _policy_bugs(comparison: Comparison) -> int:
    bugs: dict[str, int] = {}
    for row in comparison.rows:
        if row["policy_bugs"]:
            bugs[row["policy"]] = bugs.get(row["policy"], 0) + 1
    if not bugs:
        return 0
    named = ", ".join(f"{policy} in {runs} of its runs" for policy, runs in bugs.items())
    click.echo(f"evictbench: --strict: policy bugs of {named}", err=True)
    return STRICT
