"""Gate `break-even-shares`: against an integral worked out another way."""

from __future__ import annotations

from math import exp, log
from statistics import NormalDist, quantiles

import pytest

from bench.gates import break_even_shares
from bench.gates.break_even_shares import GATE, RATIOS, shares
from bench.gates.gate import Inputs

NORMAL = NormalDist()
DEVIATE = NORMAL.inv_cdf(0.75)
BEHIND, CALLS = (0.48, 0.71, 1.12), (15.0, 36.0, 77.0)


def value(z: float, quartiles: tuple[float, float, float]) -> float:
    low, median, high = quartiles
    scale = log(high / median) if z > 0 else log(median / low)
    return median * exp(scale * z / DEVIATE)


def above(level: float, quartiles: tuple[float, float, float]) -> float:
    """Return the share of the distribution that lies above *level*."""
    low, median, high = quartiles
    scale = log(high / median) if level > median else log(median / low)
    return 1.0 - NORMAL.cdf(DEVIATE * log(level / median) / scale)


@pytest.mark.parametrize("ratio", RATIOS)
def test_the_drawn_share_is_the_integral(ratio: float) -> None:
    steps = 2_000
    cuts = (value(NORMAL.inv_cdf((step + 0.5) / steps), BEHIND) for step in range(steps))
    expected = 100.0 * sum(above(ratio * cut, CALLS) for cut in cuts) / steps
    assert shares()[ratio] == pytest.approx(expected, abs=1.2)


def test_draws_have_the_published_quartiles() -> None:
    from sim.streams import generator

    drawn = generator(1, "test", "deviates").standard_normal(50_000)
    for sizes in (BEHIND, CALLS):
        found = quantiles(break_even_shares._spread(drawn, sizes), n=4)
        assert found == pytest.approx(sizes, rel=0.03)


def test_a_dearer_rewrite_pays_back_less_often() -> None:
    found = shares()
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_equal_sizes_pay_back_on_one_side_of_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(break_even_shares, "_BEHIND", (1.0, 1.0, 1.0))
    monkeypatch.setattr(break_even_shares, "_CALLS", (24.0, 24.0, 24.0))
    assert shares() == {9.0: 100.0, 11.5: 100.0, 24.0: 0.0, 49.0: 0.0}


def test_the_gate_agrees_within_five_points_and_twice_the_same() -> None:
    verdict, again = GATE.run(Inputs()), GATE.run(Inputs())
    assert verdict == again
    assert verdict.agrees is True
    assert verdict.simulated.keys() == GATE.published.keys()
    assert [(c.low, c.high) for c in verdict.criteria] == [(81, 91), (78, 88), (65, 75), (45, 55)]
