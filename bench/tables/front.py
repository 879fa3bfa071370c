"""The Pareto front as tables for a person: who is on it, and how surely."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bench.samples import Row
from bench.tables.comparison import shown_label
from bench.tables.parts import Column, Line, Table, dollars, percent, short_tokens, tokens

__all__ = ["front_tables"]

NOTE = (
    "The Pareto front: no other policy is at least as good in made-up answers, peak and cost, and "
    "better in one. share: of resamples of the seeds in which it is on the front. Left out are "
    "policies that lost pins, had bugs or completed fewer runs (docs/statistics.md)."
)

_NONE = "–"


def front_tables(lines: Sequence[Row], wide: bool) -> list[Table]:
    """Return a table for each scenario and price of *lines* with several seeds, one of all others.

    Policies that are on no front of any resample are named below, and so are those left out.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for line in lines:
        groups.setdefault((line["scenario"], line["price"]), []).append(line)
    several = len({price for _, price in groups}) > 1
    tables, single = [], []
    for (scenario, price), mine in groups.items():
        at = f" at {price}" if several else ""
        if max(line["attempted"] for line in mine) > 1:
            tables.append(_table(f"{scenario}: Pareto front{at}", mine, wide))
        else:
            single.append(Line((f"{scenario}{at}", ", ".join(_on_it(mine)) or "none completed it")))
    if single:
        columns = (Column("run once"), Column("on the Pareto front"))
        notes = tuple(_left_out(mine)) if len(groups) == 1 else ()
        tables.append(Table("", columns, tuple(single), notes))
    return [*tables, Table(notes=(NOTE,))] if tables else []


def _on_it(lines: Sequence[Row]) -> Iterator[str]:
    return (line["policy"] for line in lines if line["on_front"])


def _table(title: str, lines: Sequence[Row], wide: bool) -> Table:
    inside = [line for line in lines if line["on_front"] is not None]
    size = tokens if wide else short_tokens
    forms: tuple[tuple[str, Callable[[float], str]], ...] = (
        ("confabulation_rate", percent),
        ("peak_tokens", size),
        ("total_cost_usd", dollars),
    )
    shown = [line for line in inside if line["on_front"] or line["share"]]
    rows = tuple(
        Line(
            (
                shown_label(line["policy"], wide),
                "yes" if line["on_front"] else "no",
                _NONE if line["share"] is None else percent(line["share"]),
                *(_NONE if line[name] is None else form(line[name]) for name, form in forms),
            ),
            line["on_front"],
        )
        for line in sorted(shown, key=lambda line: -(line["share"] or 0.0))
    )
    columns = (
        Column("policy"),
        Column("on it"),
        Column("share, %", True),
        Column("confabulated, %", True),
        Column("peak", True),
        Column("cost, $", True),
    )
    seeds = f"Means of the {inside[0]['n']:,} runs that all of these completed." if shown else ""
    never = ", ".join(line["policy"] for line in inside if line not in shown)
    notes = (seeds, never and f"Never on it: {never}.", *_left_out(lines))
    return Table(title, columns, rows, tuple(note for note in notes if note))


def _left_out(lines: Sequence[Row]) -> Iterator[str]:
    """Yield which policies are left out of the front, and why."""
    out: dict[str, list[str]] = {}
    for line in lines:
        if line["why"] is not None:
            out.setdefault(line["why"], []).append(line["policy"])
    for why, policies in out.items():
        yield f"Left out: {', '.join(policies)}: {why}."
