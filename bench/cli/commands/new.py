"""``evictbench new``: a scenario file fitted to recorded sessions."""

from __future__ import annotations

from pathlib import Path

import click

from bench.cli import options

__all__ = ["command"]


@click.command(short_help="Write a scenario fitted to recorded sessions.")
@click.argument("more", metavar="[SESSION...]", nargs=-1)
@click.option(
    "--from",
    "sessions",
    metavar="SESSION",
    multiple=True,
    required=True,
    help="A recorded session, a folder of them, or a script that `redact` wrote. What follows, or "
    "the option again, adds to it: all are pooled.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.toml",
    help="Where the scenario goes. [default: standard output]",
)
@click.option("--force", is_flag=True, help="Replace FILE.toml if it exists.")
@click.option(
    "--family",
    metavar="NAME",
    help="The family to fit: coding-agent, doc-analysis or support-agent. [default: coding-agent "
    "where files are read or written, else support-agent]",
)
@options.recorded_budget
@options.tokenizer
@options.strict
def command(
    more: tuple[str, ...],
    sessions: tuple[str, ...],
    output: str | None,
    force: bool,
    family: str | None,
    budget: int | None,
    tokenizer: str | None,
    strict: bool,
) -> int:
    """Write a scenario file fitted to recorded sessions, to generate more of what you have.

    Sizes, tools, waits, reads, writes and questions of SESSION become settings of a family, each
    with a comment that says what it was fitted to; what the family cannot follow is named at the
    end, beside the recorded figures and those of the first seeds, 30 or more. No text of the
    session is in the file but the names of its tools.

    \b
    Examples:
      Fit, look at it, and compare policies on a hundred sessions like that one:
        evictbench new --from session.jsonl -o ours.toml
        evictbench compare ours.toml --seeds 100
      All sessions of a folder, pooled:
        evictbench new --from recordings/ -o ours.toml
      What if our sessions were twice as long and paused more often?
        evictbench compare ours.toml --set turns=400 --set pause.share=0.1
      A redacted session, as an agent that reads documents:
        evictbench new --from session.json --family doc-analysis
    """
    from bench.cli.emit import say, warn
    from bench.fitting import fit_sessions, target
    from bench.results import write_text
    from scenarios.transcripts.sources import EMPTY
    from sim.errors import InputError

    if "" in (*sessions, *more):
        raise InputError(EMPTY)
    inputs = [options.file(name) for name in (*sessions, *more)]
    file = None if output is None else target(options.file(output), inputs, force)
    text = fit_sessions(
        inputs, family, budget=budget, tokenizer=tokenizer, strict=strict, warn=warn, tell=say
    )
    if file is None:
        click.echo(text, nl=False)
    else:
        write_text(Path(file), text)
    return 0
