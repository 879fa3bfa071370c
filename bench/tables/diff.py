"""The tables of a difference: the verdict, what changed, and what cannot be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.statistics import FEWEST
from bench.tables.parts import (
    Column,
    Line,
    Table,
    dollars,
    interval,
    number,
    percent,
    short_tokens,
    tokens,
)

if TYPE_CHECKING:
    from bench.diff import Difference

__all__ = ["diff_tables", "verdict"]

Row = Mapping[str, Any]

SEEDS_NAMED = 6
"""Runs that failed named one by one."""

NOTE = (
    "[low, high]: 95 % interval of the mean difference by pairs; changed: pairs that differ. "
    "chance: how often any difference would be as clear if A and B differed by chance alone; a "
    "change is shown where that is at most 5 % and the interval leaves out 0 (docs/results.md)."
)


def verdict(found: Difference) -> str:
    """Return what follows from *found*, in a sentence."""
    worse, better = found.of("worse"), found.of("better")
    if worse:
        first = worse[0]
        of = f"{first['metric']} of {first['policy']} on {first['scenario']}"
        said = f"{_count(len(worse), 'regression')}: {of}, {_share(first)}"
        said += f", and {len(worse) - 1} more" if len(worse) > 1 else ""
        return said + (f"; {_count(len(better), 'figure')} better." if better else ".")
    runs = _count(found.pairs, "paired run")
    if not any(line["changed"] for line in found.lines):
        return f"No regression: {runs}, and no figure differs."
    more = f", {_count(len(better), 'figure')} better" if better else ""
    once = len(found.of("one run"))
    if once and found.most == 1:
        changed = _count(once, "figure")
        return f"No regression: of a single run nothing is claimed, and {changed} changed{more}."
    if found.most < FEWEST and found.of("chance"):
        few = f"{found.most} pairs can show none, however clear; it takes {FEWEST}"
        return f"No regression: {few}{more}."
    return f"No regression in {runs}{more}."


def diff_tables(found: Difference, wide: bool) -> list[Table]:
    """Return the verdict, then what is worse, better and not to be told, the largest first."""
    made = [Table(title=verdict(found))]
    shown = (("worse", "worse"), ("better", "better"), ("one run", "changed, in a single run"))
    for name, title in shown:
        lines = found.of(name)
        if lines:
            made.append(_table(title, lines, wide))
    notes = tuple(_notes(found))
    if any(line["chance"] is not None for line in found.lines):
        notes = (*notes, NOTE)
    return [*made, Table(notes=notes)] if notes else made


def _table(title: str, lines: Sequence[Row], wide: bool) -> Table:
    front = _front(lines)
    header = (
        *(Column(name) for name in front),
        Column("metric"),
        Column("A", True),
        Column("B", True),
        Column("difference"),
        Column("%", True),
        *((Column("changed", True), Column("chance", True)) if wide else ()),
    )
    return Table(title, header, tuple(_line(line, front, wide) for line in lines))


def _front(lines: Sequence[Row]) -> list[str]:
    """Return the names in front: of the price only where it is not the same all through."""
    names = list(lines[0])[: list(lines[0]).index("metric")]
    several = len({line["price"] for line in lines}) > 1
    kept = [name for name in names if name not in ("scenario", "price", "policy")]
    return ["scenario", "policy", *(["price"] if several else []), *kept]


def _line(line: Row, front: Sequence[str], wide: bool) -> Line:
    form = _form(line["unit"], wide)
    apart = interval(form, line["diff_mean"], line["ci_low"], line["ci_high"], wide)
    share = line["share"]
    more = (f"{line['changed']:,}/{line['n']:,}", _chance(line["chance"])) if wide else ()
    return Line(
        (
            *(str(line[name]) for name in front),
            line["metric"],
            form(line["a_mean"]),
            form(line["b_mean"]),
            f"{'+' if line['diff_mean'] > 0 else ''}{apart}",
            "–" if share is None else f"{'+' if share > 0 else ''}{percent(share)}",
            *more,
        )
    )


def _form(unit: str, wide: bool) -> Callable[[float], str]:
    forms: Mapping[str, Callable[[float], str]] = {
        "tokens": tokens if wide else short_tokens,
        "USD": dollars,
        "share": lambda value: f"{percent(value)} %",
    }
    return forms.get(unit, number)


def _chance(chance: float | None) -> str:
    if chance is None:
        return "–"
    return "<0.1 %" if chance < 0.001 else f"{percent(chance)} %"


def _share(line: Row) -> str:
    share = line["share"]
    if share is None:
        return "from 0"
    return f"{percent(abs(share))} % {'more' if share > 0 else 'less'}"


def _notes(found: Difference) -> Iterator[str]:
    yield from _failures(found.failed)
    for name, says in (
        ("chance", "{} within what chance does."),
        ("tolerated", "{} by less than the tolerance."),
    ):
        count = len(found.of(name))
        if count:
            differ = _count(count, "figure") + (" differs" if count == 1 else " differ")
            yield says.format(differ)
    nowhere = Counter(line["metric"] for line in found.of("none"))
    if nowhere:
        lines = Counter(line["metric"] for line in found.lines)
        named = (f"{name}{'' if n == lines[name] else ' (of some)'}" for name, n in nowhere.items())
        yield f"Not compared, since no pair has both values: {', '.join(named)}."
    for name, only in (("A", found.only_a), ("B", found.only_b)):
        for each in only:
            yield f"only in {name}: {each['what']} {each['name']}, {_count(each['runs'], 'run')}."


def _failures(failed: Sequence[Row]) -> Iterator[str]:
    together: dict[tuple[str, str, str], list[Row]] = {}
    for each in failed:
        together.setdefault((each["policy"], each["scenario"], each["price"]), []).append(each)
    for (policy, scenario, price), runs in together.items():
        units = [run["unit"].removeprefix("seed ") for run in runs]
        named = ", ".join(units[:SEEDS_NAMED]) + (", …" if len(units) > SEEDS_NAMED else "")
        seeds = "seed" if runs[0]["unit"].startswith("seed ") else "session"
        seeds += "s" if len(units) > 1 else ""
        why = runs[0]["reason"] or runs[0]["status"]
        yield (
            f"{policy} on {scenario} at {price}: {_count(len(runs), 'run')} that completed in A "
            f"and not in B, {seeds} {named}: {why}."
        )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
