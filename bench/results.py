"""A folder of results: what a comparison leaves on disk. The only place that writes one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.output import csv_text, json_document, plain
from bench.summary import COLUMNS
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["prepare", "save", "write_text"]


def prepare(folder: Path) -> None:
    """Make *folder* and see that it can be written to, before hours are spent on what goes there.

    Raises InputError if it cannot.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"cannot write there: {error.strerror}", file=folder) from None


def save(comparison: Comparison, folder: Path) -> None:
    """Write *comparison* to *folder*, each file whole or not at all.

    ``rows.csv`` and ``summary.csv`` are the two tables, ``manifest.json`` how they came about,
    ``result.json`` all three in one document. Raises InputError if a file cannot be written.
    """
    prepare(folder)
    write_text(folder / "rows.csv", csv_text(comparison.rows, comparison.columns))
    write_text(folder / "summary.csv", csv_text(comparison.summary, COLUMNS))
    write_text(folder / "manifest.json", json_document(plain(comparison.manifest)))
    write_text(folder / "result.json", json_document(comparison.document()))


def write_text(path: Path, text: str, private: bool = False) -> None:
    """Replace the file *path* by *text* in one step: a reader sees the old one or the new one.

    A *private* file can be read by its owner alone. Raises InputError if it cannot be written;
    *path* is then as it was.
    """
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode(errors="backslashreplace"))
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o600 if private else 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise InputError(f"cannot write it: {error.strerror}", file=path) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
