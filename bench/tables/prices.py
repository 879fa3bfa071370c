"""The price book and its speeds, as rows for a program and as tables for a person."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any

from bench.price_rows import Book, Origin, PriceRow, SpeedRow
from bench.tables.parts import Column, Line, Table, tokens

__all__ = ["price_items", "price_tables", "speed_items", "speed_tables"]

PROMPTS = (1_000, 10_000, 100_000)
"""Sizes of the prompts whose time to first token is shown."""

RULES = {
    "breakpoints": "entries end where a breakpoint was put",
    "auto": "the longest common prefix with an earlier request",
    "blocks": "full blocks in the pool of one's own server",
    "none": "nothing is cached",
}
"""The cache rules in the order in which they are shown, in a few words."""

Item = dict[str, Any]
Form = Callable[[PriceRow], tuple[str, Sequence[str]]]
"""A cell of a row: its text, and the fields that it shows."""


def price_items(book: Book) -> list[Item]:
    """Return each row with its price, rule and speed in one, R, and the origin of every field."""
    return [_price_item(row) for row in book.prices.values()]


def speed_items(book: Book) -> list[Item]:
    """Return each speed with its time to first token, and the origin of every field."""
    return [_speed_item(row) for row in book.speeds.values()]


def price_tables(book: Book, width: int | None) -> list[Table]:
    """Return a table for each cache rule that a row follows.

    It has the columns that matter most, and of the others those that fit into *width* characters;
    all of them if that is None.
    """
    found = []
    for rule, about in RULES.items():
        rows = [row for row in book.prices.values() if row.price.rules.rule == rule]
        if not rows:
            continue
        filled = [("price", False, [_marked(row.price.name, row, ["rule"]) for row in rows])]
        for header, rules, extra, form in _COLUMNS:
            if rule in rules:
                filled.append((header, extra, [_cell(form, row) for row in rows]))
        found.append(_table(f"{rule}: {about}", filled, width))
    return [*found, Table(notes=(*_remarks(book.prices.values()), *_NOTES))]


def speed_tables(book: Book, width: int | None) -> list[Table]:
    """Return the table of the speeds: seconds to the first token, without and with a hit.

    Rates and overhead are shown where they fit into *width* characters; None: always.
    """
    rows = list(book.speeds.values())
    filled = [("speed", False, [row.name for row in rows])]
    for size in PROMPTS:
        for hit in (False, True):
            header = f"{size // 1_000}k hit" if hit else f"{size // 1_000}k"
            filled.append((header, False, [_first_token(row, size, hit) for row in rows]))
    for field, header, extra in _RATES:
        cells = [_marked(_figure(getattr(row.speed, field)), row, [field]) for row in rows]
        filled.append((header, extra, cells))
    table = _table("", filled, width)
    notes = (*_remarks(book.speeds.values()), *_SPEED_NOTES)
    return [Table(columns=table.columns, rows=table.rows, notes=notes)]


def _table(title: str, filled: Sequence[tuple[str, bool, list[str]]], width: int | None) -> Table:
    """Return the columns in *filled*, header, whether it is extra, and cells, that fit."""
    sizes = [max(len(header), *map(len, cells)) + 1 for header, _, cells in filled]
    room = inf if width is None else width + 1
    room -= sum(size for size, (_, extra, _) in zip(sizes, filled, strict=True) if not extra)
    shown = []
    for size, (header, extra, cells) in zip(sizes, filled, strict=True):
        if extra and size > room:
            continue
        room -= size if extra else 0
        shown.append((header, cells))
    columns = tuple(Column(header, index > 0) for index, (header, _) in enumerate(shown))
    lines = tuple(map(Line, zip(*(cells for _, cells in shown), strict=True)))
    return Table(title, columns, lines)


# -- Items -----------------------------------------------------------------------------------


def _price_item(row: PriceRow) -> Item:
    parts = asdict(row.price)
    rules, speed = parts.pop("rules"), parts.pop("speed")
    return {
        **parts,
        **rules,
        "R": row.price.ratio,
        "speed": row.speed,
        **speed,
        "note": row.note,
        "book": row.file.name,
        "sources": _origins(row.origins),
    }


def _speed_item(row: SpeedRow) -> Item:
    times = {
        f"first_token_{size}{'_hit' if hit else ''}": row.speed.first_token_seconds(size, hit)
        for size in PROMPTS
        for hit in (False, True)
    }
    sources = dict.fromkeys(o.source for o in row.origins.values() if o.source)
    return {
        "name": row.name,
        **asdict(row.speed),
        **times,
        "source": "; ".join(sources),
        "date": max((o.date for o in row.origins.values()), default=""),
        "assumed": sorted(f for f, o in row.origins.items() if o.assumed),
        "note": row.note,
        "book": row.file.name,
        "sources": _origins(row.origins),
    }


def _origins(origins: Mapping[str, Origin]) -> Item:
    return {
        field: {"assumed": True, "row": origin.row}
        if origin.assumed
        else {"source": origin.source, "date": origin.date, "row": origin.row}
        for field, origin in sorted(origins.items())
    }


# -- Cells -----------------------------------------------------------------------------------


def _money(field: str) -> Form:
    def form(row: PriceRow) -> tuple[str, Sequence[str]]:
        value = getattr(row.price, field)
        return ("–" if value is None else f"{value:g}"), (field,)

    return form


def _rule(field: str, text: Callable[[Any], str]) -> Form:
    return lambda row: (text(getattr(row.price.rules, field)), (field,))


def _ratio(row: PriceRow) -> tuple[str, Sequence[str]]:
    ratio = row.price.ratio
    return ("–" if ratio is None else f"{ratio:.3g}"), ("write", "read")


def _life(row: PriceRow) -> tuple[str, Sequence[str]]:
    rules = row.price.rules
    text = _seconds(rules.ttl)
    if rules.long_ttl is not None:
        text += f"+{_seconds(rules.long_ttl)}"
    return text, ("ttl", "long_ttl")


def _cliff(row: PriceRow) -> tuple[str, Sequence[str]]:
    limit = row.price.cliff_tokens
    if limit is None:
        return "–", ()
    text = f"{limit // 1_000}k" if limit % 1_000 == 0 else tokens(limit)
    return ("≥" if row.price.cliff_inclusive else ">") + text, (
        *("cliff_tokens", "cliff_input", "cliff_output", "cliff_inclusive"),
    )


def _factors(row: PriceRow) -> tuple[str, Sequence[str]]:
    price = row.price
    if price.cliff_tokens is None:
        return "–", ()
    return f"×{price.cliff_input:g}/×{price.cliff_output:g}", ("cliff_input", "cliff_output")


def _edits(row: PriceRow) -> tuple[str, Sequence[str]]:
    return ("may refuse" if row.price.no_edit else "–"), ("no_edit",)


def _storage(row: PriceRow) -> tuple[str, Sequence[str]]:
    return (f"{row.price.storage:g}" if row.price.storage else "–"), ("storage",)


def _slots(row: PriceRow) -> tuple[str, Sequence[str]]:
    return _count(row.price.slots), ("slots",)


def _count(value: int | None) -> str:
    return "all" if value is None else tokens(value)


def _seconds(value: float) -> str:
    """Return a life in its largest whole unit: 90s, 5m, 1h."""
    if value == inf:
        return "no end"
    for size, unit in ((3_600, "h"), (60, "m")):
        if value >= size and value % size == 0:
            return f"{value / size:g}{unit}"
    return f"{value:g}s"


_CACHED = ("auto", "breakpoints")
_EVERY = tuple(RULES)

_COLUMNS: Sequence[tuple[str, tuple[str, ...], bool, Form]] = (
    ("input", _EVERY, False, _money("input")),
    ("write", _EVERY, False, _money("write")),
    ("read", _EVERY, False, _money("read")),
    ("output", _EVERY, False, _money("output")),
    ("R", _EVERY, False, _ratio),
    ("min", _CACHED, False, _rule("minimum", tokens)),
    ("life", _CACHED, False, _life),
    ("step", ("auto",), True, _rule("step", tokens)),
    ("step", ("blocks",), False, _rule("step", tokens)),
    ("capacity", ("blocks",), False, _rule("capacity", _count)),
    ("evicts", ("blocks",), False, _rule("evict", str)),
    ("slots", ("blocks",), False, _slots),
    ("look-back", ("breakpoints",), True, _rule("lookback", _count)),
    ("renewed", _CACHED, True, _rule("renews", lambda value: "yes" if value else "no")),
    ("cliff", _CACHED, False, _cliff),
    ("above it", _CACHED, True, _factors),
    ("long write", ("breakpoints",), True, _money("long_write")),
    ("storage", ("breakpoints",), True, _storage),
    ("edits", ("breakpoints",), True, _edits),
)
"""Header, rules that it says something of, whether it is extra, and the cell."""


def _cell(form: Form, row: PriceRow) -> str:
    text, fields = form(row)
    return _marked(text, row, fields)


def _marked(text: str, row: PriceRow | SpeedRow, fields: Iterable[str]) -> str:
    """Return *text* with a star if one of the *fields* that it shows is assumed."""
    origins = row.origins
    assumed = any(field in origins and origins[field].assumed for field in fields)
    return f"{text}*" if assumed else text


def _first_token(row: SpeedRow, size: int, hit: bool) -> str:
    fields = ["overhead", "cached_rate", "hit_uncached"] if hit else ["overhead"]
    if not hit or row.speed.hit_uncached:
        fields.append("prefill_rate")
    return _marked(f"{row.speed.first_token_seconds(size, hit):.2f}", row, fields)


def _figure(value: float) -> str:
    return tokens(value) if value >= 1_000 else f"{value:g}"


_RATES = (
    ("prefill_rate", "prefill", True),
    ("cached_rate", "cached", True),
    ("overhead", "overhead", True),
    ("decode_rate", "decode", False),
)


# -- Notes -----------------------------------------------------------------------------------


def _remarks(rows: Iterable[PriceRow] | Iterable[SpeedRow]) -> Iterable[str]:
    """Yield each note of the rows once, with the names of those that have it."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row.note:
            name = row.price.name if isinstance(row, PriceRow) else row.name
            names.setdefault(row.note, []).append(name)
    return (f"{', '.join(found)}: {note}." for note, found in names.items())


_NOTES = (
    "US dollars per million tokens; R = (write - read) / read. A star: assumed, no source gives "
    "it; after a name, that the model caches by this rule. Speeds: "
    "`evictbench list speeds`. 5m+1h: a breakpoint may ask for the longer life. Above the cliff "
    "the whole request is billed at a higher price.",
    "--format json has every field and its source; docs/prices.md says what they mean.",
)
_SPEED_NOTES = (
    "Seconds to the first token at 1,000, 10,000 and 100,000 tokens, without and with a hit; "
    "decode and rates in tokens a second. A star: rests on a field that no source gives.",
)
