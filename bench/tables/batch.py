"""Many replayed sessions as tables: a line each, and all of them pooled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bench.beside.registry import measures
from bench.eligible import UNSAFE, unsafe
from bench.front import POOLED
from bench.replays.what_if import OWN
from bench.tables.comparison import shown_label
from bench.tables.parts import Column, Line, Table, dollars, interval, percent, short_tokens, tokens
from bench.tables.what_if import Row, best_of, marked, part_of, shortened

if TYPE_CHECKING:
    from bench.api import Replay

__all__ = ["pooled_beside", "pooled_tables", "session_tables"]

MOST = 30
"""Sessions that have a line each; the rest is counted."""

SESSIONS_NOTE = (
    "Dearest first. The best policy saves most dollars, or loses least (−), of those that keep "
    "what is pinned; pins lost: by so many of the policies."
)
OWN_NOTE = (
    "Dollars are sums over sessions, of each at its own price; --price NAME takes one for all."
)


def session_tables(
    replay: Replay, sessions: Mapping[str, Sequence[Row]], wide: bool
) -> Iterator[Table]:
    """Yield the table of *sessions*, the dearest first: as recorded, and their best policy."""
    prices = {name: rows[0]["price"] for name, rows in sessions.items()}
    own = len(set(prices.values())) > 1
    columns = (
        Column("\nsession"),
        *((Column("\nformat"),) if wide else ()),
        *((Column("\nprice"),) if own else ()),
        Column("\ncalls", True),
        Column("\ninput", True),
        Column("\n$", True),
        Column("best\npolicy"),
        Column("$\nsaved", True),
        Column("\ngone", True),
        Column("\nwrong", True),
        *((Column("worst\npolicy"), Column("$\nsaved", True)) if wide else ()),
        Column("pins\nlost", True),
    )
    names = sorted(sessions, key=lambda name: -_at_stake(replay.recorded.get(name), prices[name]))
    shown = _distinct(names[:MOST], wide)
    lines = []
    for name in names[:MOST]:
        told, price = replay.recorded.get(name), prices[name]
        mine = [row for row in sessions[name] if row["price"] == price]
        cells = ("–",) * (len(columns) - 1)
        if told is not None:
            form, *recorded = _as_recorded(told, price, wide)
            cells = (
                *((form,) if wide else ()),
                *((price,) if own else ()),
                *recorded,
                *_compared(mine, wide),
            )
        lines.append(Line((shown[name], *cells)))
    at = "each at the price of its model" if own else f"at {next(iter(prices.values()))}"
    title = f"{len(sessions):,} sessions {at}: as recorded, and the best policy"
    more = len(names) - MOST
    notes: tuple[str, ...] = (SESSIONS_NOTE,)
    notes += (f"… and {more:,} more; --format json has all.",) if more > 0 else ()
    yield Table(title, columns, tuple(lines), notes)


def _at_stake(told: Row | None, price: str) -> float:
    return 0.0 if told is None else float(told["simulated"][price]["total_cost_usd"])


def _distinct(names: Sequence[str], wide: bool) -> dict[str, str]:
    """Return each name shortened, or whole where another would look the same."""
    short = {name: shortened(name, wide) for name in names}
    count = Counter(short.values())
    return {name: each if count[each] == 1 else name for name, each in short.items()}


def _as_recorded(told: Row, price: str, wide: bool) -> Iterator[str]:
    simulated = told["simulated"][price]
    yield told["format"]
    yield tokens(told["turns"])
    yield (tokens if wide else short_tokens)(simulated["input_tokens"])
    yield dollars(simulated["total_cost_usd"])


def _compared(rows: Sequence[Row], wide: bool) -> Iterator[str]:
    """Yield the cells of the best of *rows*, of the worst if *wide*, and how many lost pins."""
    best = best_of(rows)
    ended = [row for row in rows if row["saved_usd"] is not None]
    if best is None:
        yield from ("none", *("–",) * 3)
    else:
        yield shown_label(best["policy"], wide)
        yield dollars(best["saved_usd"])
        yield part_of(best.get("gone_count"), best.get("asked_count"))
        yield part_of(best["wrong"], best["queries"])
    if wide and ended:
        worst = min(ended, key=lambda row: row["saved_usd"])
        yield marked(worst, wide)
        yield dollars(worst["saved_usd"])
    elif wide:
        yield from ("–", "–")
    yield part_of(sum(bool(row.get("pins_lost")) for row in rows), len(rows))


def pooled_tables(replay: Replay, wide: bool) -> Iterator[Table]:
    """Yield for each price the table of what each policy saves over all sessions."""
    own = any(line["price"] == OWN for line in replay.pooled)
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in replay.what_if:
        count = counts.setdefault((OWN if own else row["price"], row["policy"]), Counter())
        for name in ("gone_count", "asked_count", "wrong", "queries", *UNSAFE):
            count[name] += row.get(name) or 0
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for line in replay.pooled:
        groups.setdefault((line["price"], line["policy"]), {})[line["saved"]] = line
    columns = (
        Column("\npolicy"),
        Column("\nended", True),
        Column("tokens\nsaved, %", True),
        *((Column("$\nsaved", True),) if wide else ()),
        Column("$\nsaved, %", True),
        Column("$ saved\na session", True),
        *((Column("saves\nin", True), Column("loses\nin", True)) if wide else ()),
        Column("\ngone", True),
        Column("\nwrong", True),
        Column("pins\nlost", True),
    )
    for price in dict.fromkeys(price for price, _ in groups):
        rows = [
            Line(tuple(_pooled_cells(policy, each, counts[at, policy], wide)))
            for (at, policy), each in groups.items()
            if at == price
        ]
        if own:
            title = "all sessions, each at the price of its model, pooled"
        else:
            title = f"all sessions at {price}, pooled"
        yield Table(title, columns, tuple(rows), (OWN_NOTE,) if own else ())


def pooled_beside(replay: Replay, wide: bool) -> Iterator[Table]:
    """Yield the tables of what was asked for beside the metrics, over all sessions."""
    own = any(line["price"] == OWN for line in replay.pooled)
    rows = [
        {**row, "scenario": POOLED, "price": OWN if own else row["price"]} for row in replay.rows
    ]
    for name in replay.beside:
        measure = measures()[name]
        yield from measure.tables(measure.lines(rows), wide)


def _pooled_cells(
    policy: str, each: Mapping[str, Row], count: Mapping[str, int], wide: bool
) -> Iterator[str]:
    usd, saved = each["usd"], each["tokens"]
    yield shown_label(policy, wide) + (" !" if unsafe(count) else "")
    yield f"{usd['n']:,}/{usd['sessions']:,}"
    if not usd["n"]:
        yield from ("–",) * (9 if wide else 6)
        return
    beside = max(abs(usd["ci_low"] or 0.0), abs(usd["ci_high"] or 0.0))
    form = partial(dollars, beside=beside)
    yield "–" if saved["share"] is None else percent(saved["share"])
    if wide:
        yield dollars(usd["total"])
    yield "–" if usd["share"] is None else percent(usd["share"])
    yield interval(form, usd["mean"], usd["ci_low"], usd["ci_high"], wide)
    if wide:
        yield tokens(usd["better"])
        yield tokens(usd["worse"])
    yield part_of(count["gone_count"], count["asked_count"])
    yield part_of(count["wrong"], count["queries"])
    yield tokens(count["pins_lost"])
