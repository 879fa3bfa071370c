"""A table as the bytes of a Parquet file, the same for the same values, and back."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from bench.output import plain

if TYPE_CHECKING:
    from bench.results.columns import Column
    from bench.results.tables import Table

__all__ = ["from_parquet", "to_parquet"]

_ARROW = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}
_PANDAS = {
    "string": ("unicode", "str"),
    "integer": ("int64", "Int64"),
    "number": ("float64", "float64"),
    "boolean": ("bool", "boolean"),
}


def to_parquet(table: Table) -> bytes:
    """Return *table* as Parquet, compressed with zstd, with a checksum for every page.

    Numbers have 9 significant digits, as in every other output. pandas reads whole numbers as
    ``Int64``, which has nulls, and truth values as ``boolean``.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        column.name: pa.array(
            [_plain(value, column) for value in table.values[column.name]],
            pa.type_for_alias(_ARROW[column.type]),
        )
        for column in table.columns
    }
    made = pa.table(arrays).replace_schema_metadata({"pandas": json.dumps(_pandas(table))})
    file = io.BytesIO()
    pq.write_table(made, file, compression="zstd", write_page_checksum=True)
    return file.getvalue()


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
