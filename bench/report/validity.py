"""What the simulator was held against: the verdicts of `evictbench validate`, as a file has them.

A gate that disagrees stands first: a report does not hide where the model is off.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.tables.parts import Column, Line, Table
from bench.tables.validation import bounds_words, figure_words
from sim.errors import InputError

__all__ = ["gate_tables", "judged_now", "read_validation"]

_NEEDED = {
    "name": str,
    "about": str,
    "headline": str,
    "published": dict,
    "simulated": dict,
    "agrees": (bool, type(None)),
    "reason": (str, type(None)),
    "grade": str,
    "setting": str,
    "source": str,
    "criteria": list,
}
"""What a report shows of a gate, with its type."""

_CRITERION = ("name", "figure", "low", "high", "open", "unit", "pass")

_VERDICTS = {False: "disagrees", None: "not judged", True: "agrees"}
"""In the order in which they are shown."""


def read_validation(file: Path) -> dict[str, Any]:
    """Return what ``evictbench validate --format json`` wrote to *file*.

    Raises InputError, with the line where it can be told, for what is none.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from None
    except json.JSONDecodeError as error:
        raise InputError(f"is no JSON: {error.msg}", file=file, line=error.lineno) from None
    except (UnicodeDecodeError, RecursionError):
        raise InputError("is no JSON text", file=file) from None
    gates = document.get("gates") if isinstance(document, dict) else None
    if not isinstance(gates, list):
        raise InputError(
            "has no list 'gates'; `evictbench validate --format json` makes one", file=file
        )
    for at, gate in enumerate(gates, 1):
        fault = _fault(gate)
        if fault is not None:
            raise InputError(f"gate {at} {fault}", file=file)
    return document


def _fault(gate: Any) -> str | None:
    """Return what is wrong with *gate*, None if nothing is."""
    if not isinstance(gate, dict):
        return "is no object"
    for name, kind in _NEEDED.items():
        if name not in gate:
            return f"has no {name!r}"
        if not isinstance(gate[name], kind):  # type: ignore[arg-type]
            return f"has a {name!r} of another type"
    if gate["headline"] not in gate["published"]:
        return f"has no published figure {gate['headline']!r}"
    for criterion in gate["criteria"]:
        if not isinstance(criterion, dict) or not set(_CRITERION) <= criterion.keys():
            return f"has a criterion without one of {', '.join(_CRITERION)}"
    return None


def judged_now(jobs: int) -> dict[str, Any]:
    """Return the verdicts of all gates that need no recordings of other people, made now."""
    from bench.gates.judging import judge
    from bench.gates.registry import choose
    from bench.gates.unclaimed import UNCLAIMED
    from bench.tables.validation import document

    return document(list(judge(choose(()), None, jobs)), UNCLAIMED)


def gate_tables(document: Mapping[str, Any]) -> list[Table]:
    """Return the table of all gates, the failed ones first, then the criteria of each of those."""
    gates = sorted(document["gates"], key=lambda gate: list(_VERDICTS).index(gate["agrees"]))
    columns = (
        Column("gate"),
        Column("published result"),
        Column("a figure of it"),
        Column("published", True),
        Column("simulated", True),
        Column("setting"),
        Column("verdict"),
    )
    rows = tuple(Line(_cells(gate), gate["agrees"] is False) for gate in gates)
    agree, disagree, unjudged = (
        sum(gate["agrees"] is verdict for gate in gates) for verdict in (True, False, None)
    )
    title = f"Of {len(gates)} gates {agree} agree, {disagree} disagree, {unjudged} are not judged"
    tables = [Table(title, columns, rows)]
    return tables + [_failed(gate) for gate in gates if gate["agrees"] is False]


def _cells(gate: Mapping[str, Any]) -> tuple[str, ...]:
    headline = gate["headline"]
    reason = f": {gate['reason']}" if gate["reason"] else ""
    return (
        gate["name"],
        gate["about"],
        headline,
        figure_words(gate["published"][headline]),
        figure_words(gate["simulated"].get(headline)),
        gate["setting"],
        f"{_VERDICTS[gate['agrees']]}{reason}",
    )


def _failed(gate: Mapping[str, Any]) -> Table:
    """Return what was asked of a gate that disagrees."""
    columns = (Column("criterion"), Column("bounds", True), Column("figure", True), Column("met"))
    return Table(
        f"{gate['name']} disagrees: {gate['about']}",
        columns,
        tuple(Line(_criterion(each), each["pass"] is False) for each in gate["criteria"]),
        (f"Source: {gate['source']}.",),
    )


def _criterion(told: Mapping[str, Any]) -> tuple[str, ...]:
    unit = f", {told['unit']}" if told["unit"] else ""
    met = {True: "yes", False: "no", None: "–"}[told["pass"]]
    bounds = bounds_words(told["low"], told["high"], bool(told["open"]))
    return f"{told['name']}{unit}", bounds, figure_words(told["figure"]), met
