"""Who wins, as a table for a person: the winner, who is like it, and why no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from bench.goals import Goal
from bench.samples import Row
from bench.tables.comparison import shown_label
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

__all__ = ["winner_tables"]

NOTE = (
    "★ the winner, = those that cannot be told from it (the paired 95 % interval holds 0). = in a "
    "requirement is of every run, <= and >= of the mean; a policy that failed a run, lost a pin or "
    "had a bug meets none (docs/statistics.md)."
)


def winner_tables(lines: Sequence[Row], goal: Goal, wide: bool) -> list[Table]:
    """Return a table for each scenario and price of *lines*, then the note on them."""
    several = len({line["price"] for line in lines}) > 1
    tables = [_table(line, goal, several, wide) for line in lines]
    return [*tables, Table(notes=(NOTE,))] if tables else []


def _table(line: Row, goal: Goal, several: bool, wide: bool) -> Table:
    at = f" at {line['price']}" if several else ""
    title = f"{line['scenario']}{at}: {goal}"
    form = _form(goal.metric.unit, wide)
    alike = [line["winner"], *line["alike"]]
    inside = {each["policy"]: each for each in line["policies"] if each["meets"]}
    behind = [name for name in inside if name not in alike]
    behind.sort(key=lambda name: abs(inside[name]["diff_mean"] or 0.0))
    rows = [
        Line(
            (
                "★" if name == line["winner"] else "=" if name in alike else "",
                shown_label(name, wide),
                _interval(inside[name], "", form, wide),
                "" if name == line["winner"] else _interval(inside[name], "diff_", form, wide),
            ),
            name == line["winner"],
        )
        for name in (*alike, *behind)
        if name is not None
    ]
    columns = (
        Column(""),
        Column("policy"),
        Column(f"{goal.metric.name}, {goal.metric.unit}"),
        Column("to the winner"),
    )
    return Table(title, columns, tuple(rows), tuple(_notes(line, goal)))


def _notes(line: Row, goal: Goal) -> Iterator[str]:
    """Yield who wins, what the winner's zeros are worth, and why others are out."""
    met = sum(each["meets"] for each in line["policies"])
    done = "meets every requirement" if goal.requirements else "completed every run"
    winner = line["winner"]
    if winner is None and met:
        yield f"None wins: of those left, no seed has a value of {goal.metric.name} for each."
    elif winner is None:
        yield "None wins: every policy is out."
    else:
        among = f"the only one that {done}" if met == 1 else f"one of {met:,}, each of which {done}"
        alike = f"; {', '.join(line['alike'])} cannot be told from it" if line["alike"] else ""
        yield f"{winner} wins, {among}{alike}."
        mine = next(each for each in line["policies"] if each["policy"] == winner)
        for name, limit in mine["limits"].items():
            yield (
                f"{name} was 0 in every run of {winner}; its mean may still be up to "
                f"{percent(limit)} % (exact one-sided 95 % limit)."
            )
    out: dict[str, list[str]] = {}
    for each in line["policies"]:
        if not each["meets"]:
            out.setdefault("; ".join(each["why"]), []).append(each["policy"])
    for why, policies in out.items():
        yield f"Out: {', '.join(policies)}: {why}."


def _interval(line: Mapping[str, float | None], of: str, form: Form, wide: bool) -> str:
    mean, low, high = (line[f"{of}{end}"] for end in ("mean", "ci_low", "ci_high"))
    return interval(form, mean, low, high, wide)


Form = Callable[[float], str]


def _form(unit: str, wide: bool) -> Form:
    """Return how a value of *unit* is written."""
    if unit == "USD":
        return dollars
    if unit == "share":
        return lambda share: f"{percent(share)} %"
    if unit == "tokens":
        return tokens if wide else short_tokens
    return number
