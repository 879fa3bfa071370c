"""Cost by cause: what each policy paid, and what it paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.charts.chart import Chart
from bench.charts.choice import Choice, chosen_scenario, rows_of
from bench.charts.theme import HATCHES, Theme
from bench.charts.words import quantity, shortened
from sim.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bench.api import Comparison

__all__ = ["CHART", "Bill", "Bills"]

_END = "_cost_usd"

_OUTPUT, _MAINTENANCE, _OTHER = "output", "maintenance", "other"

_LARGEST = 8
"""Causes that are shown by themselves; the smallest of more are one, called other."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What the runs of a *policy* cost in the mean: a *total*, its 95 % interval, its *parts*.

    Parts are US dollars by cause, and sum to the total; *runs* of *attempted* completed.
    """

    policy: str
    total: float
    low: float | None
    high: float | None
    parts: Mapping[str, float]
    runs: int
    attempted: int


@dataclass(frozen=True, slots=True)
class Bills:
    """The bills of a scenario at a price, the cheapest first; *causes* in the order of a stack."""

    scenario: str
    price: str
    causes: tuple[str, ...]
    bills: tuple[Bill, ...]


def _gather(found: Comparison, choice: Choice) -> Bills:
    choice = chosen_scenario(found, choice)
    rows = [row for row in rows_of(found, choice) if row["status"] == "completed"]
    if not rows:
        raise InputError(f"there are no costs to show: no run of {choice.scenario!r} completed")
    means = {
        line["policy"]: line
        for line in found.lines
        if (line["scenario"], line["price"]) == (choice.scenario, choice.price)
        and line["metric"] == "total_cost_usd"
    }
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    parts = {
        policy: _parts([row for row in rows if row["policy"] == policy]) for policy in policies
    }
    causes = [cause for cause in parts[policies[0]] if any(mine[cause] for mine in parts.values())]
    if not causes:
        raise InputError(f"there are no costs to show: {choice.price} asks for nothing")
    kept = _kept(causes, parts)
    bills = []
    for policy in policies:
        line, mine = means[policy], parts[policy]
        shown = {cause: mine[cause] for cause in kept}
        if len(kept) < len(causes):
            shown[_OTHER] = sum(mine[cause] for cause in causes if cause not in kept)
        total, done, tried = sum(mine.values()), line["completed"], line["attempted"]
        bills.append(Bill(policy, total, line["ci_low"], line["ci_high"], shown, done, tried))
    bills.sort(key=lambda bill: bill.total)
    assert choice.scenario is not None
    assert choice.price is not None
    return Bills(choice.scenario, choice.price, tuple(bills[0].parts), tuple(bills))


def _parts(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean dollars of *rows* by cause; what is no input is output or maintenance."""
    from sim.metrics import NAMES

    sums = {"prefill", _MAINTENANCE, "total"}
    names = [name.removesuffix(_END) for name in NAMES if name.endswith(_END)]
    mean = {name: sum(row[name + _END] or 0.0 for row in rows) / len(rows) for name in names}
    found = {name: mean[name] for name in names if name not in sums}
    found[_MAINTENANCE] = mean[_MAINTENANCE]
    found[_OUTPUT] = max(0.0, mean["total"] - mean["prefill"] - mean[_MAINTENANCE])
    return found


def _kept(causes: list[str], parts: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the causes that are shown by themselves, in the order that they have in a run."""
    if len(causes) <= _LARGEST + 1:
        return causes
    weight = {cause: max(mine[cause] for mine in parts.values()) for cause in causes}
    largest = sorted(causes, key=lambda cause: -weight[cause])[:_LARGEST]
    return [cause for cause in causes if cause in largest]


def _draw(data: Bills, figure: Figure, theme: Theme) -> None:
    axes = figure.subplots()
    places = range(len(data.bills))
    left = [0.0] * len(data.bills)
    for at, cause in enumerate(data.causes):
        widths = [bill.parts[cause] for bill in data.bills]
        axes.barh(
            places,
            widths,
            left=left,
            height=0.68,
            color=theme.colour(at),
            edgecolor=theme.paper,
            linewidth=0.6,
            hatch=HATCHES[at % len(HATCHES)],
            label=cause.replace("_", " "),
        )
        left = [start + width for start, width in zip(left, widths, strict=True)]
    most = max(max(bill.total, bill.high or 0.0) for bill in data.bills) or 1.0
    for at, bill in zip(places, data.bills, strict=True):
        end = bill.total
        if bill.low is not None and bill.high is not None:
            axes.plot([bill.low, bill.high], [at, at], color=theme.ink, linewidth=1.2)
            axes.plot([bill.low, bill.high], [at, at], "|", color=theme.ink, markersize=5)
            end = max(bill.total, bill.high)
        axes.annotate(_paid(bill), (end + 0.012 * most, at), va="center", size="small")
    axes.set_xlim(0, 1.2 * most)
    axes.set_yticks(places, [shortened(bill.policy) for bill in data.bills])
    axes.set_ylim(len(data.bills) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter(lambda value, at: quantity(value, "USD"))
    axes.set_xlabel("US dollars a run, mean; line: 95 % interval of the total")
    axes.set_title(f"{data.scenario}: cost by cause, {data.price}", size="large")
    columns = min(5, len(data.causes))
    figure.legend(loc="outside lower center", ncols=columns, handlelength=2.2, handleheight=1.1)


def _paid(bill: Bill) -> str:
    more = "" if bill.runs == bill.attempted else f" ({bill.runs} of {bill.attempted} runs)"
    return quantity(bill.total, "USD") + more


def _told(data: Bills) -> str:
    first, last = data.bills[0], data.bills[-1]
    main = max(first.parts, key=lambda cause: first.parts[cause])
    share = first.parts[main] / first.total if first.total else 0.0
    text = (
        f"{data.scenario} at {data.price}: {first.policy} is cheapest with "
        f"{quantity(first.total, 'USD')} a run, {100 * share:.0f} % of it for "
        f"{main.replace('_', ' ')}{_of(first)}"
    )
    if first is last:
        return f"{text}."
    worst = max(last.parts, key=lambda cause: last.parts[cause] - first.parts[cause])
    return (
        f"{text}; {last.policy} is dearest with {quantity(last.total, 'USD')}, of which "
        f"{quantity(last.parts[worst], 'USD')} for {worst.replace('_', ' ')}{_of(last)}."
    )


def _of(bill: Bill) -> str:
    """Return over how many of the runs a mean is, where some came to nothing."""
    few = bill.runs < bill.attempted
    return f", over the {bill.runs} of {bill.attempted} runs it completed" if few else ""


CHART = Chart(
    name="cause",
    title="Cost by cause",
    says="What each policy paid a run, and what for: reads, appends, rewrites, broken prefixes.",
    of="scenario",
    gather=_gather,
    draw=_draw,
    told=_told,
    height=lambda data: 1.9 + 0.3 * len(data.bills),
)
