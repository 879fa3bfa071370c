"""Gate ttl-table: entries of five minutes, of an hour, and keep-alive, by the share of pauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import mean
from typing import TYPE_CHECKING

from bench.gates import arms
from bench.gates.gate import INFERRED, Criterion, Gate, Inputs, Verdict, rising

if TYPE_CHECKING:
    from sim.script import Script

__all__ = ["GATE"]

_SCENARIO = "triage-short"
_TOKENS: Mapping[str, object] = {"tokens.scale": 1.3}
"""The run was fitted at another tokenizer; the model of the table makes 1.3 tokens of each."""

_ARMS: Mapping[str, Mapping[str, object]] = {
    "5-min": {"price": "claude-fable-5.1"},
    "1-h": {"price": "claude-fable-5.1-1h"},
    "keep-alive": {"price": "claude-fable-5.1", "keep_alive.seconds": 240.0},
}
_SHORT, _LONG = 360.0, 2700.0
"""Pauses of 6 and of 45 minutes, in seconds."""

_SEEDS = 50
"""Which turns a tenth of them is, is drawn so many times; with none or all there is no draw."""


def _script(arm: str, share: float, seconds: float, seed: int = 0) -> Script:
    pauses = {"pause.share": share, "pause.seconds": seconds}
    return arms.script(_SCENARIO, {**_TOKENS, **_ARMS[arm], **pauses}, seed)


def _costs(share: float, seconds: float = _SHORT) -> dict[str, float]:
    """Return the mean cost of each arm with this share of the turns paused."""
    seeds = range(_SEEDS if 0.0 < share < 1.0 else 1)
    return {
        arm: mean(arms.cost(_script(arm, share, seconds, seed)) for seed in seeds) for arm in _ARMS
    }


def _paused_once(arm: str) -> Iterator[float]:
    """Yield the cost of *arm* with one pause of 6 minutes, before each turn but the first."""
    from sim.script import KeepAlive, Wait

    plain = _script(arm, 0.0, _SHORT)
    every = _ARMS[arm].get("keep_alive.seconds")
    for turn in range(2, plain.settings["turns"] + 1):
        pings = [KeepAlive(turn, float(str(every)))] if every else []
        yield arms.cost(arms.with_stimuli(plain, [Wait(turn, _SHORT), *pings]))


def _crossover(none: Mapping[str, float]) -> float:
    """Return the share of paused turns, in per cent, at which 5-min and 1-h cost the same.

    With a pause before each turn in its turn, its mean price times the number of paused turns is
    what pauses at random cost: none changes what another one costs.
    """
    extra = {arm: [cost - none[arm] for cost in _paused_once(arm)] for arm in ("5-min", "1-h")}
    turns = len(extra["5-min"])
    return (
        100 * (none["1-h"] - none["5-min"]) / (turns * (mean(extra["5-min"]) - mean(extra["1-h"])))
    )


def _judge(inputs: Inputs) -> Verdict:
    shares = {"0 %": 0.0, "10 %": 0.1, "100 %": 1.0}
    found: dict[str, dict[str, float]] = {}
    for done, (name, share) in enumerate(shares.items()):
        inputs.report(done, 5)
        found[name] = _costs(share)
    inputs.report(3, 5)
    long = _costs(1.0, _LONG)
    inputs.report(4, 5)
    crossover = _crossover(found["0 %"])
    inputs.report(5, 5)
    simulated = {f"{arm}, {name}": usd for name, of in found.items() for arm, usd in of.items()}
    order = ("keep-alive", "1-h", "5-min")
    return Verdict(
        simulated={**simulated, "crossover, %": crossover},
        criteria=(
            _rising("0 %", found["0 %"], ("5-min", "1-h")),
            _rising("10 %", found["10 %"], order),
            _rising("100 %", found["100 %"], order),
            _rising("45 min", long, ("1-h", "keep-alive", "5-min")),
            Criterion("crossover", crossover, 2.5, 4.0, "%"),
        ),
        context={f"{arm}, 100 % of 45 min": usd for arm, usd in long.items()},
        notes=(
            f"Dollars a session; 10 % is the mean of {_SEEDS} draws of the paused turns.",
            "The crossover is worked out from a run with one pause before each turn in its turn.",
            "It depends on the number of calls, 40, which like the sizes was inferred from what "
            "the source's run costs at Sonnet 5.",
            "With pauses of 45 min the source has 0.59, 0.71 and 1.68 for 1-h, keep-alive and "
            "5-min, of a session that it does not describe: only the order is judged.",
        ),
    )


def _rising(name: str, costs: Mapping[str, float], order: tuple[str, ...]) -> Criterion:
    first, *rest = order
    return rising({f"{name}: {first}": costs[first], **{arm: costs[arm] for arm in rest}}, "$")


GATE = Gate(
    name="ttl-table",
    about="which life of a cache entry is cheapest turns with the share of turns that are paused",
    published={
        "5-min, 0 %": 2.42,
        "1-h, 0 %": 3.09,
        "keep-alive, 0 %": 2.29,
        "5-min, 10 %": 4.50,
        "1-h, 10 %": 2.96,
        "keep-alive, 10 %": 2.36,
        "5-min, 100 %": 22.89,
        "1-h, 100 %": 3.01,
        "keep-alive, 100 %": 2.62,
        "crossover, %": "3.1 to 3.3",
    },
    grade="P",
    setting=INFERRED,
    source="platform.claude.com, Optimizing for cost and intelligence: TTL measurement, Fable 5.1",
    judge=_judge,
    headline="crossover, %",
)
