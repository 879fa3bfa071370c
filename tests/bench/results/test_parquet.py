from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq
import pytest

from bench.results import parquet
from bench.results.columns import Column
from bench.results.tables import Table

COLUMNS = [Column("n", "integer", "a number"), Column("word", "string", "a word")]


def test_rows_are_written_in_groups_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """23 rows in parts of 6, 1, 0, 12 and 4 are two groups of 10 and one of 3."""
    monkeypatch.setattr(parquet, "GROUP", 10)
    file = io.BytesIO()
    sizes_of_file: list[int] = []

    def parts() -> Iterator[dict[str, list[Any]]]:
        first = 0
        for count in (6, 1, 0, 12, 4):
            sizes_of_file.append(file.tell())
            numbers = list(range(first, first + count))
            yield {"word": [f"w{n}" for n in numbers], "n": numbers}
            first += count

    assert parquet.write_parquet(Table("t", "Rows.", COLUMNS, ("n",), parts()), file) == 23
    found = pq.ParquetFile(io.BytesIO(file.getvalue()))
    groups = [found.metadata.row_group(n).num_rows for n in range(found.num_row_groups)]
    assert groups == [10, 10, 3]
    assert parquet.from_parquet(file.getvalue()) == [{"n": n, "word": f"w{n}"} for n in range(23)]
    before, *_, behind_a_group = sizes_of_file
    assert sizes_of_file[:4] == [before] * 4 and behind_a_group > before


def test_a_table_may_have_no_rows() -> None:
    file = io.BytesIO()
    assert parquet.write_parquet(Table("t", "Rows.", COLUMNS, ("n",), []), file) == 0
    assert parquet.from_parquet(file.getvalue()) == []
    assert pq.read_schema(io.BytesIO(file.getvalue())).names == ["n", "word"]
