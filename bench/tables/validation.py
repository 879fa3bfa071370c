"""Verdicts of gates, as JSON and CSV for a program and as tables for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

from bench.gates.gate import GRADES, Criterion, Gate, Verdict
from bench.gates.unclaimed import Unclaimed
from bench.tables.parts import Column, Line, Table, dollars, tokens

__all__ = ["COLUMNS", "bounds_words", "document", "figure_words", "rows", "validation_tables"]

Judged = Sequence[tuple[Gate, Verdict]]

COLUMNS = (
    "gate",
    "part",
    "name",
    "published",
    "simulated",
    "low",
    "high",
    "unit",
    "agrees",
    "grade",
    "setting",
    "reason",
)
"""Of the CSV; *part* is `gate`, `figure`, `criterion`, `context` or `unclaimed`."""

_YES = {True: "yes", False: "no", None: "–"}
_AGREES = {True: "agrees", False: "does not agree", None: "not judged"}


def document(judged: Judged, unclaimed: Sequence[Unclaimed] = ()) -> dict[str, Any]:
    """Return what ``--format json`` prints: one item a gate, and one a result that none claims."""
    return {
        "gates": [
            {
                "name": gate.name,
                "about": gate.about,
                "headline": gate.headline,
                "published": dict(gate.published),
                "simulated": dict(verdict.simulated),
                "agrees": verdict.agrees,
                "reason": verdict.reason or None,
                "grade": gate.grade,
                "setting": gate.setting,
                "source": gate.source,
                "criteria": [_criterion(criterion) for criterion in verdict.criteria],
                "context": dict(verdict.context),
                "notes": list(verdict.notes),
            }
            for gate, verdict in judged
        ],
        "unclaimed": [result._asdict() for result in unclaimed],
    }


def _criterion(criterion: Criterion) -> dict[str, Any]:
    return {
        "name": criterion.name,
        "figure": criterion.figure,
        "low": criterion.low,
        "high": criterion.high,
        "open": criterion.open,
        "unit": criterion.unit,
        "pass": criterion.passed,
    }


def rows(judged: Judged, unclaimed: Sequence[Unclaimed] = ()) -> list[dict[str, Any]]:
    """Return a row for every gate, each of its figures, of its criteria and of its context.

    Behind them stands one for each published result that no gate claims.
    """
    found = [row for gate, verdict in judged for row in _rows(gate, verdict)]
    for result in unclaimed:
        found.append(
            {
                "part": "unclaimed",
                "name": result.name,
                "published": result.published,
                "grade": result.grade,
                "reason": result.why,
            }
        )
    return found


def _rows(gate: Gate, verdict: Verdict) -> Iterator[dict[str, Any]]:
    yield {
        "gate": gate.name,
        "part": "gate",
        "name": gate.about,
        "agrees": verdict.agrees,
        "grade": gate.grade,
        "setting": gate.setting,
        "reason": verdict.reason,
    }
    for name in _names(gate, verdict):
        figures = {"published": gate.published.get(name), "simulated": verdict.simulated.get(name)}
        yield {"gate": gate.name, "part": "figure", "name": name, **figures}
    for criterion in verdict.criteria:
        yield {
            "gate": gate.name,
            "part": "criterion",
            "name": criterion.name,
            "simulated": criterion.figure,
            "low": criterion.low,
            "high": criterion.high,
            "unit": criterion.unit,
            "agrees": criterion.passed,
        }
    for name, figure in _flat(verdict.context):
        yield {"gate": gate.name, "part": "context", "name": name, "simulated": figure}


def _names(gate: Gate, verdict: Verdict) -> list[str]:
    """Return the names of the figures, the published ones first."""
    return list(dict.fromkeys([*gate.published, *verdict.simulated]))


def _flat(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, figure in figures.items():
        if isinstance(figure, Mapping):
            yield from _flat(figure, f"{before}{name}: ")
        else:
            yield f"{before}{name}", figure


def validation_tables(judged: Judged, unclaimed: Sequence[Unclaimed] = ()) -> list[Table]:
    """Return the tables of each gate, of what no gate claims, and the summary of all gates last."""
    tables = [table for gate, verdict in judged for table in _gate_tables(gate, verdict)]
    return [*tables, *([_unclaimed(unclaimed)] if unclaimed else []), _summary(judged)]


def _unclaimed(results: Sequence[Unclaimed]) -> Table:
    return Table(
        title="Published, and not claimed",
        columns=(Column("result"), Column("published"), Column("grade"), Column("why not")),
        rows=tuple(Line((r.name, r.published, r.grade, r.why)) for r in results),
    )


def _gate_tables(gate: Gate, verdict: Verdict) -> Iterator[Table]:
    yield Table(
        title=f"{gate.name}: {_AGREES[verdict.agrees]}",
        columns=(Column("figure"), Column("published", True), Column("simulated", True)),
        rows=tuple(
            Line(
                (
                    name,
                    figure_words(gate.published.get(name)),
                    figure_words(verdict.simulated.get(name)),
                )
            )
            for name in _names(gate, verdict)
        ),
        notes=() if verdict.criteria else _notes(gate, verdict),
    )
    if verdict.criteria:
        yield Table(
            columns=(
                Column("criterion"),
                Column("bounds", True),
                Column("figure", True),
                Column("met", True),
            ),
            rows=tuple(
                Line(
                    (
                        _named(c),
                        bounds_words(c.low, c.high, c.open),
                        figure_words(c.figure),
                        _YES[c.passed],
                    )
                )
                for c in verdict.criteria
            ),
            notes=() if verdict.context else _notes(gate, verdict),
        )
    if verdict.criteria and verdict.context:
        yield Table(
            columns=(Column("shown, not judged"), Column("figure")),
            rows=tuple(
                Line((name, figure_words(figure))) for name, figure in verdict.context.items()
            ),
            notes=_notes(gate, verdict),
        )


def _notes(gate: Gate, verdict: Verdict) -> tuple[str, ...]:
    reason = (f"Not judged: {verdict.reason}.",) if verdict.reason else ()
    claim = f"Claim: {gate.about}. Setting: {gate.setting}."
    source = f"Source: {gate.source}; {GRADES[gate.grade]}."
    return (*reason, claim, source, *verdict.notes)


def _summary(judged: Judged) -> Table:
    return Table(
        title="Gates",
        columns=(
            Column("gate"),
            Column("a figure of it"),
            Column("published", True),
            Column("simulated", True),
            Column("grade"),
            Column("setting"),
            Column("criteria met", True),
            Column("agrees", True),
        ),
        rows=tuple(
            Line(
                (
                    gate.name,
                    gate.headline,
                    figure_words(gate.published[gate.headline]),
                    figure_words(verdict.simulated.get(gate.headline)),
                    gate.grade,
                    gate.setting,
                    f"{sum(c.passed is True for c in verdict.criteria)} of {len(verdict.criteria)}"
                    if verdict.criteria
                    else "–",
                    _YES[verdict.agrees],
                )
            )
            for gate, verdict in judged
        ),
        notes=(f"Grades: {'; '.join(f'{key}, {words}' for key, words in GRADES.items())}.",),
    )


def _named(criterion: Criterion) -> str:
    return f"{criterion.name}, {criterion.unit}" if criterion.unit else criterion.name


def bounds_words(low: float | None, high: float | None, open: bool) -> str:
    """Return the bounds of a criterion in words; *open* ones do not belong to what passes."""
    if low is not None and high is not None:
        between = "between {} and {}" if open else "{} to {}"
        return between.format(figure_words(low), figure_words(high))
    if low is not None:
        return f"above {figure_words(low)}" if open else f"at least {figure_words(low)}"
    if high is not None:
        return f"below {figure_words(high)}" if open else f"at most {figure_words(high)}"
    return "any"


def figure_words(value: Any) -> str:
    """Return a figure with three or four digits, several of them by name, a text as it is."""
    if value is None or isinstance(value, bool):
        return _YES[value]
    if isinstance(value, Mapping):
        return "; ".join(_with_unit(name, item) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return "; ".join(map(figure_words, value))
    if not isinstance(value, Real):
        return str(value)
    number = float(value)
    if number == round(number) or abs(number) >= 1_000.0:
        return tokens(number)
    text = dollars(number, 4 if abs(number) >= 10.0 else 3)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_unit(name: str, value: Any) -> str:
    """Return a figure behind its name, and the unit that ends the name behind the figure."""
    what, comma, unit = name.rpartition(", ")
    return f"{what}: {figure_words(value)} {unit}" if comma else f"{name}: {figure_words(value)}"
