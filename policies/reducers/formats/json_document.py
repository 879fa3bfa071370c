"""JSON documents and JSON lines: an outline that keeps the shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from policies.reducers.documents import Document, documents
from policies.reducers.findings import plural
from policies.reducers.form import Form, Found, Laid
from policies.reducers.log import Log, Span
from policies.reducers.outline import Limits, Number, Object, Outline, Value, outline, walk
from policies.reducers.plain import Plain

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["REDUCER", "JsonDocument"]

_DEPTHS = ((40, 6), (8, 4), (6, 4), (5, 3), (4, 3), (3, 2), (2, 1), (1, 1))
"""Levels that are shown, and the elements of each array for which a level less is given up."""
_ALL = 1 << 60
_STRINGS = (40, 2_000)
"""Characters of a string: the fewest, and the most before arrays are filled up."""
_CHARACTERS = 8
"""Characters a token of JSON has at most, about: a longer text is not counted."""
_SEVERITIES = ("severity", "level", "impact", "priority", "riskLevel")
_WORST_FIRST = (
    "blocker", "critical", "fatal", "high", "error", "major", "moderate", "medium", "warning",
    "minor", "low", "info", "note",
)  # fmt: skip
_LEAST = 12
_LEAST_CHARACTERS = 1_000
_LEAST_SHARE = 0.1
"""Share of an output that is a document: what a program prints in passing stays with its lines."""


class JsonDocument:
    """One JSON value, several, or one on each line."""

    name = "json"
    kind = "data"
    about = "the shape: keys, first elements of arrays, strings cut short, the rest counted"
    rank = 40
    hints = ("{", "[")

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the lines of documents that follow one another."""
        start = stop = -1
        for document in _documents(log):
            if start >= 0 and any(log.lines[stop : document.start]):
                if _large(log, start, stop):
                    yield Span(start, stop)
                start = -1
            start = document.start if start < 0 else start
            stop = document.stop
        if start >= 0 and _large(log, start, stop):
            yield Span(start, stop)

    def read(self, log: Log) -> Form | None:
        """Return the outline of the value, or of each value where there are several."""
        found = _documents(log)
        if not found:
            return None
        return _One(log, found[0]) if len(found) == 1 else _Many(log, found)


def _documents(log: Log) -> list[Document]:
    """Return the documents of *log*, parsed once."""
    if "json" not in log.notes:
        log.notes["json"] = list(documents(log))
    found: list[Document] = log.notes["json"]
    return found


def _large(log: Log, start: int, stop: int) -> bool:
    """Whether lines *start* to *stop* are worth an outline of their own within *log*."""
    if start == 0 and stop == len(log):
        return True
    size = sum(len(line) for line in log.lines[start:stop])
    long = stop - start >= _LEAST or size >= _LEAST_CHARACTERS
    return long and size >= _LEAST_SHARE * len(log.text)


def _severities(values: Sequence[Value]) -> dict[str, int]:
    """Return how often each severity stands in *values*, if any does."""
    counts: dict[str, int] = {}
    for value in values:
        for key, inner in walk(value):
            if key in _SEVERITIES and isinstance(inner, str) and not isinstance(inner, Number):
                name = inner.lower()
                if len(name) <= 20 and (name in counts or len(counts) < 12):
                    counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (_rank(pair[0]), pair[0])))


def _rank(severity: str) -> int:
    return _WORST_FIRST.index(severity) if severity in _WORST_FIRST else len(_WORST_FIRST)


