"""Recorded sessions and scripts without their text: from the files a user gives to documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from bench.output import json_document
from bench.results import prepare, write_text
from sim.errors import InputError

if TYPE_CHECKING:
    from scenarios.transcripts.loading import Reading
    from sim.script import Script

__all__ = ["document", "refuse_overwriting", "scripts_in", "write_all"]

Say = Callable[[str], object]


def scripts_in(
    files: Sequence[Path],
    reading: Reading,
    settings: Mapping[str, object],
    warn: Say,
    tell: Say,
) -> Iterator[Script]:
    """Yield the script of each session recorded in *files*, and those of script files among them.

    Scripts come first, as they stand with *settings* over theirs; then recordings as *reading*
    says, by path, one at a time. Raises InputError for what is neither.
    """
    from scenarios.scripts import is_script, load_script
    from scenarios.transcripts.loading import scenarios_of
    from scenarios.transcripts.sources import find

    known = [file for file in files if file.is_file() and is_script(file)]
    for file in known:
        if reading.declared is not None:
            raise InputError("a script has the budgets of its tools already", file=file)
        yield load_script(file, settings).script(0)
    recordings = [file for file in files if file not in known]
    if recordings:
        for source in find(recordings, reading.strict, warn):
            for scenario in scenarios_of(source, reading, warn, tell):
                yield scenario.script(0)


def document(script: Script, warn: Say, names: bool = False) -> str:
    """Return the JSON document of *script* without its text, or with its *names* as they are.

    *warn* is told where a run of it is not the same as one of *script* itself.
    """
    from sim.script import script_to_json

    kept = script if names else _redacted(script, warn)
    return json_document(script_to_json(kept), exact=True)


def _redacted(script: Script, warn: Say) -> Script:
    from bench.prices import load_book
    from scenarios import reference
    from scenarios.redaction import redact, redrawn

    price = script.settings["price"]
    if price not in load_book():
        default = reference.defaults()["price"]
        warn(
            f"the price row {price!r} is of a book of your own and is left out; the script has "
            f"{default}, or give --prices and --price again"
        )
        script = replace(script, settings={**script.settings, "price": default})
    if redrawn(script):
        warn(
            "ids or facts of this script are names of its author's, by which a run draws; without "
            "them it draws anew, so rows can differ"
        )
    return redact(script)


def write_all(documents: Iterator[str], output: str | None, inputs: Sequence[Path]) -> str | None:
    """Write each of *documents* to *output*, or return the only one if that is None.

    *output* is a file, or for several a folder: one that exists, or a name with a slash at its end.
    Raises InputError where there are several and no folder, where there is none, and where an
    input would be overwritten.
    """
    if output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        folder = Path(output).expanduser()
        prepare(folder)
        for number, text in enumerate(documents, 1):
            file = folder / f"session-{number}.json"
            refuse_overwriting(file, inputs)
            write_text(file, text, private=True)
        return None
    only = next(documents, None)
    if only is None:
        raise InputError("there is no session in it", file=inputs[0])
    if next(documents, None) is not None:
        raise InputError("there are several sessions in it: give a folder, -o DIR/")
    if output is None:
        return only
    write_text(Path(output).expanduser(), only, private=True)
    return None


def refuse_overwriting(output: Path, inputs: Sequence[Path]) -> None:
    """Raise InputError if *output* is one of the *inputs*, by whatever name."""
    for given in inputs:
        for file in _files(given):
            try:
                same = os.path.samefile(output, file)
            except OSError:
                same = False
            if same:
                raise InputError("it is an input, which is never overwritten", file=output)


def _files(given: Path) -> Iterator[Path]:
    """Yield every file that *given*, a file, a folder or a pattern, may stand for."""
    for name in glob(str(given), recursive=True) if has_magic(str(given)) else ():
        yield from _files_of(Path(name))
    yield from _files_of(given)


def _files_of(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        yield from path.rglob("*")
