"""The tables of a comparison: one a scenario, one of all stories, and what has to be said below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bench.statistics import FEWEST
from bench.tables.advice import PLACES_NOTE, SHIP_NOTE, advice_table, stories_advice
from bench.tables.parts import (
    Column,
    Line,
    Table,
    dollars,
    interval,
    number,
    percent,
    short_tokens,
    thousands,
    tokens,
)
from bench.verdict import Place, places

if TYPE_CHECKING:
    from bench.api import Comparison

__all__ = ["comparison_tables", "edits_notes", "notes_table", "shown_label"]

Row = Mapping[str, Any]
Lines = Mapping[tuple[str, str], Row]

NONE = "–"

WIDEST = 17
"""Characters of a policy in a narrow table: those of the longest name."""

LISTED = 24
"""Characters of one of several policies in a narrow table."""

RANK_NOTE = (
    "#: by share of runs completed, then confabulation rate, violations, policy bugs and total "
    "cost; a policy whose paired 95 % interval to the leader holds 0 shares its rank (=). "
    "★ first place."
)
_MOST_NAMED = 12
"""Scenarios named one by one where a policy is not applicable."""

INTERVAL_NOTE = (
    "[low, high]: 95 % BCa interval of the mean over seeds; (≤ high): exact one-sided 95 % limit "
    "where every run has 0. *: a difference that is significant among all of its metric here, the "
    "share of false ones among them kept to 5 % (docs/statistics.md)."
)
FEW_NOTE = (
    f"Fewer than {FEWEST} seeds show no difference, however clear: read intervals, places and a "
    "winner as what came of these runs alone."
)
_NOT_TOLD = "Not to be told"
LEADERS_NOTE = (
    f"{_NOT_TOLD}: the paired 95 % interval to the lowest holds 0; of the policies that lost no "
    "pin, had no bug and whose share of runs completed cannot be told from the best."
)
_LOWEST = {"peak_tokens": "peak", "total_cost_usd": "cost"}
"""Metrics whose lowest is named where other policies cannot be told from it."""

SIGNIFICANT = 0.05
"""Largest q-value of a difference that is marked."""
DONE_NOTE = "Peaks and costs are of completed runs, and compared on the seeds both completed."


def comparison_tables(comparison: Comparison, wide: bool) -> list[Table]:
    """Return every table of *comparison*; *wide* spells numbers out that are else shortened."""
    facts = comparison.manifest["scenarios"]
    rows = _by_scenario(comparison.rows)
    lines = _by_scenario(comparison.lines)
    stories = [name for name in rows if facts[name]["kind"] == "story"]
    together = stories if len(stories) > 1 else []
    tables: list[Table] = []
    seeded = False
    best = _by_scenario(comparison.leaders)
    priced = {name: len({row["price"] for row in rows[name]}) > 1 for name in rows}
    advice = _by_scenario(comparison.advice) if any(priced.values()) else {}
    for name in rows:
        if name in together:
            continue
        title = _title(name, facts[name], priced[name])
        if priced[name]:
            mine = advice.get(name, ())
            if any(row["status"] != "not-applicable" for row in rows[name]):
                tables += advice_table(
                    title, rows[name], mine, wide, lambda p: shown_label(p, wide)
                )
            continue
        if len({row["seed"] for row in rows[name]}) > 1:
            seeded = True
            tables += _seeded_tables(name, title, rows[name], lines[name], best.get(name, ()), wide)
        else:
            tables.append(_single_table(title, rows[name], wide))
    if together:
        tables.append(_stories_table({name: rows[name] for name in together}, wide))
        tables += stories_advice({name: advice.get(name, ()) for name in together})
    notes = (RANK_NOTE, INTERVAL_NOTE, DONE_NOTE) if seeded else ()
    if any(1 < len({row["seed"] for row in each}) < FEWEST for each in rows.values()):
        notes = (*notes, FEW_NOTE)
    if any(line.startswith(_NOT_TOLD) for table in tables for line in table.notes):
        notes = (*notes, LEADERS_NOTE)
    if any(priced[name] for name in rows if name not in together):
        notes = (*notes, PLACES_NOTE)
    if advice:
        notes = (*notes, SHIP_NOTE)
    tables.append(Table(notes=(*notes, *notes_table(comparison).notes)))
    return tables


def notes_table(comparison: Comparison, of_all: bool = True, said: Sequence[str] = ()) -> Table:
    """Return what is worth knowing of *comparison*, as notes alone.

    Unless those *of_all* scenarios are wanted, *said* stands for what is said of single ones.
    """
    rows = _by_scenario(comparison.rows)
    if of_all:
        notes = comparison.manifest.get("notes", ())
        return Table(notes=(*notes, *_notes(comparison, rows, _failures(rows))))
    return Table(notes=(*said, *_notes(comparison, rows, _failure_counts(comparison.rows))))


def _by_scenario(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["scenario"], []).append(row)
    return groups


def _title(name: str, facts: Mapping[str, Any], priced: bool = False) -> str:
    settings = facts["settings"]
    parts = []
    if facts["kind"] == "family":
        parts += [_count(facts["seeds"], "seed"), _count(settings["turns"], "turn")]
    parts += [f"budget {tokens(settings['budget'])} tokens"]
    parts += [f"{len(facts['prices'])} prices" if priced else str(settings["price"])]
    return f"{name}: {', '.join(parts)}"


def _seeded_tables(
    name: str,
    title: str,
    rows: Sequence[Row],
    summary: Sequence[Row],
    best: Sequence[Row],
    wide: bool,
) -> Iterator[Table]:
    found = places(rows, summary)
    lines = {(line["policy"], line["metric"]): line for line in summary}
    policies = list(found)
    yield replace(_means_table(title, found, lines, wide), notes=tuple(_lowest(best)))
    baseline = summary[0]["baseline"]
    others = [policy for policy in policies if policy != baseline]
    if baseline in policies and others:
        title = f"{name}: difference to {baseline}, paired by seed"
        yield _differences_table(title, others, lines, wide)


def _lowest(best: Sequence[Row]) -> Iterator[str]:
    """Yield of peak and cost which policies cannot be told from the lowest, where some cannot."""
    for line in best:
        if line["metric"] in _LOWEST and line["alike"]:
            alike = ", ".join(line["alike"])
            what = f"lowest {_LOWEST[line['metric']]}, that of {line['best']}"
            yield f"{_NOT_TOLD} from the {what}: {alike}."


def _means_table(title: str, found: Mapping[str, Place], lines: Lines, wide: bool) -> Table:
    size = tokens if wide else short_tokens

    def cells(policy: str) -> tuple[str, ...]:
        def mean(metric: str, form: Callable[[float], str]) -> str:
            value = lines[policy, metric]["mean"]
            return NONE if value is None else form(value)

        rate = lines[policy, "confabulation_rate"]
        return (
            _place(found[policy]),
            shown_label(policy, wide),
            _rate(rate, wide),
            mean("violations", number),
            mean("peak_tokens", size),
            mean("total_cost_usd", dollars),
            mean("prefill_cost_usd", dollars),
            mean("cache_hit_rate", lambda share: f"{100 * share:.0f}"),
            f"{rate['completed']}/{rate['attempted']}",
            mean("policy_bugs", number),
        )

    columns = (
        Column("\n#", right=True),
        Column("\npolicy"),
        Column("confabulated\n% [95 %]"),
        Column("violations" if wide else "viola-\ntions", right=True),
        Column("peak\ntokens", right=True),
        Column("cost\n$", right=True),
        Column("prefill\n$", right=True),
        Column("hit\n%", right=True),
        Column("done\n", right=True),
        Column("bugs\n", right=True),
    )
    rows = tuple(Line(cells(policy), found[policy].place == 1) for policy in found)
    return Table(title, columns, rows)


def _rate(line: Row, wide: bool) -> str:
    """Return a rate in percent with its interval, or with its exact limit if it is always zero."""
    if line["zero_limit"] is not None:
        return f"0 (≤ {percent(line['zero_limit'])})"
    return interval(percent, line["mean"], line["ci_low"], line["ci_high"], wide)


def shown_label(policy: str, wide: bool, most: int = WIDEST) -> str:
    """Return a policy; in a narrow table over lines of *most* characters, broken before options."""
    if wide:
        return policy
    lines = [""]
    for part in re.findall(r"[^:,/]+[:,/]*|[:,/]+", policy):
        if lines[-1] and len(lines[-1]) + len(part) > most:
            lines.append(" ")
        lines[-1] += part
    return "\n".join(lines)


def _place(place: Place) -> str:
    if place.place == 1:
        return "★"
    return f"{place.place}=" if place.tied else str(place.place)


def _differences_table(title: str, policies: Sequence[str], lines: Lines, wide: bool) -> Table:
    peaks = [lines[policy, "peak_tokens"]["diff_mean"] or 0.0 for policy in policies]
    short = not wide and max(map(abs, peaks)) >= 1_000
    size = thousands if short else tokens

    def apart(policy: str, metric: str, form: Callable[[float, float], str]) -> str:
        line = lines[policy, metric]
        bounds = (line["diff_mean"], line["diff_ci_low"], line["diff_ci_high"])
        most = max((abs(bound) for bound in bounds if bound is not None), default=0.0)
        mark = "*" if (line["q_value"] or 1.0) <= SIGNIFICANT else ""
        return interval(lambda value: form(value, most), *bounds, wide) + mark

    forms: tuple[tuple[str, Callable[[float, float], str]], ...] = (
        ("confabulation_rate", lambda share, most: percent(share)),
        ("peak_tokens", lambda peak, most: size(peak)),
        ("total_cost_usd", lambda usd, most: dollars(usd, 3 if wide else 2, most)),
    )
    pairs = {policy: lines[policy, "total_cost_usd"]["diff_n"] for policy in policies}
    whole = all(lines[policy, "queries"]["attempted"] == n for policy, n in pairs.items())
    rows = tuple(
        Line(
            (
                shown_label(policy, wide),
                *(apart(policy, *form) for form in forms),
                *([] if whole else [str(n)]),
            )
        )
        for policy, n in pairs.items()
    )
    columns = (
        Column("\npolicy"),
        Column("confabulated\npoints"),
        Column("peak\nk tokens" if short else "peak\ntokens"),
        Column("cost\n$"),
        Column("pairs\n", right=True),
    )
    return Table(title, columns[:-1] if whole else columns, rows)


def _single_table(title: str, rows: Sequence[Row], wide: bool) -> Table:
    """Return the table of a scenario that was run once: figures as they are, no intervals."""
    size = tokens if wide else short_tokens

    def cells(row: Row) -> tuple[str, ...]:
        def value(metric: str, form: Callable[[float], str]) -> str:
            return NONE if row[metric] is None else form(row[metric])

        asked = NONE if row["queries"] is None else f"{row['confabulated']}/{row['queries']}"
        return (
            shown_label(row["policy"], wide),
            value("correct", number),
            asked,
            value("violations", number),
            value("peak_tokens", size),
            value("total_cost_usd", dollars),
            value("prefill_cost_usd", dollars),
            value("cache_hit_rate", lambda share: f"{100 * share:.0f}"),
            row["status"],
            value("policy_bugs", number),
        )

    columns = (
        Column("\npolicy"),
        Column("correct\n", right=True),
        Column("confabulated" if wide else "confab-\nulated", right=True),
        Column("violations" if wide else "viola-\ntions", right=True),
        Column("peak\ntokens", right=True),
        Column("cost\n$", right=True),
        Column("prefill\n$", right=True),
        Column("hit\n%", right=True),
        Column("status\n"),
        Column("bugs\n", right=True),
    )
    played = [row for row in rows if row["status"] != "not-applicable"]
    return Table(title, columns, tuple(Line(cells(row)) for row in played))


def _stories_table(stories: Mapping[str, Sequence[Row]], wide: bool) -> Table:
    """Return one table of all *stories*: policies with the same outcome stand together."""
    lines = []
    for story, rows in stories.items():
        outcomes: dict[str, dict[str, None]] = {}
        for policy, outcome in _outcomes(rows):
            outcomes.setdefault(outcome, {})[shown_label(policy, wide, LISTED)] = None
        shown = story
        for outcome, policies in outcomes.items():
            lines.append(Line((shown, outcome, ", ".join(policies))))
            shown = ""
    columns = (Column("story"), Column("outcome"), Column("policies"))
    return Table("stories: run once, exact", columns, tuple(lines))


def _outcomes(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield policies with their outcome, and the prices where it is not the same at all of them."""
    runs: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if row["status"] != "not-applicable":
            mine = runs.setdefault(row["policy"], {})
            mine.setdefault(_outcome(row), []).append(row["price"])
    for policy, found in runs.items():
        for outcome, prices in found.items():
            yield policy, outcome if len(found) == 1 else f"{outcome} (at {', '.join(prices)})"


