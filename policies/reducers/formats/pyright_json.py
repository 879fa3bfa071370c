"""pyright's JSON: the first error of each file, and the summary."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import Diagnostic
from policies.reducers.checker_json import Document, JsonChecker, Record, count, said

__all__ = ["REDUCER", "PyrightJson"]


class PyrightJson(JsonChecker):
    """``pyright --outputjson``, and basedpyright's; places count from 0 there and from 1 here."""

    name = "pyright-json"
    kind = "typecheck"
    hints = ('"generalDiagnostics":',)
    keys = ("file", "severity", "message")
    inside = "generalDiagnostics"

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield errors and warnings; information is neither."""
        level = record.get("severity")
        if level not in ("error", "warning"):
            return
        file, place = said(record.get("file")), record.get("range")
        start = place.get("start") if isinstance(place, dict) else None
        where = file
        if isinstance(start, dict):
            where = f"{file}:{count(start.get('line')) + 1}:{count(start.get('character')) + 1}"
        rule = f" ({said(record['rule'])})" if record.get("rule") else ""
        text = f"{where} - {level}: {said(record.get('message'))}{rule}"
        yield Diagnostic(0, file, text, level == "error", where=where)

    def verdict(self, document: Document) -> str:
        """Return the figures of the summary."""
        summary = document.rest.get("summary")
        if not isinstance(summary, dict):
            return ""
        errors, warnings = count(summary.get("errorCount")), count(summary.get("warningCount"))
        return f"errorCount {errors}, warningCount {warnings}"


REDUCER = PyrightJson()
