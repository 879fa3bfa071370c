"""Checkers' reports in JSON: where such a document stands in a log, and the records in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from policies.reducers.build import Diagnostic
from policies.reducers.diagnostics import checked
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["Document", "JsonChecker", "Record", "count", "said"]

Record = Mapping[str, Any]
_OPENER = re.compile(r"\n[\[{]")
_NEAR = 2_000
"""Characters after the start of a report within which one of its keys stands."""
_BROKEN = 20
"""Documents that do not end, after which no more are looked for."""
_BLANK = re.compile(r"[\s,]*+")
_DECODE = json.JSONDecoder().raw_decode


class Document:
    """The records of one JSON document, or of JSON lines, that starts at *start* of a text.

    A document that is cut short gives the records up to the cut; *stop* is where reading ended,
    *whole* whether it ended where the document does, *listed* whether its records are a list.
    """

    def __init__(self, text: str, start: int, key: str = "") -> None:
        self.records: list[Record] = []
        self.rest: Record = {}
        self.stop = start
        self.whole = True
        self.listed = text[start] == "["
        if text[start] == "[":
            self._list(text, start + 1)
        else:
            self._object(text, start, key)

    def _list(self, text: str, at: int) -> None:
        """Read the elements of a list from *at* on, one after the other."""
        while True:
            at = _after(text, at)
            if text[at : at + 1] == "]":
                self.stop = at + 1
                return
            try:
                value, at = _DECODE(text, at)
            except (ValueError, RecursionError):
                self.stop, self.whole = at, False
                return
            if isinstance(value, dict):
                self.records.append(value)

    def _object(self, text: str, start: int, key: str) -> None:
        """Read an object: the list at its *key*, or itself as the one record."""
        try:
            value, self.stop = _DECODE(text, start)
        except (ValueError, RecursionError):
            self.whole = False
            at = text.find(f'"{key}"', start) if key else -1
            opener = text.find("[", at) if at >= 0 else -1
            if 0 <= opener < at + len(key) + 9:
                self.listed = True
                self._list(text, opener + 1)
            return
        inner = value.get(key) if key else None
        if isinstance(inner, list):
            self.records = [each for each in inner if isinstance(each, dict)]
            self.listed = True
            self.rest = {name: each for name, each in value.items() if name != key}
        else:
            self.records = [value]


def _after(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


class JsonChecker:
    """A reducer of a checker's JSON report: the first error of each file.

    A subclass names the *keys* that every record has, of which its one hint is written near the
    start, and gives each record's diagnostics in :meth:`diagnose`. *inside* is the key of an
    object that holds the list of records. The rank is above that of JSON in general.
    """

    name: str = ""
    about: str = "the first error of each file, and counts of the rest"
    kind: str = "lint"
    rank: int = 92
    hints: tuple[str, ...] = ()
    keys: ClassVar[tuple[str, ...]] = ()
    inside: ClassVar[str] = ""

    def diagnose(self, record: Record) -> Iterator[Diagnostic]:
        """Yield what *record* says; nothing if it is not the tool's."""
        raise NotImplementedError

    def verdict(self, document: Document) -> str:
        """Return the document's own summary, if it has one."""
        return ""

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the documents; JSON lines with nothing between them are one."""
        start, stop = 0, -1
        for document, first in self._documents(log):
            last = log.line_at(max(0, document.stop - 1))
            if stop >= 0 and first > stop:
                yield Span(start, stop)
                start = first
            elif stop < 0:
                start = first
            stop = last + 1
        if stop >= 0:
            yield Span(start, stop)

    def read(self, log: Log) -> Form | None:
        """Return the diagnostics of all documents by file; None if there is no document."""
        found: list[Diagnostic] = []
        words: list[str] = []
        any_document = False
        for document, first in self._documents(log):
            any_document = True
            for record in document.records:
                found += self.diagnose(record)
            words.append(self.verdict(document))
            if not document.whole:
                words.append(f"[the JSON of line {log.number(first):,} is cut short]")
        if not any_document:
            return None
        return checked(self.name, found, verdict="\n".join(dict.fromkeys(filter(None, words))))

    def _documents(self, log: Log) -> Iterator[tuple[Document, int]]:
        """Yield the tool's documents with the number of their first line."""
        text, broken = log.text, 0
        hint, start = -1, _opener(text, 0)
        while start >= 0 and broken <= _BROKEN:
            if hint < start:
                hint = text.find(self.hints[0], start)
                if hint < 0:
                    return
            stop = start + 1
            if hint - start < _NEAR:
                document = Document(text, start, self.inside)
                own = self._own(document)
                if own:
                    yield document, log.line_at(start)
                if own or document.whole:
                    stop = max(document.stop, stop)
                broken += not document.whole
            start = _opener(text, stop)

    def _own(self, document: Document) -> bool:
        records = document.records
        if not records:
            return document.listed and bool(document.rest)
        return any(all(key in each for key in self.keys) for each in records[:9])


def _opener(text: str, at: int) -> int:
    """Return where, from *at* on, a line begins with a bracket or a brace, -1 if none does."""
    if at == 0 and text[:1] in ("[", "{"):
        return 0
    match = _OPENER.search(text, max(0, at - 1))
    return match.start() + 1 if match else -1


def said(value: object) -> str:
    """Return *value* of a record as one line of text, empty for null."""
    return "" if value is None else " ".join(str(value).split())


def count(value: object) -> int:
    """Return *value* of a record if it is a whole number, else 0."""
    return value if isinstance(value, int) else 0
