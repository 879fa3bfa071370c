"""Complaints as they were judged, as JSON and CSV for a program and as tables for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bench.complaints.beyond import Beyond
from bench.complaints.judging import Judged, Measured
from bench.tables.parts import Column, Line, Table, dollars, tokens
from scenarios.complaints import FOLDER

__all__ = ["COLUMNS", "complaint_tables", "document", "rows"]

_FRONT = f"{FOLDER}/"

COLUMNS = (
    "row",
    "threads",
    "fails",
    "scenario",
    "reported_for",
    "measure",
    "against",
    "above",
    "policy",
    "figure",
    "there",
    "reason",
)
"""Of the CSV: a line for each complaint and policy; *reported_for* marks the policy's own."""


def document(judged: Sequence[Judged], beyond: Sequence[Beyond] = ()) -> dict[str, Any]:
    """Return what ``--format json`` prints: an item a complaint, one for each that is untold."""
    return {
        "complaints": [
            {
                "row": each.complaint.row,
                "threads": list(each.complaint.threads),
                "fails": each.complaint.fails,
                "scenario": each.scenario,
                "measure": each.complaint.measure,
                "against": each.complaint.against,
                "above": each.complaint.above,
                "shown": each.own.there,
                **_measured(each.own),
                "others": [_measured(other) for other in each.others],
            }
            for each in judged
        ],
        "beyond": [each._asdict() for each in beyond],
    }


def _measured(one: Measured) -> dict[str, Any]:
    return {
        "policy": one.policy,
        "figure": one.figure,
        "there": one.there,
        "reason": one.reason or None,
    }


def rows(judged: Sequence[Judged], beyond: Sequence[Beyond] = ()) -> list[dict[str, Any]]:
    """Return a row for every complaint under each policy, and one for each that is untold."""
    found = [row for each in judged for row in _rows(each)]
    for untold in beyond:
        threads = list(untold.threads)
        found.append(
            {"row": untold.row, "threads": threads, "fails": untold.fails, "reason": untold.why}
        )
    return found


def _rows(each: Judged) -> Iterator[dict[str, Any]]:
    complaint = each.complaint
    about = {
        "row": complaint.row,
        "threads": list(complaint.threads),
        "fails": complaint.fails,
        "scenario": each.scenario,
        "measure": complaint.measure,
        "against": complaint.against,
        "above": complaint.above,
    }
    yield {**about, "reported_for": True, **_measured(each.own)}
    for other in each.others:
        yield {**about, "reported_for": False, **_measured(other)}


def complaint_tables(
    judged: Sequence[Judged], beyond: Sequence[Beyond] = (), wide: bool = True
) -> list[Table]:
    """Return the table of what was judged, and that of what no scenario tells of.

    Only a *wide* one says what went wrong, and where that was reported.
    """
    labels = list(dict.fromkeys(other.policy for each in judged for other in each.others))
    words = (Column("what went wrong"), Column("threads")) if wide else ()
    table = Table(
        title="Complaints",
        columns=(
            Column("row", True),
            *words,
            Column("scenario", name=True),
            Column("policy"),
            Column("failure is"),
            Column("under it"),
            *map(Column, labels),
        ),
        rows=tuple(_line(each, wide) for each in judged),
        notes=_notes(judged),
    )
    return [table, *([_untold(beyond)] if beyond else [])]


def _line(each: Judged, wide: bool) -> Line:
    complaint = each.complaint
    words = (complaint.fails, ", ".join(complaint.threads)) if wide else ()
    return Line(
        (
            str(complaint.row),
            *words,
            each.scenario.removeprefix(_FRONT),
            each.own.policy,
            _failure(each),
            _verdict(each.own, "shown", "not shown"),
            *(_verdict(other, "there too", "absent") for other in each.others),
        )
    )


def _failure(each: Judged) -> str:
    complaint = each.complaint
    more = "" if complaint.against is None else f" more than under {complaint.against}"
    return f"{complaint.measure} > {_figure(complaint.above)}{more}"


def _verdict(one: Measured, there: str, absent: str) -> str:
    if one.figure is None:
        return f"not measured: {one.reason}"
    return f"{_figure(one.figure)}, {there if one.there else absent}"


def _figure(value: float) -> str:
    return tokens(value) if value == round(value) else dollars(value)


def _notes(judged: Sequence[Judged]) -> tuple[str, ...]:
    shown = sum(each.own.there for each in judged)
    return (
        f"{shown} of {len(judged)} failures show under the policy they were reported for. "
        f"`evictbench run {_FRONT}SCENARIO -p POLICY` shows one turn by turn.",
    )


def _untold(beyond: Sequence[Beyond]) -> Table:
    return Table(
        title="Reported, and not told",
        columns=(Column("row", True), Column("threads"), Column("failure"), Column("why not")),
        rows=tuple(Line((str(b.row), ", ".join(b.threads), b.fails, b.why)) for b in beyond),
    )
