"""Where the order of two policies turns as reads from the cache get cheaper, and what decides.

A cost is linear in the prices as long as the token counts stay. So the counts of one price say what
the difference would be with another price of a read, and from which R = (w - r) / r on the other
policy would be the cheaper one. Source of R: the rewrite rule of calibration A2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.statistics import estimate

if TYPE_CHECKING:
    from bench.advice.pairs import Costs, Pair
    from bench.statistics import Estimate, Sample

__all__ = ["PARTS", "Turning", "explain", "parts", "ratio", "turning"]

PARTS = ("reads", "computed", "output", "maintenance")
"""What a cost is the sum of: input read from the cache, input computed, answers, and the calls that
rewrite or keep alive with their output."""

_MILLION = 1_000_000
_EXACT = 1e-6
"""Tokens times prices are the price of the input up to this share: rows may be printed ones."""

_STEPS = 60
_CLOSE = 1e-9


class Turning(NamedTuple):
    """From which R on, with the token counts at *price*, a pair's second policy is the cheaper one.

    With *low* and *high* R between which the two are not told apart. *ratio*, the R at which their
    means are the same, is None where maintenance calls leave it open: rows do not say how much of
    their price was for reads, so the bounds hold for any share. *below* says that the second is the
    cheaper one up to there, and not from there on.
    """

    price: str
    ratio: float | None
    low: float
    high: float
    below: bool


def ratio(row: Mapping[str, Any]) -> float | None:
    """Return R of a row of the price book; None where reads are free."""
    return (row["write"] - row["read"]) / row["read"] if row["read"] else None


def parts(
    costs: Costs, price: str, policy: str, row: Mapping[str, Any] | None
) -> dict[str, Sample] | None:
    """Return a policy's cost at *price* by :data:`PARTS`, a sample each.

    None unless the tokens of every run times the prices of *row* are the price of its input: a
    cliff, a longer life or storage is no sum of these parts.
    """
    import numpy as np

    if row is None:
        return None

    def tokens(kind: str) -> Sample:
        return costs.sample(price, policy, f"{kind}_tokens") / _MILLION

    total, prefill = costs.samples[price, policy], costs.sample(price, policy, "prefill_cost_usd")
    maintenance = costs.sample(price, policy, "maintenance_cost_usd")
    reads = tokens("cached") * row["read"]
    billed = reads + tokens("written") * row["write"] + tokens("plain") * row["input"]
    off = np.abs(billed - prefill) > _EXACT * np.abs(prefill)
    if off.any():
        return None
    found = (reads, prefill - reads, total - prefill - maintenance, maintenance)
    return dict(zip(PARTS, found, strict=True))


def turning(
    costs: Costs, pair: Pair, base: str, other: str, rows: Mapping[str, Mapping[str, Any]]
) -> Turning | None:
    """Return where the order of *pair* turns between the R of *base* and that of *other*.

    The counts are those at *base*. None if they do not say, or if the R of *other* does not lie on
    the far side of the whole interval: something else than R then makes the order turn.
    """
    first, second = (parts(costs, base, name, rows.get(base)) for name in (pair.first, pair.second))
    if first is None or second is None or other not in rows:
        return None
    here, there = ratio(rows[base]), ratio(rows[other])
    if here is None or there is None or here == there:
        return None
    spends = [_spends(side) for side in (first, second)]
    found = [
        _interval(first, second, mine, yours, here)
        for mine, yours in product(*((0.0, 1.0) if spent else (0.0,) for spent in spends))
    ]
    if None in found:
        return None
    known = [each for each in found if each is not None]
    low, high = min(each[0] for each in known), max(each[2] for each in known)
    if not (here < low <= high < there or there < low <= high < here):
        return None
    exact = known[0][1] if len(known) == 1 else None
    return Turning(base, exact, low, high, there < here)


def explain(
    costs: Costs, pair: Pair, price: str, rows: Mapping[str, Mapping[str, Any]]
) -> dict[str, float] | None:
    """Return the mean difference of *pair* at *price* by part, first less second, if known."""
    first, second = (
        parts(costs, price, name, rows.get(price)) for name in (pair.first, pair.second)
    )
    if first is None or second is None:
        return None
    gaps = {name: estimate(first[name] - second[name]).mean for name in PARTS}
    return {name: gap for name, gap in gaps.items() if gap is not None}


def _spends(side: Mapping[str, Sample]) -> bool:
    import numpy as np

    return bool(np.nansum(np.abs(side["maintenance"])) > 0.0)


def _interval(
    first: Mapping[str, Sample],
    second: Mapping[str, Sample],
    mine: float,
    yours: float,
    here: float,
) -> tuple[float, float, float] | None:
    """Return R between which the two are not told apart, and where they cost the same.

    *mine* and *yours* are the shares of the two policies' maintenance that pay for reads; *here* is
    the present R. The price of a read is varied from nothing to that of a write; None unless the
    order is clear at both ends of what is found.
    """
    reads = first["reads"] + mine * first["maintenance"]
    reads = reads - second["reads"] - yours * second["maintenance"]
    whole = sum(first[name] - second[name] for name in PARTS)
    slope = estimate(reads)
    if slope.mean is None or slope.holds_zero:
        return None
    rising = 1.0 if slope.mean > 0 else -1.0

    def gap(factor: float) -> Estimate:
        """The difference with reads at *factor* times their price, turned so that it rises."""
        return estimate(rising * (whole + (factor - 1.0) * reads))

    most = 1.0 + here
    start, end = gap(0.0), gap(most)
    if start.high is None or end.low is None or start.high >= 0.0 or end.low <= 0.0:
        return None
    roots = [_root(gap, bound, most) for bound in ("low", "mean", "high")]
    low, middle, high = (most / factor - 1.0 for factor in roots)
    return low, middle, high


def _root(gap: Callable[[float], Estimate], bound: str, most: float) -> float:
    """Return where a rising *bound* of *gap* passes 0 between 0 and *most*.

    By false position (Illinois), since it is nearly a straight line.
    """

    def value(factor: float) -> float:
        return float(getattr(gap(factor), bound))

    left, right = 0.0, most
    at_left, at_right = value(left), value(right)
    middle, side = right, 0
    for _ in range(_STEPS):
        before, middle = middle, left - at_left * (right - left) / (at_right - at_left)
        found = value(middle)
        if found == 0.0 or abs(middle - before) <= _CLOSE * most:
            break
        if found < 0.0:
            left, at_left = middle, found
            at_right = at_right / 2.0 if side < 0 else at_right
            side = -1
        else:
            right, at_right = middle, found
            at_left = at_left / 2.0 if side > 0 else at_left
            side = 1
    return middle
