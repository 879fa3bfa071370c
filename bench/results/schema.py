"""The schema of a folder: a Data Package, whose tables have a Table Schema each.

Both are standards of the Frictionless project (https://datapackage.org, version 2). Beside what
they name, a field has ``unit`` and ``better`` (``less`` or ``more``) where its column has them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from bench.results.columns import Column

if TYPE_CHECKING:
    from bench.results.tables import Table

__all__ = ["schema"]

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"


def schema(tables: Iterable[Table]) -> dict[str, Any]:
    """Return the Data Package that describes *tables*, JSON's own types all through."""
    return {
        "$schema": PROFILE,
        "name": "evictbench-results",
        "title": "Results of evictbench",
        "resources": [_resource(table) for table in tables],
    }


def _resource(table: Table) -> dict[str, Any]:
    return {
        "name": table.name.replace("_", "-"),
        "path": table.file,
        "description": table.says,
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "schema": {
            "fields": [_field(column, table.key) for column in table.columns],
            "primaryKey": list(table.key),
        },
    }


def _field(column: Column, key: Iterable[str]) -> dict[str, Any]:
    field = {"name": column.name, "type": column.type, "description": column.says}
    more = {"unit": column.unit, "better": column.better}
    field |= {name: value for name, value in more.items() if value is not None}
    return {**field, "constraints": {"required": True}} if column.name in set(key) else field
