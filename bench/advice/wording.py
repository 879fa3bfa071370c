"""The sentences of the advice: figures in, words out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.statistics import Estimate
from bench.tables.parts import dollars, number, percent

if TYPE_CHECKING:
    from bench.advice.pairs import Costs, Pair
    from bench.advice.turning import Turning

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


def cheapest(
    found: Sequence[tuple[str, Sequence[str], float]], some_are_left_out: bool, costs: Costs
) -> str:
    """Return who is cheapest: *found* has, by price, the leaders and what the cheapest one costs.

    *some_are_left_out* says that policies that complete fewer runs are not among them.
    """
    groups: dict[str, list[str]] = {}
    for price, leaders, usd in found:
        alone = len(leaders) == 1
        who = _tied(leaders) if alone else f"{_tied(leaders)}, {_same(costs)},"
        least = f"${dollars(usd)}" if alone or costs.once else f"from ${dollars(usd)}"
        groups.setdefault(who, []).append(f"{price} ({least})")
    listed = "; ".join(f"{who} at {join(places)}" for who, places in groups.items())
    basis = "one run each" if costs.once else f"{len(costs.seeds)} seeds"
    if some_are_left_out:
        basis += ", of those that complete as many runs"
    return f"By cost alone ({basis}): {listed}."


def shipped(
    choice: Sequence[tuple[str, Sequence[str]]],
    cheapest_too: bool,
    remarks: Iterable[str],
    costs: Costs,
) -> str:
    """Return what to ship: *choice* has, by price, the first by all criteria; then *remarks*.

    *cheapest_too* says that no policy that completes as many runs costs less.
    """
    groups: dict[str, list[str]] = {}
    for price, policies in choice:
        groups.setdefault(_tied(policies, "or"), []).append(price)
    if len(groups) == 1 and len(choice) == len(costs.prices) > 1:
        text = f"{next(iter(groups))} at every price"
    else:
        text = "; ".join(f"{who} at {join(prices)}" for who, prices in groups.items())
    if cheapest_too:
        text += "; no policy that completes as many runs costs less"
    start = "First on the one run of each:" if costs.once else "Ship"
    return " ".join([f"{start} {text}.", *remarks])


def shortfall(criterion: str, value: float, attempted: int) -> str:
    """Return what is wrong with a policy whose *criterion* has this *value*."""
    if criterion == "completed":
        return f"completes {number(value)} of {attempted} runs"
    if criterion == "confabulation_rate":
        return f"makes up {percent(value)} % of its answers"
    runs = "" if attempted == 1 else " a run"
    if criterion == "violations":
        return f"has {_count(value, 'violation')}{runs}"
    return f"has {_count(value, 'policy bug')}{runs}"


def saves(found: Sequence[Mapping[str, Any]], costs: Costs) -> str:
    """Return how much less a cheaper policy costs at some prices."""
    gaps = [Estimate(each["mean"], each["ci_low"], each["ci_high"], each["n"]) for each in found]
    says = [f"at {each['price']} by {apart(gap)}" for each, gap in zip(found, gaps, strict=True)]
    return f"{join(says)}{_pairs(gaps, costs)}"


def flipped(pair: Pair, costs: Costs) -> str:
    """Return that each of *pair* is the cheaper one somewhere, and by how much."""
    text = f"{pair.first} is cheaper than {pair.second} {_gaps(pair, -1)}, dearer {_gaps(pair, 1)}"
    even = pair.at(0)
    if even:
        text += f", {_same(costs)} at {join(even)}"
    return f"{text}{_pairs(pair.apart.values(), costs)}."


def faded(pair: Pair, costs: Costs) -> str:
    """Return that *pair* is told apart at some prices only."""
    sign = -1 if pair.at(-1) else 1
    if sign > 0:
        pair, sign = pair.turned(), -1
    return (
        f"{pair.first} is cheaper than {pair.second} {_gaps(pair, sign)}; at {join(pair.at(0))} "
        f"they are no longer told apart{_pairs(pair.apart.values(), costs)}."
    )


def turns(found: Turning, pair: Pair, rows: tuple[str, float, str, float]) -> str:
    """Return from which R on the order of *pair* turns; *rows*: two prices, each with its R."""
    base, here, other, there = rows
    low, high = _ratio(found.low), _ratio(found.high)
    if found.ratio is None:
        where = f"between R = {low} and {high}"
    else:
        bounds = "" if low == high else f" [{low}, {high}]"
        where = f"at R = {_ratio(found.ratio)}{bounds}"
    return (
        f"With the tokens counted at {base} (R = {_ratio(here)}) the order turns {where}: "
        f"{'below' if found.below else 'above'}, {pair.second} is the cheaper one "
        f"({other}: R = {_ratio(there)})."
    )


def decided_by(pair: Pair, found: Sequence[tuple[str, Mapping[str, float]]]) -> str:
    """Return which part of the cost decides at each price; *found* has the differences by part."""
    groups: dict[str, list[str]] = {}
    for price, gaps in found:
        sign = pair.signs[price]
        name = max(gaps, key=lambda part: sign * gaps[part])
        way = "less" if gaps[name] < 0 else "more"
        groups.setdefault(name, []).append(f"${dollars(abs(gaps[name]))} {way} at {price}")
    says = "; ".join(f"{_PART_NAMES[name]}, {join(places)}" for name, places in groups.items())
    return f"What decides for {pair.first}: {says}."


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


def _pairs(gaps: Iterable[Estimate], costs: Costs) -> str:
    """Return on what comparisons rest: one run each, all seeds, or those both completed."""
    if costs.once:
        return " (one run each)"
    counts = sorted({gap.n for gap in gaps})
    if counts == [len(costs.seeds)]:
        return f" ({counts[0]} seeds)"
    return f" (on the {join([str(n) for n in counts], 'or')} seeds both completed)"


def _same(costs: Costs) -> str:
    return "the same" if costs.once else "not told apart"


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
