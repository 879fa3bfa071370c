"""``evictbench validate``: published results against what the simulator makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bench.cli import options
from bench.cli.codes import INTERRUPTED, UNMET
from sim.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from bench.gates.gate import Gate, Verdict
    from bench.gates.unclaimed import Unclaimed

__all__ = ["command"]


@click.command()
@click.argument("gates", metavar="[GATE]...", nargs=-1)
@click.option(
    "--data",
    metavar="DIR",
    help="The folder of recordings; gates that replay some are not judged without it.",
)
@options.jobs
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 unless every gate agrees; one that is not judged does not.",
)
@options.format_of("table", "json", "csv", "md")
def command(
    gates: tuple[str, ...], data: str | None, jobs: int | None, strict: bool, form: str
) -> int:
    """Hold the simulator against published results.

    Each gate is a published result with the bounds inside which the simulator agrees with it, how
    well the source is known, and what had to be inferred. Without GATE, all of them, and behind
    them the published results that no gate claims, with the reason.

    A gate that disagrees is a result: the exit code is 0 when every gate has run, and 2 if the
    input is wrong. With --strict it is 1 unless every gate that was asked for agrees; name those
    whose recordings you have.

    \b
    Examples:
      evictbench validate
      evictbench validate ttl-replay --data recordings --format json
      evictbench validate break-even-shares --strict
    """
    from bench.gates.registry import choose
    from bench.gates.unclaimed import UNCLAIMED

    chosen = choose(gates)
    folder = _folder(data)
    judged: list[tuple[Gate, Verdict]] = []
    stopped = _judge(chosen, folder, jobs, judged)
    if judged:
        _print(judged, form, () if gates else UNCLAIMED)
    if stopped:
        click.echo(
            f"evictbench: interrupted; {len(judged)} of {len(chosen)} gates were finished", err=True
        )
        return INTERRUPTED
    agreed = all(verdict.agrees is True for _, verdict in judged)
    return UNMET if strict and not agreed else 0


def _folder(data: str | None) -> Path | None:
    """Return the folder of recordings; raises InputError if it is none."""
    if data is None:
        return None
    folder = options.file(data)
    if not folder.is_dir():
        what = "it is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(what, file=data)
    return folder


def _judge(
    chosen: list[Gate], folder: Path | None, jobs: int | None, judged: list[tuple[Gate, Verdict]]
) -> bool:
    """Add the verdict of each gate to *judged*; return whether an interrupt ended it early."""
    from bench.executors import available_jobs
    from bench.gates.judging import judge

    try:
        for verdict in judge(chosen, folder, jobs or available_jobs()):
            judged.append(verdict)
    except KeyboardInterrupt:
        return True
    return False


def _print(judged: list[tuple[Gate, Verdict]], form: str, unclaimed: tuple[Unclaimed, ...]) -> None:
    from bench.tables import validation as shown

    if form == "json":
        from bench.output import json_document

        click.echo(json_document(shown.document(judged, unclaimed)), nl=False)
    elif form == "csv":
        from bench.output import csv_text

        click.echo(csv_text(shown.rows(judged, unclaimed), shown.COLUMNS), nl=False)
    else:
        from bench.cli.emit import print_as

        print_as(shown.validation_tables(judged, unclaimed), form)
