"""Replays as tables for a person: each policy against the recording, one session or many."""

from __future__ import annotations

from collections import Counter
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

NOTES = 12
"""Notes on the sessions of a batch that are shown."""

_EXAMPLES = 3

SAVED_NOTE = (
    "Saved is the recording's less the policy's, both simulated at one price; − is a loss. The "
    "recording is replayed as it happened: with its own compactions, and room for all else."
)
GONE_NOTE = (
    "gone: questions and requests for what was not in the window, whole and current. wrong: stale "
    "or made up, of all questions. broken: turns in which a removal, a rewrite or a refresh made "
    "tokens behind it be computed again, and what that cost (what it saved later is in $ saved)."
)
PINS_NOTE = "! removed or cut what the scenario pins (system, tools, task): no policy to choose."
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
        last = notes_table(replay, of_all=False, said=_notes(replay))
        tables += _sessions(replay, sessions, wide)
    if len(sessions) > 1:
        tables += _pooled(replay, wide)
    notes = [SAVED_NOTE, GONE_NOTE]
    if any(_unsafe(row) for row in replay.what_if):
        notes.append(PINS_NOTE)
    if len(sessions) > 1:
        notes.append(POOLED_NOTE)
    return [*tables, Table(notes=(*notes, *last.notes))]


def _notes(replay: Replay) -> list[str]:
    """Return what is said of the sessions, the same of several once."""
    from scenarios.transcripts.findings import folded

    notes = folded(replay.manifest.get("notes", ()))
    more = len(notes) - NOTES
    told = f"… and {more:,} more notes in `manifest` of --format json."
    return [*notes[:NOTES], *([told] if more > 0 else [])]


def _unsafe(row: Row) -> bool:
    """Whether a run removed a pin, or its policy did what it may not."""
    return bool(row.get("pins_lost") or row.get("policy_bugs"))


def _marked(row: Row, wide: bool) -> str:
    return shown_label(row["policy"], wide) + (" !" if _unsafe(row) else "")


def _best(rows: Sequence[Row]) -> Row | None:
    """Return the run that saves most dollars, of those that kept their pins."""
    able = [row for row in rows if row["saved_usd"] is not None and not _unsafe(row)]
    return max(able, key=lambda row: row["saved_usd"], default=None)


def _verdict(rows: Sequence[Row]) -> str:
    best = _best(rows)
    if best is None:
        return "No policy ended with everything pinned in place."
    usd, of = best["saved_usd"], f"of ${dollars(best['recorded_usd'])}"
    wrong = f"{best['wrong']:,} of {best['queries']:,} questions answered wrong"
    if best["wrong"]:
        right = _best([row for row in rows if row["wrong"] == 0])
        wrong += ", some by every policy" if right is None else f"; with none wrong {_saves(right)}"
    if usd > 0:
        return f"{best['policy']} saves most, ${dollars(usd)} {of}; {wrong}."
    return f"No policy saves; {best['policy']} loses least, ${dollars(-usd)} {of}; {wrong}."


def _saves(row: Row) -> str:
    usd = row["saved_usd"]
    return f"{row['policy']} {'saves' if usd > 0 else 'loses'} ${dollars(abs(usd))}"


def _session(name: str, told: Row | None, rows: Sequence[Row], wide: bool) -> Iterator[Table]:
    prices = list(dict.fromkeys(row["price"] for row in rows))
    for price in prices:
        mine = [row for row in rows if row["price"] == price]
        lines = tuple(_line(row, wide) for row in mine if row["recorded_tokens"] is not None)
        at = f" at {price}" if len(prices) > 1 else ""
        notes = (*_recorded(told, price), *_fitted(told)) if told is not None else ()
        notes = (_verdict(mine), *notes) if lines else notes
        title = f"{_cut(name, wide)}: saved against the recording{at}"
        yield Table(title, _COLUMNS, lines, notes if lines else (*notes, "No policy ended."))
        examples = tuple(_examples(mine))
        if examples and price == prices[0]:
            title = f"{_cut(name, wide)}: what was gone, and what broke the prefix"
            yield Table(title=title, notes=examples)


_COLUMNS = (
    Column("policy"),
    Column("tokens saved", True),
    Column("%", True),
    Column("$ saved", True),
    Column("%", True),
    Column("seconds", True),
    Column("gone", True),
    Column("wrong", True),
    Column("broken", True),
    Column("$", True),
)


def _line(row: Row, wide: bool) -> Line:
    size = tokens if wide else short_tokens
    gone, broke = row.get("gone_count"), row.get("broke_count")
    return Line(
        (
            _marked(row, wide),
            size(row["saved_tokens"]),
            _share(row, "tokens"),
            dollars(row["saved_usd"]),
            _share(row, "usd"),
            tokens(row["saved_seconds"]),
            "–" if gone is None else tokens(gone),
            _of(row["wrong"], row["queries"]),
            "–" if broke is None else tokens(broke),
            "–" if broke is None else dollars(row["broke_usd"]),
        )
    )


def _of(part: int | None, whole: int | None) -> str:
    return "–" if part is None else f"{part:,}/{whole:,}"


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
        f"${dollars(simulated['prefill_cost_usd'])}; with output "
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
        f"calls{hit}, ${dollars(usd)} at this price."
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
    """Yield the largest of what was gone and what broke, each once with the policies it befell."""
    said: dict[str, list[str]] = {}
    for row in rows:
        gone = map(_was_gone, row.get("gone", ())[:_EXAMPLES])
        broke = map(_broke, row.get("broke", ())[:_EXAMPLES])
        for each in (*gone, *broke):
            said.setdefault(each, []).append(row["policy"])
    for each, policies in said.items():
        yield f"{', '.join(dict.fromkeys(policies))}: {each}"


