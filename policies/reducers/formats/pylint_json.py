"""pylint's JSON: the first error of each file, and the score."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import Diagnostic
from policies.reducers.checker_json import Document, JsonChecker, Record, said

__all__ = ["REDUCER", "PylintJson"]


class PylintJson(JsonChecker):
    """pylint's output formats ``json`` and ``json2``."""

    name = "pylint-json"
    hints = ('"symbol":',)
    keys = ("path", "symbol", "type")
    inside = "messages"

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield the message; those of the types error and fatal are errors."""
        if "path" not in record or "symbol" not in record:
            return
        file, symbol = said(record["path"]), said(record["symbol"])
        code = said(record.get("message-id") or record.get("messageId"))
        where = f"{file}:{said(record.get('line'))}:{said(record.get('column'))}"
        text = f"{where}: {code}: {said(record.get('message'))} ({symbol})"
        yield Diagnostic(0, file, text, record.get("type") in ("error", "fatal"), where=where)

    def verdict(self, document: Document) -> str:
        """Return the score, if the document has one."""
        statistics = document.rest.get("statistics")
        score = statistics.get("score") if isinstance(statistics, dict) else None
        return f"score: {said(score)}" if score is not None else ""


REDUCER = PylintJson()
