"""The sentences of the advice: figures in, words out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.statistics import Estimate
from bench.tables.parts import dollars, number, percent

if TYPE_CHECKING:
    from bench.pairs import Costs, Pair
    from bench.turning import Turning

__all__ = [
    "apart",
    "cheapest",
    "decided_by",
    "faded",
    "flipped",
    "join",
    "saves",
    "shipped",
    "shortfall",
    "turns",
]

NAMED = 3
"""Policies that share a place and are named, where there are more."""

_PART_NAMES = {
    "reads": "reads from the cache",
    "computed": "input that is computed",
    "output": "output",
    "maintenance": "calls that rewrite or keep alive",
}


def join(words: Sequence[str], last: str = "and") -> str:
    """Return *words* as a list in a sentence: a, b and c."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def cheapest(found: Sequence[tuple[str, Sequence[str], float]], costs: Costs) -> str:
    """Return who is cheapest: *found* has, by price, the leaders and what a run of theirs costs."""
    groups: dict[str, list[str]] = {}
    for price, leaders, usd in found:
        if len(leaders) == len(costs.policies) > 1:
            who = "none is told from another"
        else:
            apart = "" if len(leaders) == 1 else ", the same" if costs.once else ", not told apart"
            who = f"{_tied(leaders)}{apart}"
        groups.setdefault(who, []).append(f"{price} (${dollars(usd)})")
    listed = "; ".join(f"{who} at {join(places)}" for who, places in groups.items())
    return f"By cost alone: {listed}{_basis(costs)}."


def shipped(
    choice: Sequence[tuple[str, Sequence[str]]], remarks: Iterable[str], costs: Costs
) -> str:
    """Return what to ship: *choice* has, by price, the first by all criteria; then *remarks*."""
    groups: dict[str, list[str]] = {}
    for price, policies in choice:
        groups.setdefault(_tied(policies, "or"), []).append(price)
    if len(groups) == 1 and len(costs.prices) > 1:
        text = f"Ship {next(iter(groups))} at every price"
    else:
        text = "Ship " + "; ".join(f"{who} at {join(prices)}" for who, prices in groups.items())
    if costs.once:
        text = text.replace("Ship", "First on the one run of each is", 1)
    reason = "first by runs completed, then by what is made up, violated and broken, then by cost"
    return " ".join([f"{text}{':' if costs.once else ','} {reason}.", *remarks])


def shortfall(criterion: str, value: float, attempted: int) -> str:
    """Return what is wrong with a policy whose *criterion* has this *value*."""
    if criterion == "completed":
        return f"completes {number(value)} of {attempted} runs"
    if criterion == "confabulation_rate":
        return f"makes up {percent(value)} % of its answers"
    runs = "" if attempted == 1 else " a run"
    if criterion == "violations":
        return f"violates {_count(value, 'constraint')}{runs}"
    return f"has {_count(value, 'policy bug')}{runs}"


def saves(found: Mapping[str, Any]) -> str:
    """Return how much less a cheaper policy costs at a price."""
    gap = Estimate(found["mean"], found["ci_low"], found["ci_high"], found["n"])
    return f"{apart(gap)} at {found['price']}"


def flipped(pair: Pair, costs: Costs) -> str:
    """Return that each of *pair* is the cheaper one somewhere, and by how much."""
    text = f"{pair.first} is cheaper than {pair.second} {_gaps(pair, -1)}, dearer {_gaps(pair, 1)}"
    even = pair.at(0)
    if even:
        same = "the same" if costs.once else "not told apart"
        text += f", {same} at {join(even)}"
    if costs.once:
        text = f"On the one run of each {text}"
    return f"{text}{_pairs(pair, costs)}."


def faded(pair: Pair, costs: Costs) -> str:
    """Return that *pair* is told apart at some prices only."""
    sign = -1 if pair.at(-1) else 1
    if sign > 0:
        pair, sign = pair.turned(), -1
    return (
        f"{pair.first} is cheaper than {pair.second} {_gaps(pair, sign)}; at {join(pair.at(0))} "
        f"they are no longer told apart{_pairs(pair, costs)}."
    )


def turns(found: Turning, pair: Pair, rows: tuple[str, float, str, float]) -> str:
    """Return from which R on the order of *pair* turns; *rows*: two prices, each with its R."""
    base, here, other, there = rows
    where = (
        f"between R = {_ratio(found.low)} and {_ratio(found.high)}"
        if found.ratio is None
        else f"at R = {_ratio(found.ratio)} [{_ratio(found.low)}, {_ratio(found.high)}]"
    )
    way = "below it" if found.below else "from there on"
    return (
        f"With the tokens counted at {base} (R = {_ratio(here)}) the order turns {where}: {way} "
        f"{pair.second} is the cheaper one ({other} has R = {_ratio(there)})."
    )


def decided_by(pair: Pair, found: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Return which part of the cost decides at each price; *found* has the differences by part."""
    says = []
    for price, gaps in found:
        sign = pair.signs[price]
        name = max(gaps, key=lambda part: sign * gaps[part])
        way = "less" if gaps[name] < 0 else "more"
        says.append(f"at {price} {_PART_NAMES[name]}, ${dollars(abs(gaps[name]))} {way}")
    return f"What decides for {pair.first}: {'; '.join(says)}."


def apart(gap: Estimate) -> str:
    """Return the size of a difference in dollars, with its interval where it has one."""
    low, high, mean = gap.low, gap.high, abs(gap.mean or 0.0)
    if low is None or high is None or low == high:
        return f"${dollars(mean)}"
    ends = sorted((abs(low), abs(high)))
    low_text, high_text = (dollars(end, 3, ends[1]) for end in ends)
    return f"${dollars(mean, 3, ends[1])} [{low_text}, {high_text}]"


def _gaps(pair: Pair, sign: int) -> str:
    return join([f"at {price} by {apart(pair.apart[price])}" for price in pair.at(sign)])


def _pairs(pair: Pair, costs: Costs) -> str:
    """Return on how many seeds a comparison rests."""
    if costs.once:
        return ""
    counts = sorted({gap.n for gap in pair.apart.values()})
    seeds = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f" ({seeds} seeds)"


def _basis(costs: Costs) -> str:
    if costs.once:
        return "; one run each, which claims no more"
    return f" (means of completed runs, {len(costs.seeds)} seeds)"


def _tied(policies: Sequence[str], last: str = "and") -> str:
    if len(policies) == 1:
        return policies[0]
    named = list(policies) if len(policies) <= NAMED else list(policies[: NAMED - 1])
    rest = len(policies) - len(named)
    return join([*named, f"{rest} more"] if rest else named, last)


def _count(value: float, word: str) -> str:
    return f"{number(value)} {word}" + ("" if value == 1 else "s")


def _ratio(value: float) -> str:
    return f"{value:.3g}"
