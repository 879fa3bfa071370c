"""The writer: a comparison into a folder, each file whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.output import json_document, plain
from bench.results.atomic import prepare, remove_unfinished, replaced, write_bytes
from bench.results.names import FORMAT, JOURNAL, MANIFEST, SCHEMA, TABLES
from bench.results.parquet import write_parquet
from bench.results.schema import schema
from bench.results.tables import tables_of
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.api import Comparison
    from bench.results.tables import Table
    from bench.turns import Turns

__all__ = ["save", "tidy", "vacant"]


def vacant(folder: Path) -> None:
    """Make *folder*, and see that a comparison can be written to it.

    Raises InputError where nothing can be written, and where an unfinished sweep is.
    """
    prepare(folder)
    if (folder / JOURNAL).exists():
        raise InputError(
            "there is an unfinished sweep; sweep --resume goes on with it, another --out leaves it",
            file=folder,
        )


def save(comparison: Comparison, folder: Path, turns: Sequence[Turns | None] = ()) -> None:
    """Write *comparison* to *folder*; what a comparison before it left there is replaced.

    *turns* are those of its rows where it does not hold them itself. The manifest comes last and
    holds the hash of every other file, so that a folder whose writing was cut short is told from a
    whole one. Raises InputError if a file cannot be written.
    """
    prepare(folder)
    tables = list(tables_of(comparison, turns or comparison.turns))
    files = {table.file: _write(table, folder) for table in tables}
    described = json.dumps(schema(tables), indent=1, ensure_ascii=False).encode() + b"\n"
    files[SCHEMA] = {"sha256": hashlib.sha256(described).hexdigest()}
    write_bytes(folder / SCHEMA, described)
    for name in TABLES:
        if f"{name}.parquet" not in files:
            _remove(folder / f"{name}.parquet")
    manifest = {"format": FORMAT, **plain(comparison.manifest), "files": files}
    write_bytes(folder / MANIFEST, json_document(manifest).encode())


def tidy(folder: Path) -> None:
    """Remove what processes that were killed while they wrote results have left in *folder*.

    No other process may be writing there. Raises InputError if it cannot be removed.
    """
    for name in (*(f"{table}.parquet" for table in TABLES), SCHEMA, MANIFEST):
        remove_unfinished(folder / name)


def _write(table: Table, folder: Path) -> dict[str, Any]:
    """Write *table* to its file in *folder*, and return what the manifest says of that."""
    with replaced(folder / table.file) as file:
        rows = write_parquet(table, file)
        file.seek(0)
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "rows": rows}


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot remove it: {error.strerror}", file=file) from None
