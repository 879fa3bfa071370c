"""The tables of a comparison at several prices: policies by prices, and what follows in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from bench.advice.pairs import Costs
from bench.advice.standing import Standing
from bench.advice.wording import join
from bench.statistics import zero_limit
from bench.tables.parts import Column, Line, Table, dollars, number, percent

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["PLACES_NOTE", "SHIP_NOTE", "advice_table", "stories_advice"]

Row = Mapping[str, Any]

NONE = "–"

SHOWN = 3
"""Pairs of one scenario that a table spells out."""

PRICES, PRICES_WIDE = 3, 5
"""Prices that stand side by side in a table, narrow or wide."""

WIDEST = 11
"""Characters of a line of a price's name above its column."""

PLACES_NOTE = (
    "Under each price: place by cost alone, on the seeds both completed (= shared: the paired "
    "95 % interval holds 0), and US dollars a completed run. [low, high]: 95 % BCa interval; "
    "(≤ high): exact one-sided 95 % limit where every run has 0. "
    "One --price alone shows peaks, hit rates and differences."
)
SHIP_NOTE = (
    "★, ship: first by share of runs completed, then confabulation rate, violations, policy bugs "
    "and cost. R = (write − read) ÷ read."
)


def advice_table(
    title: str,
    rows: Sequence[Row],
    advice: Sequence[Row],
    wide: bool,
    label: Callable[[str], str],
) -> list[Table]:
    """Return the tables of one scenario's *rows* and *advice*; *label* writes a policy."""
    costs = Costs(rows)
    tables_needed = ceil(len(costs.prices) / (PRICES_WIDE if wide else PRICES))
    width = ceil(len(costs.prices) / tables_needed)
    tables: list[Table] = []
    shown = [costs.prices[at : at + width] for at in range(0, len(costs.prices), width)]
    for prices in shown:
        tables.append(_table("" if tables else title, costs, prices, label))
    last = tables[-1]
    notes = (*_varying(costs, [prices[0] for prices in shown]), *_sentences(advice))
    return [*tables[:-1], Table(last.title, last.columns, last.rows, notes)]


def stories_advice(advice: Mapping[str, Sequence[Row]]) -> Iterator[Table]:
    """Yield what follows for the stories whose first policies change places with another.

    The other stories in which some order depends on the price are named.
    """
    others = []
    for name, items in advice.items():
        orders = [set(item["policies"]) for item in items if item["kind"] == "order"]
        first = {p for item in items if item["kind"] != "order" for p in item["policies"]}
        if any(pair & first for pair in orders):
            title = f"{name}: the order of costs depends on the price"
            yield Table(title, notes=tuple(_sentences(items)))
        elif orders:
            others.append(name)
    if others:
        yield Table(
            notes=(
                f"Behind the first, policies change places in {', '.join(others)}: --format json "
                "has them.",
            )
        )


def _sentences(advice: Sequence[Row]) -> Iterator[str]:
    """Yield the sentences of one scenario that there is room for, and the count of the others.

    Of pairs that differ by the same dollars throughout, one stands for all.
    """
    left = {"flip": 0, "fade": 0, "order": 0}
    shown: set[tuple[float, ...]] = set()
    for item in advice:
        if item["kind"] not in left:
            yield f"• {item['sentence']}"
            continue
        means = tuple(gap["mean"] for gap in item["figures"]["differences"])
        if item["kind"] != "fade" and len(shown) < SHOWN and means not in shown:
            shown.add(means)
            yield f"• {item['sentence']}"
        else:
            left[item["kind"]] += 1
    flips, fades = left["flip"] + left["order"], left["fade"]
    more = " more" if shown else ""
    counts = []
    if flips:
        counts.append(f"{flips}{more} {'pair changes' if flips == 1 else 'pairs change'} places")
    if fades:
        pairs = "" if flips else f"{more} pair" if fades == 1 else f"{more} pairs"
        counts.append(
            f"{fades}{pairs} {'is' if fades == 1 else 'are'} told apart at some prices only"
        )
    if counts:
        yield f"• {' and '.join(counts)}: --format json has them."


def _table(title: str, costs: Costs, prices: Sequence[str], label: Callable[[str], str]) -> Table:
    standings = {price: Standing(costs, price) for price in prices}
    ranked = {
        (found.price, found.policy): found for price in prices for found in costs.ranking(price)
    }
    front = {price: standing.first for price, standing in standings.items()}

    def cost(price: str, policy: str) -> str:
        found = ranked[price, policy]
        if found.cost.mean is None:
            return NONE
        star = "★" if policy in front[price] else ""
        if found.rank is None:
            return f"{star} {dollars(found.cost.mean)}".strip()
        same = [each for (at, _), each in ranked.items() if at == price and each.rank == found.rank]
        tied = "=" if len(same) > 1 else ""
        return f"{star}{found.rank}{tied} {dollars(found.cost.mean)}"

    rows = tuple(
        Line(
            (
                label(policy),
                *_quality(costs, prices[0], policy),
                *(cost(price, policy) for price in prices),
            ),
            any(policy in first for first in front.values()),
        )
        for policy in costs.policies
    )
    columns = (
        Column("\npolicy"),
        Column("made\nup %", right=True),
        Column("viola-\ntions", right=True),
        Column("done\n", right=True),
        *(Column(_broken(price), right=True) for price in prices),
    )
    return Table(title, columns, rows)


def _quality(costs: Costs, price: str, policy: str) -> tuple[str, str, str]:
    """Return what else is to be known of a policy: made up, violations, runs completed."""
    rows = [r for r in costs.rows.get((price, policy), ()) if r["status"] != "not-applicable"]
    rates = [row["confabulation_rate"] for row in rows if row["confabulation_rate"] is not None]
    broken = [row["violations"] for row in rows if row["violations"] is not None]
    done = sum(row["status"] == "completed" for row in rows)
    return (
        _rate(rates),
        number(sum(broken) / len(broken)) if broken else NONE,
        f"{done}/{len(rows)}",
    )


def _rate(rates: Sequence[float]) -> str:
    """Return the mean of *rates* in percent, with its exact limit if every one of them is zero."""
    if not rates:
        return NONE
    limit = zero_limit(len(rates)) if len(rates) > 1 and not any(rates) else None
    return percent(sum(rates) / len(rates)) if limit is None else f"0 (≤ {percent(limit)})"


def _varying(costs: Costs, firsts: Sequence[str]) -> Iterator[str]:
    """Yield a note if what stands beside the costs is not the same at every price.

    *firsts* are the first prices of the tables, at which it is shown.
    """
    first = costs.prices[0]
    if any(
        _quality(costs, price, policy) != _quality(costs, first, policy)
        for price in costs.prices
        for policy in costs.policies
    ):
        each = ", the first price of each table" if len(firsts) > 1 else ""
        yield (
            f"Answers and completed runs are those at {join(firsts)}{each}; they are not the same "
            "at every price, since lives of cache entries and a policy's own sums differ."
        )


def _broken(price: str) -> str:
    """Return the name of a price over lines of at most `WIDEST` characters, cut at hyphens."""
    lines = [""]
    for part in price.replace("-", "-\n").split("\n"):
        if lines[-1] and len(lines[-1]) + len(part) > WIDEST:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines if len(lines) > 1 else ["", *lines])
