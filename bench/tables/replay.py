"""Replays as tables for a person: each policy against the recording, one session or many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.tables.comparison import comparison_tables, notes_table, shown_label
from bench.tables.parts import Column, Line, Table, dollars, interval, percent, short_tokens, tokens

if TYPE_CHECKING:
    from bench.api import Replay

__all__ = ["FEW", "replay_tables"]

Row = Mapping[str, Any]

FEW = 3
"""Sessions up to which each has tables of its own."""

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
        last = notes_table(replay)
        tables += _sessions(replay, sessions, wide)
    if len(sessions) > 1:
        tables += _pooled(replay.pooled, wide)
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
            f"by {_percent(fit['median_error'])} in the median, {_percent(fit['max_error'])} at most)."
        )


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
    columns = (
        Column("session"),
        Column("format"),
        Column("calls", True),
        Column("input", True),
        Column("$", True),
        Column("saves most"),
        Column("$ saved", True),
        Column("loses most"),
        Column("$ saved", True),
    )
    size = tokens if wide else short_tokens
    price = replay.what_if[0]["price"]

    def line(name: str, rows: Sequence[Row]) -> Line:
        told = replay.recorded.get(name)
        able = [r for r in rows if r["price"] == price and r["saved_usd"] is not None]
        if told is None or not able:
            return Line((name, "–", *("–",) * 7))
        simulated = told["simulated"][price]
        best = max(able, key=lambda row: row["saved_usd"])
        worst = min(able, key=lambda row: row["saved_usd"])
        return Line(
            (
                name,
                told["format"],
                tokens(told["turns"]),
                size(simulated["input_tokens"]),
                dollars(simulated["total_cost_usd"]),
                shown_label(best["policy"], wide),
                dollars(best["saved_usd"]),
                shown_label(worst["policy"], wide),
                dollars(worst["saved_usd"]),
            )
        )

    title = f"{len(sessions):,} sessions at {price}: as recorded, and who saves most and least"
    shown = list(sessions.items())
    yield Table(title, columns, tuple(line(name, rows) for name, rows in shown))


def _pooled(lines: Sequence[Row], wide: bool) -> Iterator[Table]:
    columns = (
        Column("policy"),
        Column("sessions", True),
        Column("tokens saved", True),
        Column("%", True),
        Column("$ saved", True),
        Column("%", True),
        Column("$ a session", True),
        Column("saves in", True),
        Column("loses in", True),
    )
    size = tokens if wide else short_tokens
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for line in lines:
        groups.setdefault((line["price"], line["policy"]), {})[line["saved"]] = line
    for price in dict.fromkeys(price for price, _ in groups):
        mine = {policy: each for (at, policy), each in groups.items() if at == price}
        rows = tuple(_pooled_line(policy, each, size, wide) for policy, each in mine.items())
        yield Table(f"All sessions at {price}, pooled", columns, rows)


def _pooled_line(
    policy: str, each: Mapping[str, Row], size: Callable[[float], str], wide: bool
) -> Line:
    usd, saved = each["usd"], each["tokens"]
    if not usd["n"]:
        return Line((shown_label(policy, wide), f"0 of {usd['sessions']:,}", *("–",) * 7))
    form = lambda value: dollars(value, 3, max(abs(usd["ci_low"] or 0), abs(usd["ci_high"] or 0)))  # noqa: E731
    return Line(
        (
            shown_label(policy, wide),
            f"{usd['n']:,} of {usd['sessions']:,}",
            size(saved["total"]),
            "–" if saved["share"] is None else percent(saved["share"]),
            dollars(usd["total"]),
            "–" if usd["share"] is None else percent(usd["share"]),
            interval(form, usd["mean"], usd["ci_low"], usd["ci_high"], wide),
            tokens(usd["better"]),
            tokens(usd["worse"]),
        )
    )
