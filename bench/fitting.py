"""From the files a user gives to the text of a scenario file fitted to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from sim.errors import InputError, unknown

__all__ = ["fit_sessions", "target"]

Say = Callable[[str], object]


def target(file: Path, inputs: Sequence[Path], force: bool = False) -> Path:
    """Return *file* if it may be written.

    Raises InputError for what is no TOML file, for one that exists unless *force* is given, and
    for one of the *inputs* always.
    """
    from bench.redacting import refuse_overwriting

    if file.suffix != ".toml":
        raise InputError("a scenario file's name must end with .toml", file=file)
    if file.is_dir():
        raise InputError("it is a folder", file=file)
    refuse_overwriting(file, inputs)
    if file.exists() and not force:
        raise InputError("it exists already; --force replaces it", file=file)
    return file


def fit_sessions(
    files: Sequence[str | PathLike[str]],
    family: str | None = None,
    *,
    budget: int | None = None,
    tokenizer: str | None = None,
    strict: bool = False,
    warn: Say = lambda sentence: None,
    tell: Say = lambda sentence: None,
) -> str:
    """Return a scenario file, as TOML, with *family* fitted to the sessions in *files*, pooled.

    Without a *family* the one that suits is taken. Sessions are read one at a time; what several of
    them have in common is told once. Raises InputError for what is no recording, and where there
    is too little to fit.
    """
    from scenarios.fitting.families import FITTED
    from scenarios.fitting.fit import fit
    from scenarios.fitting.measure import measure, pooled
    from scenarios.transcripts.loading import Reading, scenarios_in

    if family is not None and family not in FITTED:
        raise InputError(unknown("family", family, FITTED))
    reading = Reading.of(budget, strict=strict, tokenizer=tokenizer)
    names, figures = [], []
    for scenario in scenarios_in(files, reading, warn, tell):
        names.append(scenario.name)
        figures.append(measure(scenario.script(0)))
    if not figures:
        raise InputError("there is no session in it", file=str(files[0]))
    try:
        return fit(pooled(figures), family).document(names)
    except InputError as error:
        raise InputError(error.message, file=error.file or str(files[0])) from None