def _outcome(row: Row) -> str:
    status = row["status"]
    if row["attempts"]:
        status += f" at attempt {row['attempts']}"
    counts = (
        ("correct", "correct", "correct"),
        ("stale", "stale", "stale"),
        ("confabulated", "confabulated", "confabulated"),
        ("deferred", "deferred", "deferred"),
        ("abstained", "abstained", "abstained"),
        ("violations", "violation", "violations"),
        ("policy_bugs", "policy bug", "policy bugs"),
    )
    parts = [
        f"{row[name]} {one if row[name] == 1 else many}" for name, one, many in counts if row[name]
    ]
    return ", ".join([status, *parts])


def _notes(
    comparison: Comparison, rows: Mapping[str, Sequence[Row]], failures: Iterable[str]
) -> Iterator[str]:
    manifest = comparison.manifest
    yield from edits_notes(manifest["scenarios"].values())
    yield from _not_applicable(rows)
    yield from failures
    sources: dict[str, list[str]] = {}
    for name in rows:
        sources.setdefault(manifest["scenarios"][name]["tokens_from"], []).append(name)
    for source, names in sources.items():
        if source is None:  # no script could be made
            continue
        where = "as each scenario declares them" if source == "script" else source
        yield f"tokens: {where}" + (f" ({', '.join(names)})" if len(sources) > 1 else "")
    if manifest["finished"] < manifest["planned"]:
        yield f"{manifest['finished']} of {manifest['planned']} runs were finished."


