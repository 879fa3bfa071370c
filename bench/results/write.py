"""The writer: a comparison into a folder, each file whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.output import json_document, plain
from bench.results.atomic import prepare, write_bytes
from bench.results.names import FORMAT, MANIFEST, SCHEMA, TABLES
from bench.results.parquet import to_parquet
from bench.results.schema import schema
from bench.results.tables import tables_of
from sim.errors import InputError

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["save"]


def save(comparison: Comparison, folder: Path) -> None:
    """Write *comparison* to *folder*; what a comparison before it left there is replaced.

    The manifest comes last and holds the hash of every other file, so that a folder whose writing
    was cut short is told from a whole one. Raises InputError if a file cannot be written.
    """
    prepare(folder)
    tables = list(tables_of(comparison))
    files = {table.file: to_parquet(table) for table in tables}
    files[SCHEMA] = json.dumps(schema(tables), indent=1, ensure_ascii=False).encode() + b"\n"
    described: dict[str, Any] = {name: {"sha256": _hash(data)} for name, data in files.items()}
    for table in tables:
        described[table.file]["rows"] = table.rows
    manifest = {"format": FORMAT, **plain(comparison.manifest), "files": described}
    for name, data in files.items():
        write_bytes(folder / name, data)
    for name in TABLES:
        if f"{name}.parquet" not in files:
            _remove(folder / f"{name}.parquet")
    write_bytes(folder / MANIFEST, json_document(manifest).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot remove it: {error.strerror}", file=file) from None
