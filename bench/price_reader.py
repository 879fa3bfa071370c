"""Reads the rows of a price book: what they inherit, where their fields are from, their faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bench.price_fields import (
    DEFAULTS,
    ORIGIN_FIELDS,
    PRICE_FIELDS,
    READ_BY,
    ROW_FIELDS,
    ROW_NEEDS,
    RULE_FIELDS,
    RULE_NEEDS,
    SOURCE_FIELDS,
    SPEED_DEFAULTS,
    SPEED_FIELDS,
    SPEED_NEEDS,
    BadField,
    build,
    check_value,
    pick,
)
from bench.price_files import BookFile
from bench.price_rows import Book, Origin, PriceRow, SpeedRow
from sim.errors import unknown
from sim.prices import CacheRules, Price, Speed

__all__ = ["DEFAULT_SPEED", "Layer", "read_layer"]

DEFAULT_SPEED = "calibration A3"
"""The speed of a row that names none."""

_DEEPEST = 100
"""The longest chain of rows that are `like` the next."""

Kind = Literal["prices", "speeds"]


@dataclass(frozen=True, slots=True)
class Raw:
    """A row with all it inherits: the value and the origin of each field, and its note."""

    values: Mapping[str, Any]
    origins: Mapping[str, Origin]
    note: str
    file: Path


@dataclass(frozen=True, slots=True)
class Layer:
    """A book, and what another one is laid over: its rows before they were built."""

    book: Book
    raws: Mapping[Kind, Mapping[str, Raw]]
    sources: Mapping[str, Mapping[str, Any]]


def read_layer(file: BookFile, base: Layer | None = None, *, strict: bool = False) -> Layer:
    """Return the rows of *file* laid over those of *base*; *strict*, each field needs an origin.

    Raises InputError with every fault of the file.
    """
    return _Reader(file, base, strict).layer()


class _Reader:
    """Reads one file over *base*, *strict* or, as a user's own, letting what has no origin pass."""

    def __init__(self, file: BookFile, base: Layer | None, strict: bool) -> None:
        self._file = file
        self._base = base
        self._strict = strict
        self._raws: dict[Kind, dict[str, Raw]] = {
            "prices": dict(base.raws["prices"]) if base else {},
            "speeds": dict(base.raws["speeds"]) if base else {},
        }
        self._sources = dict(base.sources) if base else {}
        self._unsourced: dict[str, None] = {}
        self._done: set[tuple[str, str]] = set()
        self._unlike: set[tuple[str, str]] = set()  # rows like one that is of no use
        self._under_way: list[tuple[str, str]] = []

    def layer(self) -> Layer:
        """Return the rows of the file over those of its base; raises InputError."""
        for name in self._file.rows["sources"]:
            self._source(name)
        kinds: tuple[Kind, Kind] = ("speeds", "prices")
        for kind in kinds:
            for name in self._file.rows[kind]:
                self._resolve(kind, name)
        speeds = self._speeds()
        prices = self._prices(speeds)
        self._file.raise_faults()
        book = Book(prices, speeds, tuple(self._unsourced))
        return Layer(book, self._raws, self._sources)

    def _source(self, name: str) -> None:
        row, values = ("sources", name), self._file.rows["sources"][name]
        self._file.known(row, SOURCE_FIELDS)
        self._missing(row, values, SOURCE_FIELDS)
        self._sources[name] = self._checked(row, pick(values, SOURCE_FIELDS))
        valid = ROW_FIELDS | SPEED_FIELDS
        for field in self._sources[name].get("gives", ()):
            if field not in valid:
                self._file.fault(row, BadField(f"gives: {unknown('field', field, valid)}", "gives"))

    def _resolve(self, kind: Kind, name: str) -> Raw | None:
        """Return a row of the file with all it inherits; None if it is faulty beyond use."""
        row = (kind, name)
        if row in self._done:
            return self._raws[kind].get(name)
        if row in self._under_way:
            chain = [n for _, n in self._under_way[self._under_way.index(row) :]]
            last = self._under_way[-1]
            self._file.fault(
                last, BadField(f"like goes in a circle: {', '.join(chain)}, {name}", "like")
            )
            return None
        if len(self._under_way) == _DEEPEST:
            self._file.fault(
                row, BadField(f"more than {_DEEPEST} rows are like each other", "like")
            )
            return None
        self._under_way.append(row)
        given = self._file.rows[kind][name]
        fields = SPEED_FIELDS if kind == "speeds" else ROW_FIELDS
        self._file.known(row, fields | ORIGIN_FIELDS)
        known = {f: value for f, value in given.items() if f in fields or f in ORIGIN_FIELDS}
        checked = self._checked(row, known)
        below = self._below(kind, name, checked)
        self._under_way.pop()
        self._done.add(row)
        if "like" in given and (below is None or (kind, checked.get("like")) in self._unlike):
            self._unlike.add(row)
        self._raws[kind][name] = self._merged(row, checked, below)
        return self._raws[kind][name]

    def _below(self, kind: Kind, name: str, given: Mapping[str, Any]) -> Raw | None:
        """Return the row that *given* is laid over: the one it is like, else its namesake."""
        known: Mapping[str, Raw] = self._base.raws[kind] if self._base else {}
        like = given.get("like")
        if like is None or (like == name and name in known):
            return known.get(name)
        rows = self._file.rows[kind]
        if like in rows:
            return self._resolve(kind, like)
        if like not in known:
            names = {*known, *rows} - {name}
            self._file.fault((kind, name), BadField(unknown(kind[:-1], like, names), "like"))
        return known.get(like)

    def _merged(self, row: tuple[Kind, str], given: Mapping[str, Any], below: Raw | None) -> Raw:
        kind, name = row
        values = dict(below.values) if below else {}
        origins = dict(below.origins) if below else {}
        own = {field: value for field, value in given.items() if field not in ORIGIN_FIELDS}
        values.update(own)
        origins.update(self._origins(row, given, own))
        self._complete(kind, name, values, origins)
        for field in given.get("assumed", ()):
            if field in values:
                origins[field] = Origin(name)
            else:
                valid = SPEED_FIELDS if kind == "speeds" else ROW_FIELDS
                lacks = f"the row has no {field!r}" if field in valid else None
                message = f"assumed: {lacks or unknown('field', field, valid)}"
                self._file.fault(row, BadField(message, "assumed"))
        note = given.get("note") or (below.note if below else "")
        return Raw(values, origins, note, self._file.file)

    def _complete(
        self, kind: Kind, name: str, values: dict[str, Any], origins: dict[str, Origin]
    ) -> None:
        """Fill in what a row may leave out although something reads it: that is assumed."""
        if kind == "speeds":
            left_out = dict(SPEED_DEFAULTS)
        else:
            left_out = {"speed": DEFAULT_SPEED}
            if "renews" in READ_BY.get(values.get("rule", ""), ()):
                left_out["renews"] = DEFAULTS["renews"]
        for field, value in left_out.items():
            if field not in values:
                values[field], origins[field] = value, Origin(name)
                if self._strict:
                    self._file.fault((kind, name), BadField(f"{field} missing"))

    # -- Where the fields are from -----------------------------------------------------------

    def _origins(
        self, row: tuple[Kind, str], given: Mapping[str, Any], own: Iterable[str]
    ) -> dict[str, Origin]:
        """Return the origin of each field in *own*; one without is a fault, or a user's, noted."""
        name, assumed = row[1], given.get("assumed", ())
        sources = self._sources_of(row, given)
        found = {}
        for field in own:
            if field in assumed:
                found[field] = Origin(name)
                continue
            text, date = next(
                ((text, date) for text, date, gives in sources if field in gives), ("", "")
            )
            found[field] = Origin(name, text, date)
            if not text and self._strict:
                message = f"{field} is given by no source of the row and not assumed"
                self._file.fault(row, BadField(message, field))
            elif not text:
                self._unsourced[name] = None
        return found

    def _sources_of(
        self, row: tuple[Kind, str], given: Mapping[str, Any]
    ) -> list[tuple[str, str, frozenset[str]]]:
        """Return the sources of a row: text, date and the fields that each can give."""
        found = []
        if self._strict and "source" in given:
            message = "source says too little here; name some of the tables [sources]"
            self._file.fault(row, BadField(message, "source"))
        if "source" in given or "date" in given:
            self._missing(row, given, ("source", "date"))
            everything = frozenset(ROW_FIELDS | SPEED_FIELDS)
            found.append((given.get("source", ""), given.get("date", ""), everything))
        for name in given.get("sources", ()):
            if name not in self._sources:
                fault = BadField(f"sources: {unknown('source', name, self._sources)}", "sources")
                self._file.fault(row, fault)
                continue
            source = self._sources[name]
            gives = frozenset(source.get("gives", ()))
            found.append((source.get("name", ""), source.get("date", ""), gives))
        return found

    # -- From rows to prices and speeds ------------------------------------------------------

    def _speeds(self) -> dict[str, SpeedRow]:
        found: dict[str, SpeedRow] = dict(self._base.book.speeds) if self._base else {}
        for name in self._file.rows["speeds"]:
            raw, row = self._raws["speeds"].get(name), ("speeds", name)
            if raw is None or not self._missing(row, raw.values, SPEED_NEEDS):
                continue
            speed = self._built(row, Speed, raw.values)
            if speed is not None:
                found[name] = SpeedRow(name, speed, raw.origins, raw.note, raw.file)
        return found

    def _prices(self, speeds: Mapping[str, SpeedRow]) -> dict[str, PriceRow]:
        found = {}
        for name, raw in self._raws["prices"].items():
            touched = name in self._file.rows["prices"]
            if self._base and not touched and raw.values["speed"] not in self._file.rows["speeds"]:
                found[name] = self._base.book.prices[name]
                continue
            price = self._price(name, raw, speeds)
            if price is not None:
                found[name] = price
        return found

    def _price(self, name: str, raw: Raw, speeds: Mapping[str, SpeedRow]) -> PriceRow | None:
        row, values = ("prices", name), raw.values
        if not self._missing(row, values, ROW_NEEDS):
            return None
        rule = values["rule"]
        if not self._missing(row, values, RULE_NEEDS[rule], f" for the rule {rule!r}"):
            return None
        if values["speed"] not in speeds:
            if values["speed"] not in self._file.rows["speeds"]:
                self._file.fault(row, BadField(unknown("speed", values["speed"], speeds), "speed"))
            return None
        rules = self._built(row, CacheRules, pick(values, RULE_FIELDS))
        if rules is None:
            return None
        idle = RULE_FIELDS - {"rule", *READ_BY[rule]}
        origins = {f: origin for f, origin in raw.origins.items() if f not in idle}
        parts = {
            **pick(values, PRICE_FIELDS),
            "name": name,
            "rules": rules,
            "speed": speeds[values["speed"]].speed,
            "source": "; ".join(dict.fromkeys(o.source for o in origins.values() if o.source)),
            "date": max((o.date for o in origins.values()), default=""),
            "assumed": tuple(sorted(f for f, o in origins.items() if o.assumed)),
        }
        price = self._built(row, Price, parts)
        return (
            None if price is None else PriceRow(price, values["speed"], origins, raw.note, raw.file)
        )

    # -- Faults ------------------------------------------------------------------------------

    def _checked(self, row: tuple[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that are of their field's sort; the others are faults."""
        good = {}
        for field, value in given.items():
            try:
                good[field] = check_value(field, value)
            except BadField as error:
                self._file.fault(row, error)
        return good

    def _missing(
        self, row: tuple[str, str], values: Mapping[str, Any], needs: Iterable[str], why: str = ""
    ) -> bool:
        """Return whether *values* holds all of *needs*; those it lacks are a fault."""
        given = self._file.rows[row[0]].get(row[1], {})
        lacking = sorted(field for field in needs if field not in values)
        misspelt = self._file.misspelt.get(row, ())
        unsaid = [field for field in lacking if field not in given and field not in misspelt]
        if unsaid and row not in self._unlike:
            self._file.fault(row, BadField(f"{', '.join(unsaid)} missing{why}"))
        return not lacking

    def _built(self, row: tuple[str, str], make: Any, values: Mapping[str, Any]) -> Any:
        try:
            return build(make, **values)
        except BadField as error:
            self._file.fault(row, error)
            return None
