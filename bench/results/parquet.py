"""A table as a Parquet file, of the same bytes for the same values, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from bench.output import plain

if TYPE_CHECKING:
    from bench.results.columns import Column
    from bench.results.tables import Table

__all__ = ["GROUP", "from_parquet", "write_parquet"]

GROUP = 1 << 14
"""Rows that are written, and read, at a time."""

_ARROW = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}
_PANDAS = {
    "string": ("unicode", "str"),
    "integer": ("int64", "Int64"),
    "number": ("float64", "float64"),
    "boolean": ("bool", "boolean"),
}


def write_parquet(table: Table, file: BinaryIO) -> int:
    """Write *table* to *file* as Parquet, and return how many rows it has.

    It is compressed with zstd, with a checksum for every page. No more than one group of rows, of
    which each has :data:`GROUP` but the last, is in memory at a time. Numbers have 9 significant
    digits, as in every other output. pandas reads whole numbers as ``Int64``, which has nulls, and
    truth values as ``boolean``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {column.name: pa.type_for_alias(_ARROW[column.type]) for column in table.columns}
    schema = pa.schema(types.items(), {"pandas": json.dumps(_pandas(table))})
    rows = 0
    with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
        for group in _groups(table):
            arrays = [
                pa.array([_plain(value, column) for value in values], types[column.name])
                for column, values in zip(table.columns, group, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            rows += len(group[0])
    return rows


def _groups(table: Table) -> Iterator[list[list[Any]]]:
    """Yield the values of :data:`GROUP` rows of *table* at a time, column by column."""
    group: list[list[Any]] = [[] for _ in table.columns]
    for part in table.parts:
        for column, values in zip(table.columns, group, strict=True):
            values += part[column.name]
        while len(group[0]) >= GROUP:
            yield [values[:GROUP] for values in group]
            group = [values[GROUP:] for values in group]
    if group[0]:
        yield group


def from_parquet(data: bytes) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file as dicts of Python's own types.

    Raises ValueError if it is damaged. One thread reads it: pyarrow's pool can abort a process
    that ends soon after it was used (apache/arrow, issue 34314).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        read = file.read(use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(str(error)) from None
    rows: list[dict[str, Any]] = read.to_pylist()
    return rows


def _plain(value: Any, column: Column) -> Any:
    """Return *value* as it is stored; a text may hold no half of a character."""
    value = plain(value)
    if column.type != "string" or value is None:
        return value
    return str(value).encode(errors="backslashreplace").decode()


def _pandas(table: Table) -> dict[str, Any]:
    """Return what pandas keeps of a data frame, without the versions of what wrote it."""
    columns = [
        {
            "name": column.name,
            "field_name": column.name,
            "pandas_type": _PANDAS[column.type][0],
            "numpy_type": _PANDAS[column.type][1],
            "metadata": None,
        }
        for column in table.columns
    ]
    return {"index_columns": [], "column_indexes": [], "columns": columns}
