"""The tables of a sweep: how figures range over its settings, what moves them, who wins where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.sweep.leads import NONE, WAYS, led
from bench.sweep.plan import SETTING
from bench.sweep.winners import TIE
from bench.tables.comparison import notes_table, shown_label
from bench.tables.map import map_notes
from bench.tables.parts import Column, Line, Table, dollars, percent, short_tokens, tokens

if TYPE_CHECKING:
    from bench.sweep.result import Sweep

__all__ = ["sweep_tables"]

Row = Mapping[str, Any]

MARKS = {"slack": "s", "swap": "W", "refuse": "R", NONE: "·"}
"""Letters of the map of what a gate says."""

MOST_CHANGES = 12
"""Lines of changes that are shown; all are in --format json."""

RANGE_NOTE = (
    "least · median · greatest of the settings' means over seeds. Peaks and costs are of completed "
    "runs."
)
EFFECT_NOTE = (
    "first → last: mean at the first and the last value of the key (or eighth of its values), over "
    "all settings that have it. of all: the share of the differences between settings that goes "
    "with the key; what several keys do together is in none. *: the 95 % interval of last − first, "
    "paired by seed, leaves out 0."
)
LEADS_NOTE = "Settings in which it is what the gate says most, over all runs (rehydrated_*)."
WINNER_NOTE = (
    "Best by share of runs completed, then confabulation rate, violations, policy bugs and total "
    "cost, as in compare; = shares the first place."
)


def sweep_tables(sweep: Sweep, wide: bool) -> list[Table]:
    """Return every table of *sweep*; *wide* spells numbers out that are else shortened."""
    tables = [_ranges(sweep, wide)]
    tables += _effects(sweep, wide)
    tables += _leads(sweep, wide)
    tables += _winners(sweep, wide)
    tables += sweep.beside_tables(wide)
    return [*tables, notes_table(sweep, of_all=False)]


def _title(sweep: Sweep) -> str:
    (name,) = sweep.manifest["scenarios"]
    facts = sweep.manifest
    keys = " × ".join(sweep.keys)
    seeds = "1 seed" if facts["seeds"] == 1 else f"{facts['seeds']:,} seeds"
    of = "1 setting" if facts["points"] == 1 else f"{facts['points']:,} settings"
    price = "" if "price" in sweep.keys else f", {facts['prices'][0]}"
    return f"{name}: {of} of {keys}, {seeds}{price}"


def _ranges(sweep: Sweep, wide: bool) -> Table:
    size = tokens if wide else short_tokens
    columns = (
        Column("policy"),
        Column("runs\ncompleted", True),
        Column("confabulated,\n% of questions", True),
        Column("peak\ntokens", True),
        Column("total cost,\n$", True),
    )
    lines = []
    for policy in sweep.manifest["policies"]:
        mine = [row for row in sweep.rows if row["policy"] == policy]
        if not mine:
            continue
        done = [row for row in mine if row["status"] == "completed"]
        lines.append(
            Line(
                (
                    shown_label(policy, wide),
                    f"{len(done):,}/{len(mine):,}",
                    _range(mine, "confabulation_rate", percent),
                    _range(done, "peak_tokens", size),
                    _range(done, "total_cost_usd", dollars),
                )
            )
        )
    return Table(_title(sweep), columns, tuple(lines), (RANGE_NOTE,))


def _range(rows: Sequence[Row], metric: str, form: Any) -> str:
    from statistics import median

    values: dict[int, list[float]] = {}
    for row in rows:
        if row[metric] is not None:
            values.setdefault(row[SETTING], []).append(row[metric])
    means = [sum(each) / len(each) for each in values.values()]
    if not means:
        return "–"
    if min(means) == max(means):
        return str(form(means[0]))
    return f"{form(min(means))} · {form(median(means))} · {form(max(means))}"


_FORMS = {"confabulation_rate": percent, "peak_tokens": short_tokens, "total_cost_usd": dollars}


def _effects(sweep: Sweep, wide: bool) -> Iterator[Table]:
    columns = [Column("\nkey")]
    for name in ("confab., %", "peak tokens", "total cost, $"):
        columns += [Column(f"{name}\nfirst → last", True), Column("of\nall", True)]
    found = {(e["policy"], e["key"], e["metric"]): e for e in sweep.effects}
    policies = list(dict.fromkeys(policy for policy, _, _ in found))
    for policy in policies:
        lines = []
        for key in sweep.keys:
            cells = [key]
            for metric, form in _FORMS.items():
                cells += _effect(found.get((policy, key, metric)), form)
            lines.append(Line(tuple(cells)))
        notes = (EFFECT_NOTE,) if policy == policies[-1] else ()
        yield Table(
            f"{shown_label(policy, wide)}: what moves it", tuple(columns), tuple(lines), notes
        )


def _effect(effect: Row | None, form: Any) -> tuple[str, str]:
    if effect is None:
        return "–", "–"
    if effect["share"] is None:
        return form(effect["first"]), "–"
    low, high = effect["ci_low"], effect["ci_high"]
    sure = low is not None and (low > 0.0 or high < 0.0)
    change = f"{form(effect['first'])} → {form(effect['last'])}{'*' if sure else ''}"
    return change, f"{100.0 * effect['share']:.0f} %"


def _leads(sweep: Sweep, wide: bool) -> Iterator[Table]:
    if not sweep.leads:
        return
    columns = (Column("policy"), *(Column(way, True) for way in (*WAYS, NONE)))
    lines = tuple(
        Line(
            (
                shown_label(line["policy"], wide),
                *(_part(line[way], line["settings"]) for way in (*WAYS, NONE)),
            )
        )
        for line in sweep.leads
    )
    yield Table("What the gate says most", columns, lines, (LEADS_NOTE,))
    by = led(sweep.rows)
    for line in sweep.leads:
        mine = {n: way for (n, policy), way in by.items() if policy == line["policy"]}
        notes = map_notes(mine, sweep.points, MARKS)
        if notes and len(set(mine.values())) > 1:
            yield Table(title=f"{shown_label(line['policy'], wide)}: what leads where", notes=notes)


def _part(count: int, of: int) -> str:
    return f"{count:,} ({percent(count / of)} %)" if count else "0"


def _winners(sweep: Sweep, wide: bool) -> Iterator[Table]:
    if not sweep.best:
        return
    columns = (Column("best policy"), Column("settings", True), *map(Column, sweep.keys))
    of = len(sweep.best)
    lines = tuple(
        Line(
            (
                line["winner"],
                _part(line["settings"], of),
                *(_span(line[key]) for key in sweep.keys),
            )
        )
        for line in sweep.winners
    )
    if sweep.goal is None:
        note, wins = WINNER_NOTE, "completed a run"
    else:
        note = f"Best: {sweep.goal}; = cannot be told from it (docs/statistics.md)."
        wins = "meets every requirement" if sweep.goal.requirements else "completed every run"
    without = sum(not policies for policies in sweep.best.values())
    none = (f"No policy {wins} in {_part(without, of)} of the settings.",) if without else ()
    yield Table("Which policy is best where", columns, lines, (*none, note))
    names = {number: TIE.join(policies) or NONE for number, policies in sweep.best.items()}
    notes = map_notes(names, sweep.points, {NONE: "·"})
    if notes and len(sweep.winners) > 1:
        yield Table(title="The best policy by setting", notes=notes)
    if sweep.changes:
        told = [_change(line) for line in sweep.changes[:MOST_CHANGES]]
        more = len(sweep.changes) - MOST_CHANGES
        if more > 0:
            told.append(f"… and {more:,} more in `changes` of --format json.")
        yield Table(title="Where the best policy changes", notes=tuple(told))


def _change(line: Row) -> str:
    of = "" if line["of"] == 1 else f" in {line['count']:,} of {line['of']:,}"
    before, after = line["before"] or "none", line["after"] or "none"
    return (
        f"{line['key']} {_shown(line['below'])} → {_shown(line['above'])}: {before} → {after}{of}"
    )


def _span(values: Sequence[Any]) -> str:
    if len(values) == 2 and all(isinstance(v, int | float) for v in values):
        low, high = values
        return _shown(low) if low == high else f"{_shown(low)} – {_shown(high)}"
    return ", ".join(_shown(value) for value in values)


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
