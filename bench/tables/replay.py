"""Replays as tables for a person: each policy against the recording, one session or many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from bench.tables.comparison import comparison_tables, notes_table, shown_label
from bench.tables.parts import Column, Line, Table, dollars, interval, percent, short_tokens, tokens

if TYPE_CHECKING:
    from bench.api import Replay

__all__ = ["FEW", "replay_tables"]

Row = Mapping[str, Any]

FEW = 3
"""Sessions up to which each has tables of its own."""

MOST = 30
"""Sessions that have a line each; the rest is counted."""

_EXAMPLES = 3

SAVED_NOTE = (
    "Saved is the recording's less the policy's, both simulated at one price; − is a loss. The "
    "recording is replayed as it happened: with its own compactions, and room for all else."
)
GONE_NOTE = (
    "gone: asked for when it was not in the window, whole and current. broken: turns in which what "
    "was removed made tokens behind it be computed again, and what that cost."
)
POOLED_NOTE = "[low, high]: 95 % bootstrap interval of a session's mean, over sessions."


def replay_tables(replay: Replay, wide: bool) -> list[Table]:
    """Return every table of *replay*; *wide* spells numbers out that are else shortened."""
    sessions: dict[str, list[Row]] = {}
    for row in replay.what_if:
        sessions.setdefault(row["scenario"], []).append(row)
    tables: list[Table] = []
    if len(sessions) <= FEW:
        *each, last = comparison_tables(replay, wide)
        tables += each
        for name, rows in sessions.items():
            tables += _session(name, replay.recorded.get(name), rows, wide)
    else:
        last = notes_table(replay, of_all=False)
        tables += _sessions(replay, sessions, wide)
    if len(sessions) > 1:
        tables += _pooled(replay, wide)
    notes = [SAVED_NOTE, GONE_NOTE, *([POOLED_NOTE] if len(sessions) > 1 else [])]
    return [*tables, Table(notes=(*notes, *last.notes))]


def _session(name: str, told: Row | None, rows: Sequence[Row], wide: bool) -> Iterator[Table]:
    prices = list(dict.fromkeys(row["price"] for row in rows))
    for price in prices:
        mine = [row for row in rows if row["price"] == price]
        lines = tuple(_line(row, wide) for row in mine if row["recorded_tokens"] is not None)
        at = f" at {price}" if len(prices) > 1 else ""
        notes = (*_recorded(told, price), *_fitted(told)) if told is not None else ()
        title = f"{name}: saved against the recording{at}"
        yield Table(title, _COLUMNS, lines, notes if lines else (*notes, "No policy ended."))
        examples = tuple(_examples(mine))
        if examples and price == prices[0]:
            yield Table(title=f"{name}: what was gone, and what broke the prefix", notes=examples)


_COLUMNS = (
    Column("policy"),
    Column("tokens saved", True),
    Column("%", True),
    Column("$ saved", True),
    Column("%", True),
    Column("seconds", True),
    Column("gone", True),
    Column("broken", True),
    Column("$", True),
)


def _line(row: Row, wide: bool) -> Line:
    size = tokens if wide else short_tokens
    gone, broke = row.get("gone_count"), row.get("broke_count")
    return Line(
        (
            shown_label(row["policy"], wide),
            size(row["saved_tokens"]),
            _share(row, "tokens"),
            dollars(row["saved_usd"]),
            _share(row, "usd"),
            tokens(row["saved_seconds"]),
            "–" if gone is None else tokens(gone),
            "–" if broke is None else tokens(broke),
            "–" if broke is None else dollars(row["broke_usd"]),
        )
    )


def _share(row: Row, name: str) -> str:
    whole = row[f"recorded_{name}"]
    return percent(row[f"saved_{name}"] / whole) if whole else "–"


def _recorded(told: Row, price: str) -> Iterator[str]:
    """Yield what the recording came to, as it is recorded and as it is simulated."""
    simulated = told["simulated"][price]
    usage = told["usage"]
    compactions = told["compactions"]
    yield (
        f"As it was ({told['format']}, {told['turns']:,} calls, {compactions:,} "
        f"{'compaction' if compactions == 1 else 'compactions'}), simulated: "
        f"{tokens(simulated['input_tokens'])} tokens of input, "
        f"{_percent(simulated['cache_hit_rate'])} from the cache, "
        f"${dollars(simulated['total_cost_usd'])}."
    )
    if usage is None:
        yield "Recorded: no usage."
        return
    cached = usage.get("cached_tokens")
    hit = "" if cached is None else f", {_percent(cached / usage['input_tokens'])} from the cache"
    usd = told["recorded_input_usd"][price]
    yield (
        f"Recorded: {tokens(usage['input_tokens'])} tokens of input in {usage['calls']:,} "
        f"calls{hit}; at this price ${dollars(usd)} without output."
    )


def _fitted(told: Row) -> Iterator[str]:
    fit = told["fit"]
    if fit is not None:
        yield (
            f"Recorded tokens are {tokens(fit['offset'])} + {fit['factor']:.2f} times the "
            f"simulated (fitted on {fit['fitted']:,} calls; over the next {fit['held_out']:,} off "
            f"by {_percent(fit['median_error'])} in the median, "
            f"{_percent(fit['max_error'])} at most)."
        )
    elif told["usage"] is not None:
        yield f"No line from simulated to recorded tokens: {told['unfitted']}."


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{percent(share)} %"


def _examples(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for gone in row.get("gone", ())[:_EXAMPLES]:
            since = "" if gone["since"] is None else f" in turn {gone['since']}"
            came = f": {gone['outcome']}" if gone["outcome"] else ""
            yield (
                f"{row['policy']}: {gone['segment']} ({tokens(gone['tokens'])} tokens), "
                f"{gone['how']}{since}, was asked for in turn {gone['turn']}{came}"
            )
        for broke in row.get("broke", ())[:_EXAMPLES]:
            more = broke["count"] - 1
            others = f" and {more:,} more" if more else ""
            yield (
                f"{row['policy']}: turn {broke['turn']} took out {broke['segments'][0]}{others} "
                f"({tokens(broke['removed'])} tokens) in front of {tokens(broke['behind'])} that "
                f"were computed again: ${dollars(broke['usd'])}"
            )


def _sessions(replay: Replay, sessions: Mapping[str, Sequence[Row]], wide: bool) -> Iterator[Table]:
    price = replay.what_if[0]["price"]
    columns = (
        Column("session"),
        *((Column("format"),) if wide else ()),
        Column("calls", True),
        Column("input", True),
        Column("$", True),
        Column("saves most"),
        Column("$ saved", True),
        Column("gone", True),
        *((Column("loses most"), Column("$ saved", True)) if wide else ()),
    )
    rows = []
    for name, mine in sessions.items():
        told = replay.recorded.get(name)
        able = [r for r in mine if r["price"] == price and r["saved_usd"] is not None]
        if told is None or not able:
            cells = [_cut(name, wide), *("–" for _ in columns[1:])]
        else:
            cells = list(_session_cells(name, told, able, price, wide))
        rows.append(Line(tuple(cells)))
    title = f"{len(sessions):,} sessions at {price}: as recorded, and which policy saves most"
    more = len(rows) - MOST
    notes = (f"… and {more:,} more; --format json has all.",) if more > 0 else ()
    yield Table(title, columns, tuple(rows[:MOST]), notes)


def _session_cells(
    name: str, told: Row, able: Sequence[Row], price: str, wide: bool
) -> Iterator[str]:
    simulated = told["simulated"][price]
    best = max(able, key=lambda row: row["saved_usd"])
    worst = min(able, key=lambda row: row["saved_usd"])
    yield _cut(name, wide)
    if wide:
        yield told["format"]
    yield tokens(told["turns"])
    yield (tokens if wide else short_tokens)(simulated["input_tokens"])
    yield dollars(simulated["total_cost_usd"])
    yield shown_label(best["policy"], wide)
    yield dollars(best["saved_usd"])
    yield "–" if best.get("gone_count") is None else tokens(best["gone_count"])
    if wide:
        yield shown_label(worst["policy"], wide)
        yield dollars(worst["saved_usd"])


def _cut(name: str, wide: bool) -> str:
    most = 32 if wide else 22
    half = most // 2
    return name if len(name) <= most else f"{name[: half - 1]}…{name[-half:]}"


def _pooled(replay: Replay, wide: bool) -> Iterator[Table]:
    gone: dict[tuple[str, str], int] = {}
    for row in replay.what_if:
        key = (row["price"], row["policy"])
        gone[key] = gone.get(key, 0) + (row.get("gone_count") or 0)
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for line in replay.pooled:
        groups.setdefault((line["price"], line["policy"]), {})[line["saved"]] = line
    columns = (
        Column("policy"),
        Column("ended", True),
        Column("tokens\nsaved, %", True),
        *((Column("$\nsaved", True),) if wide else ()),
        Column("$\nsaved, %", True),
        Column("$ saved\na session", True),
        *((Column("saves\nin", True), Column("loses\nin", True)) if wide else ()),
        Column("\ngone", True),
    )
    for price in dict.fromkeys(price for price, _ in groups):
        rows = [
            Line(tuple(_pooled_cells(policy, each, gone[at, policy], wide)))
            for (at, policy), each in groups.items()
            if at == price
        ]
        yield Table(f"all sessions at {price}, pooled", columns, tuple(rows))


def _pooled_cells(policy: str, each: Mapping[str, Row], gone: int, wide: bool) -> Iterator[str]:
    usd, saved = each["usd"], each["tokens"]
    yield shown_label(policy, wide)
    yield f"{usd['n']:,}/{usd['sessions']:,}"
    if not usd["n"]:
        yield from ("–",) * (7 if wide else 4)
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
    yield tokens(gone)
