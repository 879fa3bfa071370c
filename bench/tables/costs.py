"""The tables of what a run cost: per cause, its dearest turns, and whether its passes paid back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.tables.parts import Column, Line, Table, dollars, number, percent, tokens

__all__ = ["cost_tables"]

TURNS = 10
"""Turns shown, the dearest; the rest is counted."""

PASSES = 20
"""Passes shown, the first ones; the rest is counted."""

MEANINGS = {
    "read": "read from the cache",
    "append": "new: let in at the door",
    "rehydration": "new: brought back from a copy",
    "refresh": "refreshed in place, and what stood behind it",
    "rewrite": "surrogates, and what stood behind them",
    "compaction": "summaries, and what stood behind them",
    "keep-alive": "pings",
    "eviction": "computed again: it stood behind an eviction",
    "truncation": "computed again: it stood behind a cut of the backstop",
    "change": "computed again: tools or effort had changed",
    "expiry": "computed again: its entry had expired",
    "rule": "computed again: the cache rule never stored it, or does not find it",
    "storage": "keeping entries, where that is billed",
    "output": "written by the model",
}


def cost_tables(
    causes: Sequence[Mapping[str, Any]],
    turns: Sequence[Mapping[str, Any]],
    passes: Sequence[Mapping[str, Any]],
) -> list[Table]:
    """Return the tables of a run's costs, as ``bench.costs`` has them."""
    total = sum(line["usd"] + line["maintenance_usd"] for line in causes)
    tables = [_causes(causes, total)] if causes else []
    if total and len(turns) > 1:
        tables.append(_turns(turns, total))
    if passes:
        tables += _passes(passes)
    return tables


def _share(part: float, total: float) -> str:
    return percent(part / total) if total else "–"


def _causes(causes: Sequence[Mapping[str, Any]], total: float) -> Table:
    columns = (
        Column("cause"),
        Column("tokens", right=True),
        Column("$", right=True),
        Column("%", right=True),
        Column("what the tokens are"),
    )
    rows = tuple(
        Line(
            (
                line["cause"],
                tokens(line["tokens"] + line["maintenance_tokens"]),
                dollars(line["usd"] + line["maintenance_usd"]),
                _share(line["usd"] + line["maintenance_usd"], total),
                MEANINGS[line["cause"]],
            )
        )
        for line in causes
    )
    served = sum(line["maintenance_usd"] for line in causes)
    notes = [f"In all ${dollars(total)}."]
    if served:
        notes.append(f"Of it ${dollars(served)} for rewriting calls and pings.")
    return Table("what the money went to", columns, rows, tuple(notes))


def _turns(turns: Sequence[Mapping[str, Any]], total: float) -> Table:
    dearest = sorted(turns, key=lambda turn: -turn["usd"])[:TURNS]
    columns = (
        Column("turn", right=True),
        Column("$", right=True),
        Column("%", right=True),
        Column("most of it"),
    )
    rows = tuple(
        Line((str(t["turn"]), dollars(t["usd"]), _share(t["usd"], total), _most(t)))
        for t in dearest
    )
    more = len(turns) - len(rows)
    rest = total - sum(turn["usd"] for turn in dearest)
    notes = (f"… and {tokens(more)} more for ${dollars(rest)} together",) if more > 0 else ()
    return Table("the dearest turns", columns, rows, notes)


def _most(turn: Mapping[str, Any]) -> str:
    """Return the causes that make up most of a turn, the largest first, each with its dollars."""
    shares = sorted(turn["causes"].items(), key=lambda item: -item[1])
    large = [(cause, usd) for cause, usd in shares if usd >= 0.1 * turn["usd"]]
    return ", ".join(f"{cause} {dollars(usd, 2)}" for cause, usd in large)


def _passes(passes: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    agents = ("agent",) if "agent" in passes[0] else ()
    columns = (
        *(Column(header, right=True) for header in agents),
        Column("turn", right=True),
        Column("b: removed", right=True),
        Column("S: behind", right=True),
        Column("broken", right=True),
        Column("S/b", right=True),
        Column("L: calls", right=True),
        Column("needs", right=True),
        Column("came back", right=True),
        Column("paid back"),
    )
    rows = tuple(
        Line((*(str(each[name]) for name in agents), *_pass(each))) for each in passes[:PASSES]
    )
    more = len(passes) - len(rows)
    notes = [
        "A pass pays back if b·L·r > S·(w − r) + refetch; price cliffs and the calls that rewrite "
        "are left out. Needs: more calls than R·S/b, refetches left out; came back: tokens.",
        "Broken: S, and what was lost in front of the cut because no entry ends there.",
    ]
    ratios = sorted({round(each["ratio"], 6) for each in passes if each["ratio"] is not None})
    if ratios:
        notes.insert(0, f"R = (w − r) / r = {' or '.join(map(number, ratios))}.")
    if more > 0:
        notes.insert(0, f"… and {tokens(more)} more")
    yield Table(_title(passes), columns, rows, tuple(notes))


def _title(passes: Sequence[Mapping[str, Any]]) -> str:
    paid = [each["paid_back"] for each in passes]
    if None in paid:
        return f"passes: {tokens(len(paid))}, and nothing costs anything"
    title = f"passes: {tokens(sum(paid))} of {tokens(len(paid))} paid back"
    whole = sum(each["pays_for_all"] for each in passes)
    return title if whole == sum(paid) else f"{title}, {tokens(whole)} if all it broke counts"


def _pass(each: Mapping[str, Any]) -> tuple[str, ...]:
    removed, needed = each["removed"], each["calls_needed"]
    return (
        str(each["turn"]),
        tokens(removed),
        tokens(each["behind"]),
        tokens(each["broken"]),
        "–" if removed <= 0 else f"{each['behind'] / removed:.2f}",
        str(each["calls"]),
        "–" if needed is None else number(needed),
        tokens(each["refetched"]) if each["refetches"] else "–",
        {True: "yes", False: "no", None: "–"}[each["paid_back"]],
    )
