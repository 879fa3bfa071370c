"""An inventory of recordings: what each file is, and what reading it gave and took.

Run as ``python -m bench.recordings DIR``; ``--tsv FILE`` writes the table of files, by which a test
holds the readers to what they read. The page of replays shows the table of formats.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NoReturn

import click

from bench.cli.module import run_module
from scenarios.transcripts.findings import counted
from sim.errors import InputError

__all__ = ["BROKEN", "NONE", "PRICES", "SESSION", "SEVERAL", "Entry", "inventory", "tsv"]

SESSION, SEVERAL, NONE, BROKEN = "session", "several sessions", "not a session", "broken"
"""Kinds of files."""

PRICES: Mapping[str, str] = {"codex": "gpt-5.5"}
"""Price row by whose cache rule a format's calls are simulated, where it is not the default's."""


@dataclass(slots=True)
class Entry:
    """A file: its *kind*, its *format*, and the sum of its *sessions*.

    A file of a series counts as a session if its session begins with it, else as none of its own:
    *part_of* then names the first. *errors* are the median and the largest held-out errors of the
    usage fitted in each session; *reads* has, of each call whose cache reads are recorded, the
    prompt, what of it was read, and what the simulation would have read of it; *why* says what a
    file is that gives no session.
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
    reads: list[tuple[int, int, float]] = field(default_factory=list)
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
        price = PRICES.get(entry.format, scenario.settings["price"])
        told = reference(scenario, entry.format, [price])
        if told["fit"] is not None:
            entry.errors.append((told["fit"]["median_error"], told["fit"]["max_error"]))
        entry.reads += _reads(told["calls"])


def _reads(calls: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, int, float]]:
    """Yield prompt, recorded and simulated reads of each call that records them.

    The simulated are scaled to the recorded prompt, so that the tokenizer is no part of it.
    """
    for call in calls:
        if call["recorded_read"] is not None and call["simulated"]:
            share = call["simulated_read"] / call["simulated"]
            yield call["recorded"], call["recorded_read"], share * call["recorded"]


def tsv(entries: Iterable[Entry]) -> str:
    """Return the table of files: path, kind, format and number of sessions."""
    lines = ["file\tkind\tformat\tsessions"]
    lines += [f"{e.path}\t{e.kind}\t{e.format or '-'}\t{e.sessions}" for e in entries]
    return "\n".join(lines) + "\n"


def by_format(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of the table of formats, in Markdown."""
    yield f"| {' | '.join(_COLUMNS)} |"
    yield f"|{'---|' * len(_COLUMNS)}"
    for name in sorted({entry.format for entry in entries if entry.sessions}):
        mine = [entry for entry in entries if entry.format == name and entry.sessions]
        inside = {entry.path for entry in mine}
        files = len(mine) + sum(entry.part_of in inside for entry in entries)
        sums = [sum(getattr(entry, what) for entry in mine) for what in _SUMS]
        megabytes, sessions, turns, tokens, seconds = sums
        yield (
            f"| {name} | {files:,} | {megabytes:.1f} | {sessions:,} | {turns:,} | {tokens:,} | "
            f"{seconds:.1f} | {_usage(mine)} | {_cache(mine)} |"
        )


_COLUMNS = (
    *("format", "files", "MB", "sessions", "turns", "tokens", "seconds"),
    "usage, held-out error",
    "cache reads",
)
_SUMS = ("megabytes", "sessions", "turns", "tokens", "seconds")


def _usage(entries: Sequence[Entry]) -> str:
    errors = [error for entry in entries for error in entry.errors]
    used = sum(entry.with_usage for entry in entries)
    if not used:
        return "no usage"
    if not errors:
        from scenarios.transcripts.formats import get_format

        unheld = get_format(entries[0].format).unheld
        why = f"none fitted: it lacks {unheld}" if unheld else "too few calls to fit"
        return f"{used:,} {'session' if used == 1 else 'sessions'}, {why}"
    middle = median(each for each, _ in errors)
    worst = max(each for each, _ in errors)
    call = max(each for _, each in errors)
    return (
        f"{len(errors):,} fitted: {100 * middle:.1f} % in the median session, "
        f"{100 * worst:.1f} % in the worst, {100 * call:.1f} % in the worst call"
    )


def _cache(entries: Sequence[Entry]) -> str:
    """Say what was read from the cache, as recorded and as simulated, and how far calls are off."""
    reads = [read for entry in entries for read in entry.reads]
    if not any(recorded for _, recorded, _ in reads):
        return "none recorded"
    prompts = sum(prompt for prompt, _, _ in reads)
    recorded = sum(each for _, each, _ in reads)
    simulated = sum(each for _, _, each in reads)
    off = sum(abs(told - made) for _, told, made in reads)
    return (
        f"{100 * recorded / prompts:.1f} %, simulated {100 * simulated / prompts:.1f} %; "
        f"off by {100 * off / prompts:.1f} % over {counted(len(reads), 'call', 'calls')}"
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
    run_module(command, "bench.recordings")


if __name__ == "__main__":
    main()
