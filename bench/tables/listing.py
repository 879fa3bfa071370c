"""What there is to choose from, as rows for a program and as tables for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from bench.tables.parts import Column, Line, Table

if TYPE_CHECKING:
    from bench.price_rows import Book

__all__ = ["BOOK_PARTS", "FORMATS", "WHAT", "columns", "format_table", "items", "tables"]

Item = dict[str, Any]

BOOK_PARTS = ("prices", "speeds")
"""What of it a price book holds."""

WHAT = ("policies", "scenarios", "reducers", "prices", "speeds", "metrics", "charts")
"""All that ``evictbench list`` lists."""

FORMATS = "formats"
"""The recordings that ``replay`` reads, which it lists itself."""

_NO_USAGE = "no usage"
"""What is said of a format that records no tokens of a call."""

_COMPLAINT, _COMPLAINTS = "complaint", "complaints"

_OWN, _FIELD = "the project's own", "the field's own"
_GROUPS = {"own": _OWN, "field": _FIELD}

_WIDER = 150
"""Characters from which a line of the field's policies has room for their versions."""

_WIDE = 100
"""Characters from which a line of the formats has room for what each records of a call."""


def items(what: str, book: Book | None = None) -> list[Item]:
    """Return every one of *what*, one of `WHAT` or `FORMATS`; prices and speeds are *book*'s."""
    if what in BOOK_PARTS:
        from bench.tables.prices import price_items, speed_items

        return price_items(_read(book)) if what == "prices" else speed_items(_read(book))
    return _ITEMS[what]()


def columns(found: Sequence[Item]) -> list[str]:
    """Return the names of the values that a flat table of the items *found* can hold."""
    return [name for name, value in found[0].items() if not isinstance(value, dict)]


def tables(what: str, width: int | None, book: Book | None = None) -> list[Table]:
    """Return the tables of *what*, one of `WHAT` or `FORMATS`, with the columns that matter most.

    Those of a book and of the formats have more of them where *width* characters have room; all
    if it is None.
    """
    if what == FORMATS:
        return [format_table(width)]
    if what in BOOK_PARTS:
        from bench.tables.prices import price_tables, speed_tables

        return (price_tables if what == "prices" else speed_tables)(_read(book), width)
    tables = []
    for group, found in groupby(items(what), _group):
        shown = _SHOWN.get(group) or _SHOWN[what]
        more = () if width is not None and width < _WIDER else _WIDE_ONLY.get(group, ())
        named, *others = (Column(header, right) for header, right, _ in (*shown, *more))
        rows = tuple(Line(tuple(form(item) for _, _, form in (*shown, *more))) for item in found)
        notes = _NOTES.get(group or what, ())
        if not more and group in _WIDE_ONLY:
            hidden = " and ".join(header for header, _, _ in _WIDE_ONLY[group])
            notes = (*notes, f"{_WIDER} columns, md and json also say {hidden}")
        title = group[:1].upper() + group[1:]
        tables.append(Table(title, (replace(named, name=True), *others), rows, notes))
    return tables


def _group(item: Item) -> str:
    """Return the heading under which *item* is listed, empty where it needs none."""
    if item.get("kind") == _COMPLAINT:
        return _COMPLAINTS
    return _GROUPS.get(item.get("group", ""), "")


def _read(book: Book | None) -> Book:
    from bench.prices import read_book

    return read_book() if book is None else book


def format_table(width: int | None = None) -> Table:
    """Return the table of the recordings that ``replay`` reads, in the order they are tried.

    What each records of the tokens of a call is the third column, where *width* characters have
    room for it; None has.
    """
    found = items(FORMATS)
    if width is not None and width < _WIDE:
        rows = tuple(Line((item["name"], item["about"])) for item in found)
        notes = (f"{_WIDE} columns, md and json also say what each records of a call's tokens",)
        return Table(columns=(Column("format"), Column("what it is")), rows=rows, notes=notes)
    lines = ((item["name"], item["about"], item["usage"] or _NO_USAGE) for item in found)
    headers = ("format", "what it is", "usage of a call")
    return Table(columns=tuple(map(Column, headers)), rows=tuple(map(Line, lines)))