def edits_notes(scenarios: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence if a price is used whose provider may refuse an edited history."""
    refusing = dict.fromkeys(
        row["name"]
        for facts in scenarios
        if facts["settings"].get("history") != "append-only"
        for row in facts.get("prices", ())
        if row.get("no_edit")
    )
    if refusing:
        yield (
            f"{', '.join(refusing)}: the provider may refuse a request whose history was edited; "
            "--set history=append-only shows which policies are left then"
        )


def _not_applicable(rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for name, runs in rows.items():
        for row in runs:
            if row["status"] == "not-applicable":
                groups.setdefault((row["policy"], row["reason"]), {})[name] = None
    for (policy, reason), names in groups.items():
        named = ", ".join(names) if len(names) <= _MOST_NAMED else f"all {len(names):,} of them"
        if _MOST_NAMED < len(names) < len(rows):
            named = f"{len(names):,} of {len(rows):,}"
        yield f"not applicable: {policy} to {named}; {reason}"


def _failure_counts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often each policy failed, with the first reason."""
    failed: dict[str, list[Row]] = {}
    for row in rows:
        if row["status"] == "failed":
            failed.setdefault(row["policy"], []).append(row)
    for policy, mine in failed.items():
        yield (
            f"failed: {policy} in {_count(len(mine), 'run')}, the first on {mine[0]['scenario']}: "
            f"{mine[0]['reason']}"
        )


def _failures(rows: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Yield who failed and why; of reasons that differ in their figures alone, the first."""
    for name, runs in rows.items():
        groups: dict[str, list[Row]] = {}
        for row in runs:
            if row["status"] == "failed":
                kind = re.split(r"\d", str(row["reason"]), maxsplit=1)[0]
                groups.setdefault(kind, []).append(row)
        seeds = len({(row["seed"], row["price"]) for row in runs})
        for mine in groups.values():
            counts = Counter(row["policy"] for row in mine)
            who = ", ".join(
                policy if seeds == 1 else f"{policy} ×{count}" for policy, count in counts.items()
            )
            others = len({row["reason"] for row in mine}) - 1
            like = f", and {others:,} more of the kind" if others else ""
            yield f"failed: {name}, {mine[0]['reason']}{like}: {who}"


def _count(n: int, word: str) -> str:
    return f"{tokens(n)} {word}" + ("" if n == 1 else "s")
