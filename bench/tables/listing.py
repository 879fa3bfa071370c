"""What there is to choose from, as rows for a program and as tables for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from bench.tables.parts import Column, Line, Table, tokens

__all__ = ["format_table", "items", "table"]

Item = dict[str, Any]


def items(what: str) -> list[Item]:
    """Return every one of *what*: ``policies``, ``scenarios``, ``reducers`` and so on."""
    return _ITEMS[what]()


def table(what: str, found: Sequence[Item]) -> Table:
    """Return the table of the items *found* for *what*, with the columns that matter most."""
    shown = _SHOWN[what]
    columns = tuple(Column(header, right) for header, right, _ in shown)
    rows = tuple(Line(tuple(form(item) for _, _, form in shown)) for item in found)
    return Table(columns=columns, rows=rows, notes=_NOTES.get(what, ()))


def format_table() -> Table:
    """Return the table of the recordings that ``replay`` reads."""
    from scenarios import transcripts

    rows = tuple(Line((name, about)) for name, about in transcripts.formats())
    return Table(columns=(Column("format"), Column("what it is")), rows=rows)


def _policies() -> list[Item]:
    from policies import registry

    return [
        {
            "name": name,
            "about": registry.describe(name),
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
            "kind": scenario.kind,
            "flips": list(scenario.flips),
            "variants": list(scenario.variants),
            "about": scenario.about,
        }
        for name in catalogue.names()
        for scenario in [load(name)]
    ]


def _reducers() -> list[Item]:
    from policies.reducers.reduction import FALLBACK, FALLBACK_ABOUT
    from policies.reducers.registry import reducers

    known = {name: reducer.about for name, reducer in reducers().items()}
    known[FALLBACK] = FALLBACK_ABOUT
    return [{"name": name, "about": about} for name, about in sorted(known.items())]


def _prices() -> list[Item]:
    from dataclasses import asdict

    from bench.prices import load_book

    found = []
    for price in load_book().values():
        row = asdict(price)
        rules, speed = row.pop("rules"), row.pop("speed")
        found.append({**row, **rules, **speed})
    return found


def _metrics() -> list[Item]:
    from dataclasses import asdict

    from sim.metrics import METRICS

    return [asdict(metric) for metric in METRICS]


def _words(name: str) -> Callable[[Mapping[str, Any]], str]:
    def form(item: Mapping[str, Any]) -> str:
        value = item[name]
        return ", ".join(value) if isinstance(value, (list, tuple)) else str(value or "")

    return form


def _figure(name: str) -> Callable[[Mapping[str, Any]], str]:
    def form(item: Mapping[str, Any]) -> str:
        return "–" if item[name] == inf else f"{item[name]:g}"

    return form


_ITEMS: Mapping[str, Callable[[], list[Item]]] = {
    "policies": _policies,
    "scenarios": _scenarios,
    "reducers": _reducers,
    "prices": _prices,
    "metrics": _metrics,
}

_SHOWN: Mapping[str, Sequence[tuple[str, bool, Callable[[Mapping[str, Any]], str]]]] = {
    "policies": (
        ("policy", False, _words("name")),
        ("needs", False, _words("needs")),
        ("breaks", False, _words("breaks")),
        ("rule", False, _words("about")),
    ),
    "scenarios": (
        ("scenario", False, _words("name")),
        ("flips", False, lambda item: ", ".join([*item["flips"], *item["variants"]])),
        ("what it shows", False, _words("about")),
    ),
    "prices": (
        ("price", False, _words("name")),
        ("input", True, _figure("input")),
        ("write", True, _figure("write")),
        ("read", True, _figure("read")),
        ("output", True, _figure("output")),
        ("cache rule", False, _words("rule")),
        ("minimum", True, lambda item: tokens(item["minimum"])),
        ("life, s", True, _figure("ttl")),
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
}

_NOTES: Mapping[str, tuple[str, ...]] = {
    "scenarios": ("SCENARIO/FLIP changes one thing, such as rate-limit-table/small-dump.",),
    "prices": (
        "US dollars per million tokens. --format json shows each row's source and date, and what "
        "in it is assumed.",
    ),
}
