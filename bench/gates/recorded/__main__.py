"""``python -m bench.gates.recorded``: recorded against simulated cache reads of sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from bench.cli import options
from bench.cli.module import run_module
from bench.gates.calls import Thread
from bench.gates.recorded import claude_code, openhands
from bench.gates.recorded.arms import Arm
from scenarios.transcripts.recording import Recording
from scenarios.transcripts.sources import Source, find
from sim.errors import InputError

__all__ = ["arms", "command", "main"]

COLUMNS = (
    "format",
    "arm",
    "part",
    "calls",
    "recorded_hit",
    "predicted_hit",
    "absolute_error",
    "off",
    "wrong_flags",
)
"""Of the CSV: hits, errors and wrong flags in percent, *off* in tokens a call."""


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--sessions", is_flag=True, help="A row for each session rather than situation.")
@options.format_of("table", "json", "csv", "md")
def command(paths: tuple[str, ...], sessions: bool, form: str) -> int:
    """Compare what recorded calls read from the cache with what the simulator says.

    PATH is a Claude Code session, a folder of OpenHands completion logs, or a folder of them.
    """
    from bench.cli.emit import warn

    found = arms([options.file(path) for path in paths], warn)
    rows = [row for arm in found for row in (arm.sessions() if sessions else arm.situations())]
    if form == "json":
        from bench.output import json_document

        click.echo(json_document({"rows": rows}), nl=False)
    elif form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(rows, COLUMNS), nl=False)
    else:
        from bench.cli.emit import print_as
        from bench.tables.recorded import tables

        print_as(tables(rows), form)
    return 0


def arms(paths: Sequence[Path], warn: Callable[[str], object] = lambda sentence: None) -> list[Arm]:
    """Return the sessions in *paths* replayed, an arm for each format and reading of the cache.

    Raises InputError if there is no session with recorded cache reads in them.
    """
    threads: list[Thread] = []
    requests: list[openhands.Request] = []
    for source in find(paths, strict=False, warn=warn):
        if source.format == "claude-code":
            thread = claude_code.thread(source.name, source.files[0])
            threads += [] if thread is None else [thread]
        elif source.format == "openhands" and len(source.files) > 1:
            requests += openhands.requests(source.name, _documents(source))
        else:
            warn(
                f"{source.place}: cache reads of {source.format} are compared by "
                "`python -m bench.recordings` (passed over)"
            )
    found = [*claude_code.arms(threads), *openhands.arms(requests)]
    if not found:
        where = ", ".join(map(str, paths))
        raise InputError("there is no session with recorded cache reads in it", file=where)
    return found


def _documents(source: Source) -> Iterator[dict[str, Any]]:
    return (Recording(file).document() for file in source.files)


def main() -> NoReturn:
    """Run the command; what is wrong is one sentence on standard error."""
    run_module(command, "bench.gates.recorded")


if __name__ == "__main__":
    main()
