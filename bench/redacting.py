"""Recorded sessions and scripts without their text: from the files a user gives to documents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from bench.output import json_document
from bench.results import is_file_or_new, prepare, write_text
from sim.errors import InputError

if TYPE_CHECKING:
    from scenarios.transcripts.loading import Reading
    from sim.script import Script

__all__ = ["document", "refuse_overwriting", "refuse_recordings", "scripts_in", "write_all"]

Say = Callable[[str], object]

_NUMBERED = re.compile(r"session-([1-9][0-9]*)\.json")


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
    from scenarios.transcripts.loading import scenarios_in

    known = [file for file in files if file.is_file() and is_script(file)]
    for file in known:
        if reading.declared is not None:
            raise InputError("a script has the budgets of its tools already", file=file)
        yield load_script(file, settings).script(0)
    recordings = [file for file in files if file not in known]
    if recordings:
        for scenario in scenarios_in(recordings, reading, warn, tell):
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
    writer = script.settings.get("summariser.price")
    if writer is not None and writer not in load_book():
        warn(
            f"the price row {writer!r} of what writes the summaries is of a book of your own and "
            "is left out; give --prices and --set summariser.price again"
        )
        settings = {k: v for k, v in script.settings.items() if k != "summariser.price"}
        script = replace(script, settings=settings)
    if redrawn(script):
        warn(
            "ids or facts of this script are names of its author's, by which a run draws; without "
            "them it draws anew, so rows can differ"
        )
    return redact(script)


def write_all(
    documents: Iterator[str],
    output: str | None,
    inputs: Sequence[Path],
    force: bool = False,
    warn: Say = lambda sentence: None,
) -> str | None:
    """Write each of *documents* to *output*, or return the only one if that is None.

    *output* is a file, or for several a folder: one that exists, or a name with a slash at its end.
    Raises InputError where there are several and no folder, where there is none, where an input
    would be overwritten, and unless *force* is given where a script stands there already. *warn* is
    told of scripts in the folder that are of an earlier redaction.
    """
    file = None if output is None else Path(output).expanduser()
    if file is not None and output is not None:
        if output.endswith(("/", os.sep)) or file.is_dir():
            _write_folder(documents, file, inputs, force, warn)
            return None
        _check_output(file, _identities(inputs), force)
    only = next(documents, None)
    if only is None:
        raise InputError("there is no session in it", file=inputs[0])
    if next(documents, None) is not None:
        raise InputError("there are several sessions in it: give a folder, -o DIR/")
    if file is None:
        return only
    write_text(file, only, private=True)
    return None


def _write_folder(
    documents: Iterator[str], folder: Path, inputs: Sequence[Path], force: bool, warn: Say
) -> None:
    known = _identities(inputs)
    old = dict(sorted(_numbered(folder)))
    for file in old.values():
        _check_output(file, known, force)
    prepare(folder)
    written = 0
    for written, text in enumerate(documents, 1):
        file = folder / f"session-{written}.json"
        _check_output(file, known, force)
        write_text(file, text, private=True)
    left = sorted(number for number in old if number > written)
    if left:
        names = f"session-{left[0]}.json" + (f" to session-{left[-1]}.json" if left[1:] else "")
        warn(f"{folder}: {names} there {'are' if left[1:] else 'is'} of an earlier redaction")


def _numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the numbered scripts that stand in *folder*, with their numbers."""
    for file in folder.glob("session-*.json"):
        number = _NUMBERED.fullmatch(file.name)
        if number:
            yield int(number[1]), file


def _check_output(file: Path, inputs: Collection[tuple[int, int]], force: bool) -> None:
    """Raise InputError if *file* is one of the *inputs*, or exists and that is not to be *force*d.

    What is no regular file is written through, and takes nobody's place.
    """
    _refuse(file, inputs)
    if not force and file.exists() and is_file_or_new(file):
        raise InputError("it exists already; --force replaces it", file=file)


def refuse_recordings(names: Iterable[object]) -> None:
    """Raise InputError for the first of *names* that is recorded sessions; say what takes them.

    For commands that take scenarios, once one of *names* is none.
    """
    from scenarios import catalogue
    from scenarios.transcripts.sources import recorded_format

    for name in names:
        if not isinstance(name, str) or catalogue.is_known(name):
            continue
        if Path(name).is_dir():
            raise InputError(
                "it is a folder and no scenario; recorded sessions in it are for `evictbench "
                "replay` and `evictbench explain`",
                file=name,
            )
        format = recorded_format(Path(name))
        if format is not None:
            raise InputError(
                f"it is a recorded session ({format}) and no scenario: `evictbench replay` "
                "compares policies on it, `evictbench explain` takes a run of it apart, and "
                "`evictbench redact --keep-names -o script.json` makes a script that `run` and "
                "`compare` take",
                file=name,
            )


def refuse_overwriting(output: Path, inputs: Sequence[Path]) -> None:
    """Raise InputError if *output* is one of the *inputs*, by whatever name."""
    _refuse(output, _identities(inputs))


def _refuse(output: Path, inputs: Collection[tuple[int, int]]) -> None:
    if any(identity in inputs for identity in _identity(output)):
        raise InputError("it is an input, which is never overwritten", file=output)


def _identities(inputs: Sequence[Path]) -> frozenset[tuple[int, int]]:
    """Return what tells every file that *inputs* may stand for from all others."""
    return frozenset(
        identity for given in inputs for file in _files(given) for identity in _identity(file)
    )


def _identity(file: Path) -> Iterator[tuple[int, int]]:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return
    yield found.st_dev, found.st_ino


def _files(given: Path) -> Iterator[Path]:
    """Yield every file that *given*, a file, a folder or a pattern, may stand for."""
    for name in glob(str(given), recursive=True) if has_magic(str(given)) else ():
        yield from _files_of(Path(name))
    yield from _files_of(given)


def _files_of(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir():
        yield from path.rglob("*")
