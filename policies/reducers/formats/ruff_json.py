"""ruff's JSON: the first violation of each file."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import Diagnostic
from policies.reducers.checker_json import JsonChecker, Record, said

__all__ = ["REDUCER", "RuffJson"]


class RuffJson(JsonChecker):
    """``ruff check`` with ``--output-format`` json or json-lines."""

    name = "ruff-json"
    hints = ('"end_location":',)
    keys = ("filename", "location", "message")

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield the violation."""
        place = record.get("location")
        if not isinstance(place, dict) or "filename" not in record:
            return
        file, code = said(record["filename"]), said(record.get("code") or record.get("name"))
        where = f"{file}:{said(place.get('row'))}:{said(place.get('column'))}"
        yield Diagnostic(0, file, f"{where}: {code} {said(record.get('message'))}", where=where)


REDUCER = RuffJson()
