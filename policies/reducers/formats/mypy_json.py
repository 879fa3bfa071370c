"""mypy's JSON lines: the first error of each file."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import Diagnostic
from policies.reducers.checker_json import JsonChecker, Record, said

__all__ = ["REDUCER", "MypyJson"]


class MypyJson(JsonChecker):
    """``mypy --output json``: one object a line, columns counted from 0."""

    name = "mypy-json"
    kind = "typecheck"
    hints = ('"severity":',)
    keys = ("file", "line", "message", "severity", "hint")

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield the errors; notes are none."""
        if record.get("severity") != "error" or "file" not in record:
            return
        file = said(record["file"])
        where = f"{file}:{said(record.get('line'))}"
        code = f"  [{said(record['code'])}]" if record.get("code") else ""
        text = f"{where}: error: {said(record.get('message'))}{code}"
        yield Diagnostic(0, file, text, where=where)


REDUCER = MypyJson()
