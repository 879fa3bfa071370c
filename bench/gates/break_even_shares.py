"""Gate `break-even-shares`: how many removals pay back, from the published sizes of S/b and L."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import TYPE_CHECKING

from bench.gates.gate import STATED, Criterion, Gate, Inputs, Verdict
from sim.break_even import pays_back
from sim.streams import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = ["GATE", "RATIOS", "shares"]

DRAWS = 20_000
"""Removals that are drawn: a share is known to a third of a point."""

_BEHIND = (0.48, 0.71, 1.12)
"""Quartiles of S/b, tokens behind a cut by tokens removed."""

_CALLS = (15.0, 36.0, 77.0)
"""Quartiles of L, calls to go."""

RATIOS = (9.0, 11.5, 24.0, 49.0)
"""R, (w − r) / r."""

_PUBLISHED = {9.0: 86.0, 11.5: 83.0, 24.0: 70.0, 49.0: 50.0}
_POINTS = 5.0
_UPPER_QUARTILE = 0.6744897501960817
"""The standard normal deviate that three quarters lie below."""


def shares(correlation: float = 0.0) -> dict[float, float]:
    """Return for each of :data:`RATIOS` the percent of drawn removals that pay back.

    S/b and L have the published quartiles, each half log-normal below its median and above it;
    *correlation* is that of the deviates of the two, in [−1, 1].
    """
    drawn = generator(0, "break-even-shares", "removals").standard_normal((2, DRAWS))
    behind = _spread(drawn[0], _BEHIND)
    mixed = correlation * drawn[0] + sqrt(1.0 - correlation**2) * drawn[1]
    calls = _spread(mixed, _CALLS)
    return {ratio: _share(behind, calls, ratio) for ratio in RATIOS}


def _spread(deviates: np.ndarray, quartiles: tuple[float, float, float]) -> list[float]:
    low, median, high = quartiles
    below = log(median / low) / _UPPER_QUARTILE
    above = log(high / median) / _UPPER_QUARTILE
    return [median * exp((above if z > 0 else below) * z) for z in deviates.tolist()]


def _share(behind: Sequence[float], calls: Sequence[float], ratio: float) -> float:
    paid = sum(
        pays_back(1.0, cut, left, 1.0, 1.0 + ratio) for cut, left in zip(behind, calls, strict=True)
    )
    return 100.0 * paid / len(behind)


def _name(ratio: float) -> str:
    return f"pays back at R = {ratio:g}, %"


def _judge(inputs: Inputs) -> Verdict:
    found = shares()
    return Verdict(
        simulated={_name(ratio): found[ratio] for ratio in RATIOS},
        criteria=tuple(
            Criterion(
                f"pays back at R = {ratio:g}",
                found[ratio],
                _PUBLISHED[ratio] - _POINTS,
                _PUBLISHED[ratio] + _POINTS,
                "%",
            )
            for ratio in RATIOS
        ),
        context={
            f"S/b and L correlated by {sign}0.4": {
                f"R = {ratio:g}, %": share for ratio, share in shares(value).items()
            }
            for sign, value in (("−", -0.4), ("+", 0.4))
        },
        notes=(
            "A check of arithmetic: S/b and L are drawn, independent of each other, and not made "
            "by a simulated agent. Refetches and price cliffs are left out.",
        ),
    )


GATE = Gate(
    name="break-even-shares",
    about="the break-even rule on the published sizes gives the published shares of removals",
    published={_name(ratio): share for ratio, share in _PUBLISHED.items()},
    grade="P",
    setting=STATED,
    source="4,517 replayed eviction batches (FutureEnterprises/anatomy, essay and method)",
    judge=_judge,
    headline=_name(11.5),
)
