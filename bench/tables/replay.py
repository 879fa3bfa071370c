"""Replays as tables for a person: each policy against the recording, one session or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bench.eligible import unsafe
from bench.tables.batch import pooled_beside, pooled_tables, session_tables
from bench.tables.comparison import comparison_tables, notes_table
from bench.tables.parts import Column, Line, Table, dollars, percent, short_tokens, tokens
from bench.tables.what_if import Row, best_of, marked, part_of, shortened

if TYPE_CHECKING:
    from bench.api import Replay

__all__ = ["FEW", "replay_tables", "verdict"]

FEW = 3
"""Sessions up to which each has tables of its own."""

NOTES = 12
"""Notes on the sessions of a batch that are shown."""

_EXAMPLES = 3
"""Examples of each kind that a policy has, where there are no more policies than this; else one."""

SAVED_NOTE = (
    "Saved is the recording's less the policy's, both simulated at one price; − is a loss. The "
    "recording is replayed as it happened: with its own compactions, and room for all else."
)
GONE_NOTE = (
    "gone: asked for and not in the window, whole and current, of all that was asked for. wrong: "
    "answered stale or made up, of all questions."
)
BROKEN_NOTE = (
    "broken: calls before which a removal, a rewrite or a refresh made tokens behind it be "
    "computed again, and for how much: gross, what it saved later is in $ saved."
)
PINS_NOTE = (
    "! removed or cut what the scenario pins (system, tools, task), or did what it may not (policy "
    "bugs): no policy to choose."
)
POOLED_NOTE = "[low, high]: 95 % BCa interval of a session's mean, over sessions."


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
        tables += session_tables(replay, sessions, wide)
    if len(sessions) > 1:
        tables += pooled_tables(replay, wide)
        tables += pooled_beside(replay, wide)
    else:
        tables += replay.beside_tables(wide)
    tables += replay.front_tables(wide)
    notes = [SAVED_NOTE, GONE_NOTE, *([BROKEN_NOTE] if len(sessions) <= FEW else [])]
    if any(unsafe(row) for row in replay.what_if):
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


def verdict(rows: Sequence[Row]) -> str:
    """Return which policy saves most on a session at one price, *rows*, and what it gets wrong."""
    best = best_of(rows)
    if best is None:
        return "No policy ended with everything pinned in place."
    of = f"of ${dollars(best['recorded_usd'])}"
    wrong = f"{best['wrong']:,} of {best['queries']:,} questions answered wrong"
    if not best["queries"]:
        wrong = "nothing is asked for that came before"
    if best["wrong"] and len(rows) > 1:
        right = best_of([row for row in rows if row["wrong"] == 0])
        wrong += ", some by every policy" if right is None else f"; with none wrong {_saves(right)}"
    if len(rows) == 1:
        return f"{_saves(best)} {of}; {wrong}."
    if best["saved_usd"] > 0:
        return f"{_saves(best, ' most')} {of}; {wrong}."
    if best["saved_usd"] == 0:
        return f"No policy saves, and {best['policy']} loses nothing; {wrong}."
    return f"No policy saves; {_saves(best, ' least')} {of}; {wrong}."


def _saves(row: Row, how: str = "") -> str:
    usd = row["saved_usd"]
    if not usd:
        return f"{row['policy']} saves nothing"
    comma = "," if how else ""
    return f"{row['policy']} {'saves' if usd > 0 else 'loses'}{how}{comma} ${dollars(abs(usd))}"


def _session(name: str, told: Row | None, rows: Sequence[Row], wide: bool) -> Iterator[Table]:
    prices = list(dict.fromkeys(row["price"] for row in rows))
    for price in prices:
        mine = [row for row in rows if row["price"] == price]
        lines = tuple(_line(row, wide) for row in mine if row["recorded_tokens"] is not None)
        at = f" at {price}" if len(prices) > 1 else ""
        notes = (*_recorded(told, price), *_fitted(told)) if told is not None else ()
        notes = (verdict(mine), *notes) if lines else notes
        title = f"{shortened(name, wide)}: saved against the recording{at}"
        yield Table(title, _COLUMNS, lines, notes if lines else (*notes, "No policy ended."))
        examples = tuple(_examples(mine))
        if examples and price == prices[0]:
            title = f"{shortened(name, wide)}: what was gone, and what broke the prefix"
            yield Table(title=title, notes=examples)


_COLUMNS = (
    Column("\npolicy"),
    Column("tokens\nsaved", True),
    Column("\n%", True),
    Column("$\nsaved", True),
    Column("\n%", True),
    Column("s\nsaved", True),
    Column("\ngone", True),
    Column("\nwrong", True),
    Column("\nbroken", True),
    Column("\nfor $", True),
)


def _line(row: Row, wide: bool) -> Line:
    size = tokens if wide else short_tokens
    broke = row.get("broke_count")
    return Line(
        (
            marked(row, wide),
            size(row["saved_tokens"]),
            _share(row, "tokens"),
            dollars(row["saved_usd"]),
            _share(row, "usd"),
            tokens(row["saved_seconds"]),
            part_of(row.get("gone_count"), row.get("asked_count")),
            part_of(row["wrong"], row["queries"]),
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
    most = _EXAMPLES if len(rows) <= _EXAMPLES else 1
    for kind, tell in (("gone", _was_gone), ("broke", _broke)):
        said: dict[str, list[str]] = {}
        for row in rows:
            for each in map(tell, row.get(kind, ())[:most]):
                said.setdefault(each, []).append(row["policy"])
        for each, policies in said.items():
            yield f"{_together(policies, [row['policy'] for row in rows])}: {each}"


def _together(policies: Sequence[str], among: Sequence[str]) -> str:
    """Return *policies* in few words, where they are most of those they are *among*."""
    others = [policy for policy in among if policy not in policies]
    if len(among) <= 2 or len(others) * 2 >= len(among):
        return ", ".join(dict.fromkeys(policies))
    return f"all but {', '.join(others)}" if others else "every policy"


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
