"""Gate lease-eviction: what clearing old tool results saves, by refetch rate and price ratio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import quantiles
from typing import TYPE_CHECKING, Any

from bench.gates import arms
from bench.gates.gate import INFERRED, Criterion, Figures, Gate, Inputs, Verdict, rising

if TYPE_CHECKING:
    from sim.break_even import Pass

__all__ = ["GATE"]

_SCENARIO = "trace"
_PRICES: Mapping[str, float] = {
    "gpt-5.5": 9.0,
    "claude-sonnet-5": 11.5,
    "claude-opus-5.5": 24.0,
    "claude-fable-5.1": 49.0,
}
"""Rows of the price book by R, what a token read again costs more than one kept.

The first caches by the rule auto, the others by breakpoints.
"""

_PRICE = "claude-sonnet-5"
_RATES = (0.0, 0.6)
"""Shares of the cleared results that are asked for again; the second is the source's measure."""

_NOTHING, _RESULTS, _ALL = "lease:clear=off", "lease", "lease:what=all"
_SEEDS = 60

Costs = Mapping[tuple[str, float, str], Sequence[float]]
"""Dollars by seed, by price, refetch rate and policy."""


def _settings(price: str, rate: float) -> dict[str, object]:
    return {"price": price, "again.share": rate}


def _run(inputs: Inputs) -> tuple[Costs, float]:
    """Return the costs of every arm, and the share of what was cleared that was fetched again."""
    wanted = [
        *((price, 0.0, _NOTHING) for price in _PRICES),
        *((price, rate, _RESULTS) for price in _PRICES for rate in _RATES),
        *((_PRICE, rate, _ALL) for rate in _RATES),
    ]
    labels = {arm: f"{_SCENARIO}, {arm[0]}, {arm[1]:g} asked for again, {arm[2]}" for arm in wanted}
    planned = {labels[p, r, policy]: arms.Arm(policy, _settings(p, r)) for p, r, policy in wanted}
    found = arms.play(_SCENARIO, planned, _SEEDS, inputs)
    often = found[labels[_PRICE, _RATES[1], _RESULTS]]
    fetched = sum(row["fetches"] for row in often) / sum(row["rewrites"] for row in often)
    return {arm: arms.usd(found[label]) for arm, label in labels.items()}, fetched


def _passes() -> list[Pass]:
    """Return every pass of the rule, at the price and the seeds of the gate and no refetch."""
    from bench.cells import run_one
    from sim.break_even import passes

    scripts = (arms.script(_SCENARIO, _settings(_PRICE, 0.0), seed) for seed in range(_SEEDS))
    return [one for script in scripts for one in passes(run_one(script, _RESULTS)[1])]


def _batches() -> Figures:
    """Return the quartiles of S/b and L, and the share of batches that pay back at each R."""
    found = _passes()
    spread = {
        "S/b": [one.behind / one.removed for one in found],
        "L": [float(one.calls) for one in found],
    }
    figures: dict[str, Any] = {
        f"{name}, quartiles": [round(q, 2) for q in quantiles(values, n=4)]
        for name, values in spread.items()
    }
    for ratio in _PRICES.values():
        share = sum(one.pays_at(ratio) for one in found) / len(found)
        figures[f"batches that pay back at R {ratio:g}, %"] = 100 * share
    return figures


def _judge(inputs: Inputs) -> Verdict:
    costs, fetched = _run(inputs)

    def net(price: str, rate: float, policy: str = _RESULTS) -> arms.Saving:
        return arms.saving(costs[price, rate, policy], costs[price, 0.0, _NOTHING])

    low, high = _RATES
    none, often = net(_PRICE, low), net(_PRICE, high)
    everything = {rate: net(_PRICE, rate, _ALL)[0] for rate in _RATES}
    by_ratio = {
        rate: {f"R {ratio:g}": net(price, rate)[0] for price, ratio in _PRICES.items()}
        for rate in _RATES
    }
    gain = min(everything[low] - none[0], everything[high] - often[0])
    return Verdict(
        simulated={
            "net, no refetch, %": none[0],
            "net, 60 % refetched, %": often[0],
            "arguments and thinking too, points more": everything[low] - none[0],
        },
        criteria=(
            Criterion("net without refetch", none[0], 0.0, unit="%", open=True),
            Criterion("net with 60 % refetched", often[0], high=3.0, unit="%"),
            Criterion("what 60 % refetched take", none[0] - often[0], 5.0, unit="points"),
            *(_falling(by_ratio[rate], _refetched(rate)) for rate in _RATES),
            Criterion("tools, arguments, thinking above tools", gain, 4.0, unit="points"),
        ),
        context={
            "interval, no refetch, %": list(none[1:]),
            "interval, 60 % refetched, %": list(often[1:]),
            **{
                f"net at {ratio}, {_refetched(rate)}, %": value
                for rate, of in by_ratio.items()
                for ratio, value in of.items()
            },
            "arguments and thinking too, net, 60 % refetched, %": everything[high],
            "fetched again of what was cleared, %": 100 * fetched,
            **_batches(),
        },
        notes=(
            f"Shares of the total cost of {_SEEDS} sessions without clearing, at the same seeds; "
            "intervals are of 95 %.",
            "Each cleared result that is needed again is asked for within 8 turns, mostly in a "
            "call of its own; what goes at the end of a session is not, so that fewer come back.",
            "No model is asked for a stub. The sizes of the sessions are inferred: only signs, the "
            "slope over R and the order of the two rules are judged.",
        ),
    )


def _refetched(rate: float) -> str:
    return f"{100 * rate:.0f} % refetched"


def _falling(values: Mapping[str, float], name: str) -> Criterion:
    """Return the criterion that *values* fall from each to the next."""
    turned = rising({key: values[key] for key in reversed(list(values))}, "points")
    return replace(turned, name=f"net falls as R rises, {name}")


GATE = Gate(
    name="lease-eviction",
    about="clearing old results in batches saves some, but not once many are asked for again",
    published={
        "net, no refetch, %": 7.0,
        "net, 60 % refetched, %": -5.9,
        "arguments and thinking too, points more": 8.8,
    },
    grade="P",
    setting=INFERRED,
    source="FutureEnterprises/anatomy, docs/essay.md: one rule on 191,390 recorded calls",
    judge=_judge,
    headline="net, 60 % refetched, %",
)