def _policies() -> list[Item]:
    from policies import registry

    return [
        {
            "name": name,
            "group": registry.group(name),
            "about": registry.describe(name),
            "source": registry.source(name),
            "version": registry.version(name),
            "needs": sorted(made.needs),
            "breaks": sorted(made.declares),
        }
        for name in registry.names()
        for made in [registry.make(name)]
    ]


def _scenarios() -> list[Item]:
    from bench.loading import load
    from scenarios import catalogue

    return [
        {
            "name": name,
            "kind": scenario.kind if scenario.complaint is None else _COMPLAINT,
            "flips": list(scenario.flips),
            "variants": list(scenario.variants),
            "about": scenario.about,
        }
        for name in catalogue.every_name()
        for scenario in [load(name)]
    ]


def _reducers() -> list[Item]:
    from policies.reducers.reduction import FALLBACK, FALLBACK_ABOUT
    from policies.reducers.registry import reducers

    known = {name: reducer.about for name, reducer in reducers().items()}
    known[FALLBACK] = FALLBACK_ABOUT
    return [{"name": name, "about": about} for name, about in sorted(known.items())]


def _metrics() -> list[Item]:
    from dataclasses import asdict

    from sim.metrics import METRICS

    return [asdict(metric) for metric in METRICS]


def _charts() -> list[Item]:
    from bench.charts.registry import charts

    return [
        {"name": chart.name, "of": chart.of, "about": chart.says} for chart in charts().values()
    ]


def _formats() -> list[Item]:
    from scenarios.transcripts.formats import FORMATS as known

    return [
        {"name": format.name, "about": format.about, "usage": format.usage or None}
        for format in known
    ]


def _words(name: str) -> Callable[[Mapping[str, Any]], str]:
    def form(item: Mapping[str, Any]) -> str:
        value = item[name]
        return ", ".join(value) if isinstance(value, (list, tuple)) else str(value or "")

    return form


_ITEMS: Mapping[str, Callable[[], list[Item]]] = {
    "policies": _policies,
    "scenarios": _scenarios,
    "reducers": _reducers,
    "metrics": _metrics,
    "charts": _charts,
    FORMATS: _formats,
}

_SHOWN: Mapping[str, Sequence[tuple[str, bool, Callable[[Mapping[str, Any]], str]]]] = {
    "policies": (
        ("policy", False, _words("name")),
        ("needs", False, _words("needs")),
        ("breaks", False, _words("breaks")),
        ("rule", False, _words("about")),
    ),
    _FIELD: (
        ("policy", False, _words("name")),
        ("source", False, _words("source")),
        ("needs", False, _words("needs")),
        ("breaks", False, _words("breaks")),
        ("rule", False, _words("about")),
    ),
    "scenarios": (
        ("scenario", False, _words("name")),
        ("flips", False, lambda item: ", ".join([*item["flips"], *item["variants"]])),
        ("what it shows", False, _words("about")),
    ),
    "reducers": (
        ("reducer", False, _words("name")),
        ("what it keeps", False, _words("about")),
    ),
    "metrics": (
        ("metric", False, _words("name")),
        ("unit", False, _words("unit")),
        ("better", False, _words("better")),
        ("meaning", False, _words("meaning")),
    ),
    "charts": (
        ("chart", False, _words("name")),
        ("of", False, _words("of")),
        ("what it shows", False, _words("about")),
    ),
}

_WIDE_ONLY: Mapping[str, Sequence[tuple[str, bool, Callable[[Mapping[str, Any]], str]]]] = {
    _FIELD: (("version", False, _words("version")),),
}

_NOTES: Mapping[str, tuple[str, ...]] = {
    "scenarios": (
        "SCENARIO/FLIP changes one thing, such as rate-limit-table/small-dump. The last four are "
        "pinned: `validate` claims published results on them, and `compare` takes them by name "
        "alone.",
    ),
    "charts": (
        "`evictbench chart DIR NAME` draws one of a folder of results; in Python it is "
        "found.plot.NAME().",
    ),
    _COMPLAINTS: (
        "What users of harnesses reported; `compare` takes them by name alone, and `complaints` "
        "runs each under the policy that it was reported for.",
    ),
}