def _was_gone(gone: Row) -> str:
    since = "" if gone["since"] is None else f" in turn {gone['since']}"
    came = f": {gone['outcome']}" if gone["outcome"] else ""
    path = f" {_tail(gone['path'])}" if gone["path"] else ""
    return (
        f"{gone['segment']}{path} ({tokens(gone['tokens'])} tokens), {gone['how']}{since}, was "
        f"asked for in turn {gone['turn']}{came}"
    )


def _tail(path: str) -> str:
    """Return the end of *path*: a file and its directory."""
    parts = path.replace("\\", "/").split("/")
    return path if len(parts) <= 3 else "…/" + "/".join(parts[-2:])


_VERBS = {
    "eviction": "took out",
    "truncation": "had cut",
    "rewrite": "rewrote",
    "compaction": "compacted",
    "refresh": "brought up to date",
}


def _broke(broke: Row) -> str:
    more = broke["count"] - 1
    others = f" and {more:,} more" if more else ""
    return (
        f"turn {broke['turn']} {_VERBS[broke['by'][0]]} {broke['segments'][0]}{others}; "
        f"{tokens(broke['again'])} tokens were computed again for it: ${dollars(broke['usd'])}"
    )


def _sessions(replay: Replay, sessions: Mapping[str, Sequence[Row]], wide: bool) -> Iterator[Table]:
    price = replay.what_if[0]["price"]
    columns = (
        Column("session"),
        *((Column("format"),) if wide else ()),
        Column("calls", True),
        Column("input", True),
        Column("$", True),
        Column("best policy"),
        Column("$ saved", True),
        Column("gone", True),
        Column("wrong", True),
        *((Column("worst"), Column("$ saved", True)) if wide else ()),
    )
    names = sorted(sessions, key=lambda name: -_at_stake(replay.recorded.get(name), price))
    shown = _distinct(names[:MOST], wide)
    rows = []
    for name in names[:MOST]:
        told = replay.recorded.get(name)
        able = [r for r in sessions[name] if r["price"] == price and r["saved_usd"] is not None]
        best = _best(able)
        if told is None or best is None:
            cells = [shown[name], *("–" for _ in columns[1:])]
        else:
            cells = [shown[name], *_session_cells(told, best, able, price, wide)]
        rows.append(Line(tuple(cells)))
    title = f"{len(sessions):,} sessions at {price}: as recorded, and the policy that saves most"
    more = len(names) - MOST
    notes: tuple[str, ...] = (
        "Dearest first; − is a loss. Only policies that keep what is pinned are the best.",
    )
    notes += (f"… and {more:,} more; --format json has all.",) if more > 0 else ()
    yield Table(title, columns, tuple(rows), notes)


def _at_stake(told: Row | None, price: str) -> float:
    return 0.0 if told is None else float(told["simulated"][price]["total_cost_usd"])


def _distinct(names: Sequence[str], wide: bool) -> dict[str, str]:
    """Return each name shortened, or whole where another would look the same."""
    short = {name: _cut(name, wide) for name in names}
    count = Counter(short.values())
    return {name: each if count[each] == 1 else name for name, each in short.items()}


def _session_cells(
    told: Row, best: Row, able: Sequence[Row], price: str, wide: bool
) -> Iterator[str]:
    simulated = told["simulated"][price]
    worst = min(able, key=lambda row: row["saved_usd"])
    if wide:
        yield told["format"]
    yield tokens(told["turns"])
    yield (tokens if wide else short_tokens)(simulated["input_tokens"])
    yield dollars(simulated["total_cost_usd"])
    yield shown_label(best["policy"], wide)
    yield dollars(best["saved_usd"])
    yield "–" if best.get("gone_count") is None else tokens(best["gone_count"])
    yield _of(best["wrong"], best["queries"])
    if wide:
        yield _marked(worst, wide)
        yield dollars(worst["saved_usd"])


def _cut(name: str, wide: bool) -> str:
    most = 32 if wide else 22
    half = most // 2
    return name if len(name) <= most else f"{name[: half - 1]}…{name[-half:]}"


def _pooled(replay: Replay, wide: bool) -> Iterator[Table]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in replay.what_if:
        count = counts.setdefault((row["price"], row["policy"]), Counter())
        for name in ("gone_count", "wrong", "queries", "pins_lost", "policy_bugs"):
            count[name] += row.get(name) or 0
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
        Column("\nwrong", True),
    )
    for price in dict.fromkeys(price for price, _ in groups):
        rows = [
            Line(tuple(_pooled_cells(policy, each, counts[at, policy], wide)))
            for (at, policy), each in groups.items()
            if at == price
        ]
        yield Table(f"all sessions at {price}, pooled", columns, tuple(rows))


def _pooled_cells(
    policy: str, each: Mapping[str, Row], count: Mapping[str, int], wide: bool
) -> Iterator[str]:
    usd, saved = each["usd"], each["tokens"]
    yield shown_label(policy, wide) + (" !" if _unsafe(count) else "")
    yield f"{usd['n']:,}/{usd['sessions']:,}"
    if not usd["n"]:
        yield from ("–",) * (8 if wide else 5)
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
    yield tokens(count["gone_count"])
    yield _of(count["wrong"], count["queries"])
