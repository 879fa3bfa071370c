"""gcc's diagnostics in JSON: the first error of each file, warnings counted."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import Diagnostic, build
from policies.reducers.checker_json import JsonChecker, Record, count, said
from policies.reducers.form import Form
from policies.reducers.log import Log

__all__ = ["REDUCER", "GccJson"]

_ERRORS = ("error", "fatal error", "internal compiler error", "sorry, unimplemented", "ice")
_WARNINGS = ("warning", "pedwarn", "permerror", "anachronism")
_NOTES = 6
"""Notes of an error that are kept as its detail."""


class GccJson(JsonChecker):
    """``gcc -fdiagnostics-format=json``: one list for each file that is compiled.

    The keys are those of "Formatting of diagnostics" in the gcc manual. A diagnostic stands at
    the caret of its first location.
    """

    name = "gcc-json"
    about = "the first error of each file, warnings counted"
    kind = "build"
    hints = ('"kind":',)
    keys = ("kind", "message", "locations")

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield what one record says, its notes as detail; a note alone is no problem."""
        kind = record.get("kind")
        if kind not in (*_ERRORS, *_WARNINGS) or "locations" not in record:
            return
        file, where = _place(record)
        text = _line(record, f"{file}{where}")
        children = record.get("children")
        notes = children[:_NOTES] if isinstance(children, list) else []
        below = [_line(each, "".join(_place(each))) for each in notes if isinstance(each, dict)]
        detail = "\n".join(line[:300] for line in below)
        yield Diagnostic(0, file, text, kind in _ERRORS, detail, where)

    def read(self, log: Log) -> Form | None:
        """Return the errors of all lists by file, or the warnings where there is no error."""
        documents = list(self._documents(log))
        if not documents:
            return None
        records = [record for document, _ in documents for record in document.records]
        found = [each for record in records for each in self.diagnose(record)]
        cut = [
            f"[the JSON of line {log.number(first):,} is cut short]"
            for document, first in documents
            if not document.whole
        ]
        return build(self.name, log, found, verdict="\n".join(cut))


def _place(record: Record) -> tuple[str, str]:
    """Return the file of *record* and what a compiler prints behind it: line and column."""
    locations = record.get("locations")
    first = locations[0] if isinstance(locations, list) and locations else {}
    caret = first.get("caret") if isinstance(first, dict) else None
    if not isinstance(caret, dict) or not caret.get("file"):
        return "", ""
    line, column = count(caret.get("line")), count(caret.get("column"))
    where = f":{line}:{column}" if column else f":{line}"
    return said(caret["file"]), where if line else ""


def _line(record: Record, place: str) -> str:
    """Return *record* as the compiler prints it for people."""
    option = f" [{said(record['option'])}]" if record.get("option") else ""
    start = f"{place}: " if place else ""
    return f"{start}{said(record.get('kind'))}: {said(record.get('message'))}{option}"


REDUCER = GccJson()
