"""The tables of a check: how a loop can grow, what carries most, and what would be given up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.ceiling import POLICY, Ceiling, GivenUp, Remedy, Surrender
from bench.tables.parts import Column, Line, Table, percent, tokens

__all__ = ["COLUMNS", "ceiling_tables", "document", "rows"]

COLUMNS = (
    "step",
    "turn",
    "results_tokens",
    "material_tokens",
    "adds_tokens",
    "worst_case_tokens",
    "left_tokens",
    "fits",
)
"""The columns of :func:`rows`."""

LIMIT = 24
"""Rows shown of one table; of what is given up, the first so many."""

_HOW = {"line": "one line for", "evicted": "evicts", "cut": "the backstop cuts"}


def rows(ceiling: Ceiling) -> list[dict[str, Any]]:
    """Return the first fill and each step as a row with :data:`COLUMNS`."""
    return [
        {
            "step": step.name,
            "turn": step.turn,
            "results_tokens": step.budgets,
            "material_tokens": step.material,
            "adds_tokens": step.adds,
            "worst_case_tokens": worst,
            "left_tokens": ceiling.budget - worst,
            "fits": worst <= ceiling.budget,
        }
        for step, worst in zip(ceiling.everything, ceiling.running, strict=True)
    ]


def document(name: str, ceiling: Ceiling, surrender: Surrender) -> dict[str, Any]:
    """Return the check of what is called *name* as one JSON document."""
    breaks = ceiling.breaks_at
    return {
        "name": name,
        "fits": not ceiling.over,
        "budget": ceiling.budget,
        "worst_case_tokens": ceiling.total,
        "over_tokens": ceiling.over,
        "breaks_at": None if breaks is None else breaks.name,
        "heaviest_tool": next(iter(ceiling.tools), None),
        "steps": rows(ceiling),
        "tools": _tools(ceiling),
        "remedies": [
            {"what": r.what, "tool": r.tool, "now": r.now, "to": r.to} for r in ceiling.remedies()
        ],
        "policy": POLICY,
        "given_up": [
            {
                "step": given.step,
                "turn": given.turn,
                "how": given.how,
                "segments": list(given.segments),
                "before_tokens": given.before,
                "after_tokens": given.after,
                "reason": given.reason,
            }
            for given in surrender.given_up
        ],
        "peak_tokens": surrender.peak,
        "ended": {"at": surrender.at, "reason": surrender.ended} if surrender.ended else None,
    }


def ceiling_tables(name: str, ceiling: Ceiling, surrender: Surrender) -> list[Table]:
    """Return the tables of the check of what is called *name*."""
    tables = [_growth(name, ceiling)]
    if ceiling.tools:
        tables.append(_carried(ceiling))
    if ceiling.over:
        tables.append(_remedies(ceiling))
    return [*tables, _given_up(surrender)]


def _growth(name: str, ceiling: Ceiling) -> Table:
    columns = (
        Column("step"),
        Column("results", right=True),
        Column("the rest", right=True),
        Column("worst case", right=True),
        Column("left", right=True),
        Column("fits"),
    )
    found = rows(ceiling)
    shown = _shown(found)
    lines: list[Line] = []
    last = -1
    for index in shown:
        if index > last + 1:
            lines.append(Line(("…", *[""] * (len(columns) - 1))))
        lines.append(_step_line(found[index]))
        last = index
    more = len(found) - len(shown)
    notes = [_summary(ceiling)]
    if more:
        are = "step is" if more == 1 else "steps are"
        notes.append(f"{tokens(more)} {are} not shown (…); --format csv has all")
    return Table(f"{name}: {_verdict(ceiling)}", columns, tuple(lines), tuple(notes))


def _step_line(row: Mapping[str, Any]) -> Line:
    return Line(
        (
            str(row["step"]),
            tokens(row["results_tokens"]),
            tokens(row["material_tokens"]),
            tokens(row["worst_case_tokens"]),
            tokens(row["left_tokens"]),
            "yes" if row["fits"] else "no",
        )
    )


def _shown(found: Sequence[dict[str, Any]]) -> list[int]:
    """Return which rows are shown: all, or of many the ends and those around the one that breaks.

    Where they leave out a single row, that one is shown, too.
    """
    if len(found) <= LIMIT:
        return list(range(len(found)))
    breaks = next((i for i, row in enumerate(found) if not row["fits"]), len(found))
    near = {*range(4), *range(breaks - 4, breaks + 4), *range(len(found) - 4, len(found))}
    return [i for i in range(len(found)) if i in near or {i - 1, i + 1} <= near]


def _verdict(ceiling: Ceiling) -> str:
    breaks = ceiling.breaks_at
    if breaks is None:
        return "it fits"
    return "the first fill does not fit" if breaks is ceiling.fill else f"breaks at {breaks.name}"


def _summary(ceiling: Ceiling) -> str:
    worst, budget = tokens(ceiling.total), tokens(ceiling.budget)
    left = ceiling.budget - ceiling.total
    rest = f"{tokens(-left)} over" if left < 0 else f"{tokens(left)} left"
    return f"At worst {worst} tokens in a window of {budget}: {rest}."


def _tools(ceiling: Ceiling) -> list[dict[str, Any]]:
    return [
        {
            "tool": tool,
            "results": len(budgets),
            "max_result_tokens": max(budgets),
            "tokens": sum(budgets),
            "share": sum(budgets) / ceiling.total,
        }
        for tool, budgets in ceiling.tools.items()
    ]


def _carried(ceiling: Ceiling) -> Table:
    columns = (
        Column("tool"),
        Column("results", right=True),
        Column("declared", right=True),
        Column("carries", right=True),
        Column("% of the worst case", right=True),
    )
    found = _tools(ceiling)
    lines = tuple(_tool_line(row) for row in found[:LIMIT])
    return Table(f"{found[0]['tool']} carries the most", columns, lines)


def _tool_line(row: Mapping[str, Any]) -> Line:
    return Line(
        (
            row["tool"],
            tokens(row["results"]),
            tokens(row["max_result_tokens"]),
            tokens(row["tokens"]),
            percent(row["share"]),
        )
    )


def _remedies(ceiling: Ceiling) -> Table:
    columns = (Column("what"), Column("now", right=True), Column("it fits with"))
    lines = tuple(Line(tuple(_remedy(remedy))) for remedy in ceiling.remedies())
    return Table("what would make it fit, each alone", columns, lines)


def _remedy(remedy: Remedy) -> Iterator[str]:
    names = {
        "tool": f"max_result_tokens of {remedy.tool}",
        "fill": "the first fill",
        "material": "the rest of what one step brings",
        "attempts": "the number of attempts",
        "turns": "the number of turns after the first",
        "budget": "the window",
    }
    yield names[remedy.what]
    yield tokens(remedy.now)
    if remedy.to is None:
        yield "not by this alone"
    else:
        yield f"{'at least' if remedy.what == 'budget' else 'at most'} {tokens(remedy.to)}"


def _given_up(surrender: Surrender) -> Table:
    columns = (
        Column("step"),
        Column("what it does"),
        Column("before", right=True),
        Column("after", right=True),
        Column("why"),
    )
    given = surrender.given_up
    lines = tuple(Line(tuple(_given_cells(each))) for each in given[:LIMIT])
    notes = []
    if len(given) > LIMIT:
        notes.append(f"… and {tokens(len(given) - LIMIT)} more; --format json has all of them")
    notes.append(_outcome(surrender))
    title = f"what {POLICY} would give up" if given else f"{POLICY} would give up nothing"
    return Table(title, columns, lines, tuple(notes))


def _given_cells(given: GivenUp) -> Iterator[str]:
    yield given.step
    yield f"{_HOW[given.how]} {', '.join(given.segments)}"
    yield tokens(given.before)
    yield tokens(given.after)
    yield given.reason


def _outcome(surrender: Surrender) -> str:
    if surrender.ended:
        return f"It cannot go on at {surrender.at}: {surrender.ended}"
    if surrender.peak is None:
        return "It sends no request."
    return f"Its largest request holds {tokens(surrender.peak)} tokens."
