"""Names of what stands in a folder of results, and the version of its form."""

from __future__ import annotations

__all__ = ["FORMAT", "JOURNAL", "MANIFEST", "SCHEMA", "TABLES"]

FORMAT = 1
"""Version of the form of a folder; a reader knows those up to its own."""

JOURNAL = "journal.jsonl"
"""In which an unfinished sweep keeps what it has come to."""

MANIFEST = "manifest.json"
"""How the rows came about, and the hash of every other file of the folder."""

SCHEMA = "schema.json"
"""What the columns are."""

TABLES = ("runs", "turns", "summary", "what_if")
"""Tables that a folder can hold, each in a file ``NAME.parquet``."""
