"""``evictbench redact``: a recorded session as a script without its text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bench.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]


@click.command(short_help="Write a session's script without any of its text.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="Where the script goes, readable by you alone; of several sessions, the folder for their "
    "session-1.json, session-2.json and so on. [default: standard output]",
)
@click.option(
    "--tools",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A tools file: each result also gets the size to which its tool's budget reduces it.",
)
@options.recorded_budget
@options.relevance
@options.tokenizer
@click.option(
    "--keep-names",
    is_flag=True,
    help="Leave names as they are: paths, tools, and values that are asked for.",
)
@click.option("--force", is_flag=True, help="Replace scripts that exist.")
@options.settings
@options.strict
def command(
    files: tuple[str, ...],
    output: str | None,
    force: bool,
    tools: Path | None,
    budget: int | None,
    relevance: Path | None,
    tokenizer: str | None,
    keep_names: bool,
    settings: dict[str, str],
    strict: bool,
) -> int:
    """Write the script of a recorded session without any of its text.

    FILE is a transcript, a folder of them, or a script file. What is left are sizes, times, kinds,
    scores, and what belongs together: paths, tools, keys, ids and the name are hashed under a
    random key that is not kept. `run`, `compare` and `replay` give the same rows for it.

    \b
    Examples:
      A session to hand on, and what a colleague does with it:
        evictbench redact session.jsonl -o session.json
        evictbench run session.json -p tiered
      With the sizes that results have under budgets, measured while their text is still there:
        evictbench redact session.jsonl --tools tools.toml -o budgeted.json
      The script of a session for yourself, to look at or to change:
        evictbench redact session.jsonl --keep-names -o script.json
      All sessions of a folder, one script each:
        evictbench redact recordings/ -o redacted/
    """
    from bench.cli.emit import say, warn
    from bench.loading import load_tools
    from bench.redacting import document, scripts_in, write_all
    from bench.selection import price_rows
    from scenarios.transcripts.loading import Reading
    from scenarios.transcripts.sources import EMPTY
    from sim.errors import InputError

    if "" in files:
        raise InputError(EMPTY)
    inputs = [options.file(file) for file in files]
    given: dict[str, object] = {**settings}
    if budget is not None:
        given["budget"] = budget
    reading = Reading.of(
        None,
        given,
        relevance,
        strict=strict,
        tokenizer=tokenizer,
        declared=None if tools is None else load_tools(tools, tokenizer),
        rows=price_rows(given),
    )
    documents: Iterator[str] = (
        document(script, warn, keep_names)
        for script in scripts_in(inputs, reading, given, warn, say)
    )
    text = write_all(documents, output, inputs, force, warn)
    if text is not None:
        click.echo(text, nl=False)
    return 0
