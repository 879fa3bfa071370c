"""The gate lease-eviction against a replay of the published rule that knows no simulator."""

import math

import pytest

from bench.gates import arms, lease_eviction
from bench.gates.gate import Inputs
from bench.gates.lease_eviction import GATE
from scenarios.pinned import load_pinned
from sim.script import Arrival
from sim.segments import Kind

READ, WRITE, OUTPUT = 0.2, 2.5, 10.0


def replayed(made, clears):
    """Dollars of a session at Sonnet 5, of which each call reads what it shares with the last."""
    window, sent, cleared, usd = [], [], set(), 0.0
    came = [s for s in made.stimuli if isinstance(s, Arrival)]
    for turn in range(1, made.settings["turns"] + 1):
        window += [
            (a.id, a.tokens, turn, a.kind)
            for a in sorted((a for a in came if a.turn == turn), key=lambda a: a.time)
        ]
        due = [
            (name, size)
            for name, size, entered, kind in window
            if kind is Kind.TOOL_RESULT
            and size >= 500
            and turn - entered >= 3
            and name not in cleared
        ]
        if clears and sum(size for _, size in due) >= 30_000:
            cleared |= {name for name, _ in due}
        request = [(name, 40 if name in cleared else size) for name, size, _, _ in window]
        shared = 0
        for one, other in zip(sent, request, strict=False):
            if one != other:
                break
            shared += one[1]
        whole = sum(size for _, size in request)
        output = made.output_tokens.get(turn, 300)
        usd += shared * READ + (whole - shared) * WRITE + output * OUTPUT
        sent = request
    return usd / 1e6, len(cleared)


@pytest.mark.parametrize("seed", [2, 4, 5, 7, 14, 22])
def test_one_session_costs_what_a_replay_of_the_rule_says(seed):
    from bench.cells import run_one

    made = load_pinned("trace").script(seed)
    for policy, clears in (("lease", True), ("lease:clear=off", False)):
        usd, cleared = replayed(made, clears)
        metrics, _ = run_one(made, policy)
        assert metrics["total_cost_usd"] == pytest.approx(usd, rel=1e-9)
        assert metrics["maintenance_cost_usd"] == 0.0
        assert metrics["rewrites"] == cleared
        assert metrics["policy_bugs"] == metrics["fetches"] == 0


# -- the figures -------------------------------------------------------------------------------


def test_saving_by_hand():
    """8 of 10 dollars: what is left over is 1 − 0.8 · 2 and 7 − 0.8 · 8, ± 0.6."""
    middle, low, high = arms.saving([1.0, 7.0], [2.0, 8.0])
    assert middle == pytest.approx(20.0)
    half = 100 * 1.96 * math.sqrt(2 * (0.6**2 + 0.6**2)) / 10
    assert (low, high) == (pytest.approx(20 - half), pytest.approx(20 + half))


def test_saving_the_same_share_everywhere_is_certain():
    assert arms.saving([0.9, 9.0, 4.5], [1.0, 10.0, 5.0]) == pytest.approx((10.0, 10.0, 10.0))


def test_the_prices_have_the_ratios_that_they_stand_for():
    from bench.prices import get_price

    for price, ratio in lease_eviction._PRICES.items():
        assert get_price(price).ratio == pytest.approx(ratio)


# -- the gate ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def verdict():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lease_eviction, "_SEEDS", 5)
        return GATE.run(Inputs())


def test_it_judges_what_the_page_asks_for(verdict):
    bounds = {c.name: (c.low, c.high) for c in verdict.criteria}
    assert len(bounds) == 6
    assert bounds["net without refetch"] == (0.0, None)
    assert bounds["net with 60 % refetched"] == (None, 3.0)
    assert bounds["what 60 % refetched take"] == (5.0, None)
    assert bounds["tools, arguments, thinking above tools"] == (4.0, None)
    assert set(verdict.simulated) == set(GATE.published)


def test_refetches_and_dearer_reads_take_from_it(verdict):
    assert verdict.simulated["net, 60 % refetched, %"] < verdict.simulated["net, no refetch, %"]
    falls = [c for c in verdict.criteria if c.name.startswith("net falls")]
    assert len(falls) == 2 and all(c.passed for c in falls)
    low, high = verdict.context["interval, no refetch, %"]
    assert low < verdict.simulated["net, no refetch, %"] < high


def test_the_batches_are_those_of_the_runs(verdict):
    shares = [
        verdict.context[f"batches that pay back at R {r}, %"] for r in ("9", "11.5", "24", "49")
    ]
    assert shares == sorted(shares, reverse=True)
    assert 0 < shares[-1] <= shares[0] <= 100
    lower, middle, upper = verdict.context["L, quartiles"]
    assert 1 <= lower <= middle <= upper < 1_107


def test_the_same_by_any_number_of_processes(verdict, monkeypatch):
    monkeypatch.setattr(lease_eviction, "_SEEDS", 5)
    seen = []
    other = GATE.run(Inputs(jobs=2, report=lambda done, planned: seen.append((done, planned))))
    assert other == verdict
    assert seen[-1] == (14 * 5, 14 * 5)
