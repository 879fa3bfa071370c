"""A folder of results: what a comparison leaves on disk, written and read back.

``runs.parquet`` has one row a run, ``summary.parquet`` one a scenario, price, policy and metric,
``turns.parquet``, where it was asked for, one a turn of a run, and ``what_if.parquet``, of a
replay, one a session, price and policy. ``schema.json`` says what each column is, and
``manifest.json`` how the rows came about.
"""

from __future__ import annotations

from bench.results.atomic import is_file_or_new, prepare, write_bytes, write_text
from bench.results.read import Results, load
from bench.results.write import save, tidy, vacant

__all__ = [
    "Results",
    "is_file_or_new",
    "load",
    "prepare",
    "save",
    "tidy",
    "vacant",
    "write_bytes",
    "write_text",
]
