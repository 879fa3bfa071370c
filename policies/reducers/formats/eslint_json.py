"""ESLint's JSON: the first error of each file."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import Diagnostic
from policies.reducers.checker_json import JsonChecker, Record, said

__all__ = ["REDUCER", "EslintJson"]

_LEVELS = {1: "warning", 2: "error"}


class EslintJson(JsonChecker):
    """ESLint's formatters ``json`` and ``json-with-metadata``."""

    name = "eslint-json"
    hints = ('"filePath":',)
    keys = ("filePath", "messages")
    inside = "results"

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield the messages of one file; those without a severity are no problems."""
        file, messages = said(record.get("filePath")), record.get("messages")
        for each in messages if isinstance(messages, list) else ():
            level = _level(each) if isinstance(each, dict) else ""
            if not level:
                continue
            where = f"{file}:{said(each.get('line'))}:{said(each.get('column'))}"
            text = f"{where}  {level}  {said(each.get('message'))}  {said(each.get('ruleId'))}"
            yield Diagnostic(0, file, text.rstrip(), level == "error", where=where)


def _level(message: Record) -> str:
    severity = message.get("severity")
    return _LEVELS.get(severity, "") if isinstance(severity, int) else ""


REDUCER = EslintJson()