@dataclass(slots=True)
class _One:
    """One document."""

    log: Log
    document: Document
    _counts: dict[str, int] | None = None

    def found(self) -> Found:
        """Return the findings it reports, by severity."""
        if self._counts is None:
            self._counts = _severities([self.document.value])
        return Found(counts=dict(self._counts))

    def lay(self, room: Room) -> Laid:
        """Return as much of its outline as fits, and below it what is left out."""
        value = self.document.value
        whole = self._fit(value, Limits(_ALL, _ALL, size=_CHARACTERS * room.limit), room)
        if whole is not None:
            return whole
        for depth, items in _DEPTHS:
            laid = self._fit(value, _limits(items, depth, room), room)
            if laid is not None:
                return self._filled(value, items, depth, laid, room)
        keys = len(value) if isinstance(value, list) else 1
        noun = "key" if isinstance(value, Object) else "item"
        lines = f"{len(self.log):,} {plural('line', len(self.log))}"
        text = f"[JSON of {keys:,} {plural(noun, keys)}, {lines} left out; {room.ask}]"
        return Laid(text, {"lines": len(self.log)})

    def _fit(self, value: Value, limits: Limits, room: Room) -> Laid | None:
        made = outline(value, limits)
        if made is None:
            return None
        parts = [made.text]
        if made.dropped:
            counts = self.found().counts
            if counts:
                said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
                parts.insert(0, f"[severities in all: {said}]")
            parts.append(f"[left out: {_said(made)}; {room.ask}]")
        elif made.text != self.log.text:
            parts.append("[white space left out]")
        if self.document.cut:
            parts.append("[the document is cut off at its end]")
        text = "\n".join(parts)
        return Laid(text, made.dropped) if room.fits(text) else None

    def _filled(self, value: Value, items: int, depth: int, laid: Laid, room: Room) -> Laid:
        """Return *value* with longer arrays, then a longer main one, then longer strings."""
        limits = _limits(items, depth, room)

        def best(change: Callable[[int], Limits], low: int, high: int) -> None:
            nonlocal laid, limits
            while high - low > max(1, low // 50):
                middle = (low + high) // 2
                fit = self._fit(value, change(middle), room)
                if fit is None:
                    high = middle
                else:
                    laid, low, limits = fit, middle, change(middle)

        best(lambda most: _limits(most, depth, room), items, room.limit)
        main = _main(value)
        if main is not None and len(main) > limits.items:
            base = limits
            best(
                lambda most: replace(base, main=id(main), most=most),
                limits.items,
                min(len(main), limits.items + room.limit) + 1,
            )
        if "characters" in laid.dropped:
            last = limits
            best(
                lambda most: replace(last, characters=most),
                limits.characters,
                _CHARACTERS * room.limit,
            )
        return laid


def _limits(items: int, depth: int, room: Room) -> Limits:
    fewest, most = _STRINGS
    return Limits(items, min(most, max(fewest, 10 * items)), depth, _CHARACTERS * room.limit)


def _main(value: Value) -> list[Value] | None:
    """Return the longest array in the upper levels of *value*."""
    best: list[Value] | None = None
    level: list[Value] = [value]
    for _ in range(4):
        following: list[Value] = []
        for item in level:
            if isinstance(item, Object):
                following += [inner for _, inner in item[:200]]
            elif isinstance(item, list):
                if best is None or len(item) > len(best):
                    best = item
                following += item[:200]
        level = following[:2_000]
    return best


def _said(made: Outline) -> str:
    return ", ".join(
        f"{count:,} {noun if count != 1 else noun[:-1]}" for noun, count in made.dropped.items()
    )


@dataclass(slots=True)
class _Many:
    """Several documents, or JSON lines."""

    log: Log
    documents: Sequence[Document]

    def found(self) -> Found:
        """Return the number of documents, and their findings by severity."""
        values = [document.value for document in self.documents]
        return Found(counts={"documents": len(values), **_severities(values)})

    def lay(self, room: Room) -> Laid:
        """Return the outline of each on a line, those with an error before others."""
        if len(self.log.text) <= _CHARACTERS * room.limit and room.fits(self.log.text):
            return Laid(self.log.text)
        lines, dropped = [], 0
        for document in self.documents:
            made = outline(document.value, Limits(8, 160, 6))
            if made is None:
                continue
            lines.append(" ".join(line.strip() for line in made.text.split("\n")))
            dropped += bool(made.dropped)
        note = f"[{len(lines):,} JSON documents, {dropped:,} of them cut short; {room.ask}]"
        laid = Plain(Log(lines)).lay(room.of(max(0, room.limit - room.count(note) - 2)))
        total = dict(laid.dropped)
        if dropped:
            total["documents cut short"] = dropped
        return Laid(f"{laid.text}\n{note}", total)


REDUCER = JsonDocument()
