"""An inventory of recordings: what each file is, and what reading it gave and took.

Run as ``python -m bench.recordings DIR``; ``--tsv FILE`` writes the table of files, by which a test
holds the readers to what they read. The page of replays shows the table of formats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import NoReturn

import click

from sim.errors import InputError

__all__ = ["BROKEN", "NONE", "SESSION", "SEVERAL", "Entry", "inventory", "tsv"]

SESSION, SEVERAL, NONE, BROKEN = "session", "several sessions", "not a session", "broken"
"""Kinds of files."""


@dataclass(slots=True)
class Entry:
    """A file: its *kind*, its *format*, and the sum of its *sessions*.

    A file of a series counts as a session if its session begins with it, else as none of its own:
    *part_of* then names the first. *errors* are the median and the largest held-out errors of the
    usage fitted in each session; *why* what a file is that gives no session.
    """

    path: str
    kind: str
    format: str = ""
    sessions: int = 0
    turns: int = 0
    tokens: int = 0
    seconds: float = 0.0
    megabytes: float = 0.0
    with_usage: int = 0
    errors: list[tuple[float, float]] = field(default_factory=list)
    why: str = ""
    part_of: str = ""


def inventory(folder: Path, fitted: bool = True) -> list[Entry]:
    """Return an entry for each file under *folder*, by path; usage is *fitted* where there is any.

    Raises InputError where nothing under *folder* is a recording.
    """
    from scenarios.transcripts.sources import find

    said: list[str] = []
    sources = find([folder], False, said.append)
    first = {source.files[0]: source for source in sources}
    series = {file: source.files[0] for source in sources for file in source.files[1:]}
    entries = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = str(path.relative_to(folder))
        if path in first:
            entries.append(_read(name, path, first[path], fitted))
        elif path in series:
            part_of = str(series[path].relative_to(folder))
            entries.append(Entry(name, "part of a session", part_of=part_of))
        else:
            why = next((each for each in said if each.startswith(str(path))), "")
            why = why.removeprefix(str(path)).lstrip(":0123456789 ")
            kind = BROKEN if "not valid JSON" in why and path.suffix != ".md" else NONE
            entries.append(Entry(name, kind, why=why))
    return entries


def _read(name: str, path: Path, source: object, fitted: bool) -> Entry:
    from scenarios.transcripts.loading import Reading, scenarios_of
    from scenarios.transcripts.sources import Source

    assert isinstance(source, Source)
    entry = Entry(name, NONE, source.format)
    entry.megabytes = sum(file.stat().st_size for file in source.files) / 1e6
    warnings: list[str] = []
    started = time.perf_counter()
    try:
        for scenario in scenarios_of(source, Reading.of(), warnings.append, lambda note: None):
            entry.seconds += time.perf_counter() - started
            _add(entry, scenario, fitted)
            started = time.perf_counter()
    except InputError as error:
        warnings.append(str(error))
    entry.seconds += time.perf_counter() - started
    entry.kind = SESSION if entry.sessions == 1 else SEVERAL if entry.sessions else NONE
    if not entry.sessions:
        entry.why = (warnings or [""])[-1].removeprefix(str(path)).lstrip(": ")
    return entry


def _add(entry: Entry, scenario: object, fitted: bool) -> None:
    from bench.replays.reference import reference
    from scenarios.scenario import Scenario
    from sim.script import Arrival

    assert isinstance(scenario, Scenario)
    script = scenario.script(0)
    entry.sessions += 1
    entry.turns += scenario.settings["turns"]
    entry.tokens += sum(s.tokens for s in script.stimuli if isinstance(s, Arrival))
    if not any("input_tokens" in row for row in script.recorded.values()):
        return
    entry.with_usage += 1
    if fitted:
        fit = reference(scenario, entry.format, [scenario.settings["price"]])["fit"]
        if fit is not None:
            entry.errors.append((fit["median_error"], fit["max_error"]))


def tsv(entries: Iterable[Entry]) -> str:
    """Return the table of files: path, kind, format and number of sessions."""
    lines = ["file\tkind\tformat\tsessions"]
    lines += [f"{e.path}\t{e.kind}\t{e.format or '-'}\t{e.sessions}" for e in entries]
    return "\n".join(lines) + "\n"


def by_format(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of the table of formats, in Markdown."""
    yield "| format | files | MB | sessions | turns | tokens | seconds | usage, held-out error |"
    yield "|---|---|---|---|---|---|---|---|"
    for name in sorted({entry.format for entry in entries if entry.sessions}):
        mine = [entry for entry in entries if entry.format == name and entry.sessions]
        inside = {entry.path for entry in mine}
        files = len(mine) + sum(entry.part_of in inside for entry in entries)
        sums = [sum(getattr(entry, what) for entry in mine) for what in _SUMS]
        megabytes, sessions, turns, tokens, seconds = sums
        yield (
            f"| {name} | {files:,} | {megabytes:.1f} | {sessions:,} | {turns:,} | {tokens:,} | "
            f"{seconds:.1f} | {_usage(mine)} |"
        )


_SUMS = ("megabytes", "sessions", "turns", "tokens", "seconds")


def _usage(entries: Sequence[Entry]) -> str:
    errors = [error for entry in entries for error in entry.errors]
    used = sum(entry.with_usage for entry in entries)
    if not used:
        return "no usage"
    if not errors:
        return f"{used:,} sessions, too few calls to fit"
    middle = median(each for each, _ in errors)
    worst = max(each for each, _ in errors)
    call = max(each for _, each in errors)
    return (
        f"{len(errors):,} fitted: {100 * middle:.1f} % in the median session, "
        f"{100 * worst:.1f} % in the worst, {100 * call:.1f} % in the worst call"
    )


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--tsv", "file", type=click.Path(path_type=Path), help="Write the table of files.")
def command(folder: Path, file: Path | None) -> None:
    """Read every recording under FOLDER, and print what each format gave and took."""
    entries = inventory(folder)
    if file is not None:
        file.write_text(tsv(entries), encoding="utf-8")
    click.echo("\n".join(by_format(entries)))


def main() -> NoReturn:
    """Run the command; what is wrong is one sentence on standard error."""
    try:
        command.main(prog_name="python -m bench.recordings", standalone_mode=False)
    except click.ClickException as error:
        click.echo(f"evictbench: {error.format_message()}", err=True)
        sys.exit(2)
    except InputError as error:
        click.echo(f"evictbench: {error}", err=True)
        sys.exit(2)
    sys.exit(0)


if __name__ == "__main__":
    main()
