"""The reader: a folder of results back into rows and manifest, or one sentence on what is wrong."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.results.names import FORMAT, MANIFEST, SCHEMA, TABLES
from bench.results.parquet import from_parquet
from sim.errors import InputError

__all__ = ["Results", "load"]

NEEDED = ("scenario", "price", "policy", "seed", "status")
"""Columns without which rows are no runs."""


@dataclass(frozen=True, slots=True)
class Results:
    """A folder of results: its *rows*, one a run, their *key*, and its *manifest*.

    Rows are dicts of Python's own types. *key* names the columns that tell one run from another:
    scenario, price, policy and seed, behind the settings that were varied.
    """

    folder: Path
    rows: list[dict[str, Any]]
    key: tuple[str, ...]
    manifest: dict[str, Any]

    def table(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of another table, such as ``turns``.

        Raises InputError if the folder has none of that name, or the file is damaged.
        """
        here = [each for each in TABLES if f"{each}.parquet" in self.manifest["files"]]
        if name not in here:
            raise InputError(f"it has no table {name!r}, but {', '.join(here)}", file=self.folder)
        return _rows(self.folder / f"{name}.parquet", self.manifest["files"])


def load(folder: Path) -> Results:
    """Return the results in *folder*.

    Raises InputError, in one sentence, where there is no such folder or it holds no results, where
    a file is missing, damaged, cut short or not of this manifest, and for a form that is newer
    than this version of evictbench knows.
    """
    manifest = _manifest(folder)
    files = manifest["files"]
    rows = _rows(folder / "runs.parquet", files)
    key = _key(folder / SCHEMA, files)
    lacking = [name for name in dict.fromkeys((*key, *NEEDED)) if rows and name not in rows[0]]
    if lacking:
        raise InputError(f"it has no column {lacking[0]!r}", file=folder / "runs.parquet")
    return Results(folder, rows, key, manifest)


def _manifest(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        what = "it is no folder" if folder.exists() else "there is no such folder"
        raise InputError(what, file=folder)
    file = folder / MANIFEST
    if not file.exists():
        raise InputError(f"no folder of results: it has no {MANIFEST}", file=folder)
    manifest = _document(file, _read(file))
    form, files = manifest.get("format"), manifest.get("files")
    if not isinstance(form, int) or isinstance(form, bool) or form < 1:
        raise InputError("it is no manifest of results: it has no format", file=file)
    if form > FORMAT:
        version = manifest.get("evictbench")
        raise InputError(
            f"it has format {form}, written by evictbench {version}; this version reads {FORMAT}",
            file=file,
        )
    if not _is_files(files) or not isinstance(manifest.get("scenarios"), dict):
        raise InputError("it is no manifest of results: files or scenarios are missing", file=file)
    return manifest


def _is_files(files: object) -> bool:
    return isinstance(files, dict) and all(
        isinstance(told, dict) and isinstance(told.get("sha256"), str) for told in files.values()
    )


def _key(file: Path, files: dict[str, Any]) -> tuple[str, ...]:
    document = _document(file, _checked(file, files))
    try:
        (runs,) = (each for each in document["resources"] if each["path"] == "runs.parquet")
        key = runs["schema"]["primaryKey"]
    except (KeyError, TypeError, ValueError):
        key = None
    if not isinstance(key, list) or not all(isinstance(name, str) for name in key):
        raise InputError("it does not say what tells one run from another", file=file)
    return tuple(key)


def _rows(file: Path, files: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        return from_parquet(_checked(file, files))
    except ValueError as error:
        says = " ".join(str(error).split())
        raise InputError(f"it is damaged: {says}", file=file) from None


def _checked(file: Path, files: dict[str, Any]) -> bytes:
    """Return what *file* holds, if it is what the manifest says."""
    if file.name not in files:
        raise InputError(f"the manifest names no {file.name}", file=file.parent / MANIFEST)
    data = _read(file)
    if hashlib.sha256(data).hexdigest() != files[file.name]["sha256"]:
        raise InputError("it is damaged, cut short or not of this manifest", file=file)
    return data


def _document(file: Path, data: bytes) -> dict[str, Any]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise InputError("it is damaged: no JSON", file=file, line=line) from None
    if not isinstance(document, dict):
        raise InputError("it is no JSON object", file=file)
    return document


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise InputError("it is missing", file=file) from None
    except OSError as error:
        raise InputError(f"cannot read it: {error.strerror}", file=file) from None
