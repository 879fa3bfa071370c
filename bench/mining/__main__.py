"""Draws pairs of mined queries and shows them to be judged: ``python -m bench.mining FOLDER``.

``--tsv FILE`` writes the drawn pairs as a table to be labelled, without their text; ``--judged
FILE`` reads such a table and prints its precision. The page of mining has the rule of judgement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from bench.cli.module import run_module
from bench.mining.pairs import Pair, draw, pairs_in, threads_in
from bench.mining.passages import passages
from bench.mining.precision import Judged, Precision, precision, read_table, table
from bench.output import escaped
from sim.errors import InputError

__all__ = ["lines", "main"]


def lines(shares: Sequence[Precision]) -> Iterator[str]:
    """Yield the lines of the table of precision, in Markdown."""
    yield "| kind of argument | pairs | right | precision | 95 % interval |"
    yield "|---|---|---|---|---|"
    for each in shares:
        share = 100 * each.right / each.pairs
        interval = f"{100 * each.low:.1f}–{100 * each.high:.1f} %"
        yield f"| {each.kind} | {each.pairs} | {each.right} | {share:.1f} % | {interval} |"


def _show(paths: Sequence[Path], sample: Sequence[Pair]) -> None:
    """Print the pairs of *sample*, file by file, each with its row of the table."""
    for thread in threads_in(paths):
        for row, pair in enumerate(sample, 1):
            if pair.file == thread.file:
                click.echo(f"\n[{row}] " + "\n".join(passages(pair, thread)))


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="FILE|DIR…")
@click.option("--seed", default=0, show_default=True, help="Draws the sample.")
@click.option("--pairs", "number", default=100, show_default=True, type=click.IntRange(1))
@click.option("--tsv", "file", type=click.Path(path_type=Path), help="Write the drawn pairs.")
@click.option("--judged", type=click.Path(path_type=Path), help="Print a table's precision.")
def command(
    paths: Sequence[Path], seed: int, number: int, file: Path | None, judged: Path | None
) -> None:
    """Draw pairs of a mention and its source from recorded sessions, and show them."""
    if judged is not None:
        rows = read_table(judged)
        if not rows:
            raise InputError("no pair is judged", file=judged)
        click.echo("\n".join(lines(precision(rows))))
        return
    if not paths:
        raise click.UsageError("give the recordings: FILE|DIR…")
    pairs = [pair for thread in threads_in(paths, _warn) for pair in pairs_in(thread)]
    if not pairs:
        raise InputError("nothing is asked in it", file=", ".join(map(str, paths)))
    sample = draw(pairs, seed, number)
    if file is not None:
        file.write_text(table(map(Judged.of, sample)), encoding="utf-8")
    click.echo(f"{len(sample)} of {len(pairs):,} pairs, seed {seed}")
    _show(paths, sample)


def _warn(text: str) -> None:
    click.echo(escaped(text), err=True)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command; what is wrong is one sentence on standard error."""
    run_module(command, "bench.mining", arguments)


if __name__ == "__main__":
    main()
