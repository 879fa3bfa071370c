"""What each rule of a policy is worth, as tables for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.tables.parts import Column, Line, Table, dollars, interval, percent, short_tokens

__all__ = ["ablation_tables"]

Row = Mapping[str, Any]

NOTE = (
    "Worth: without the rule less with it, paired by seed, with a 95 % BCa interval; what is "
    "above 0 the rule spares you, − it costs you, 0 it does not matter here. * the interval leaves "
    "out 0. Costs and peaks are of the seeds that both completed."
)

_FORMS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "confabulation_rate": ("made up, %", percent),
    "violations": ("violations", lambda value: f"{value:,.1f}".replace("-", "−")),
    "peak_tokens": ("peak, tokens", short_tokens),
    "total_cost_usd": ("cost, $", dollars),
}


def ablation_tables(lines: Sequence[Row], whole: str, wide: bool) -> list[Table]:
    """Return two tables for each scenario and price: off among all, and on alone."""
    groups: dict[tuple[str, str, bool], list[Row]] = {}
    for line in lines:
        groups.setdefault((line["scenario"], line["price"], line["alone"]), []).append(line)
    several = len({price for _, price, _ in groups}) > 1
    tables = []
    for (scenario, price, alone), mine in groups.items():
        how = "each rule on alone" if alone else "each rule off"
        at = f" at {price}" if several else ""
        title = f"{scenario}{at}: {whole}, {how}"
        rules: dict[str, list[Row]] = {}
        for line in mine:
            rules.setdefault(line["rule"], []).append(line)
        idle = [rule for rule, each in rules.items() if not any(map(_matters, each))]
        shown = [line for line in mine if line["rule"] not in idle]
        note = (f"Nothing changes by {', '.join(idle)}.",) if idle else ()
        tables.append(Table(title, _columns(), tuple(_rows(shown, wide)), note))
    return [*tables, Table(notes=(NOTE,))]


def _matters(line: Row) -> bool:
    """Whether any seed tells a difference, or none could be compared."""
    return line["worth"] is None or bool(line["worth"] or line["ci_low"] or line["ci_high"])


def _columns() -> tuple[Column, ...]:
    heads = (head for head, _ in _FORMS.values())
    return (Column("rule"), *(Column(head, True) for head in heads), Column("ended", True))


def _rows(lines: Sequence[Row], wide: bool) -> list[Line]:
    rules: dict[str, dict[str, Row]] = {}
    for line in lines:
        rules.setdefault(line["rule"], {})[line["metric"]] = line
    made = []
    for rule, metrics in rules.items():
        cells = [_cell(metrics[metric], form, wide) for metric, (_, form) in _FORMS.items()]
        some = next(iter(metrics.values()))
        ended = f"{some['completed_without']}→{some['completed_with']}/{some['runs']}"
        made.append(Line((rule, *cells, ended)))
    return made


def _cell(line: Row, form: Callable[[float], str], wide: bool) -> str:
    worth, low, high = line["worth"], line["ci_low"], line["ci_high"]
    if worth is None:
        return "–"
    if not _matters(line):
        return "0"
    sure = low is not None and (low > 0 or high < 0)
    mark = "*" if sure else ""
    return f"{interval(form, worth, low, high, wide)}{mark}" if wide else f"{form(worth)}{mark}"
