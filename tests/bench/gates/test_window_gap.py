"""The gate window-gap against what the scripts bring, without a simulator."""

import pytest

from bench.gates import window_gap
from bench.gates.gate import Inputs
from bench.gates.window_gap import GATE
from scenarios.pinned import load_pinned
from sim.script import Arrival

SEEDS = 25


@pytest.fixture(scope="module")
def verdict():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window_gap, "_SEEDS", SEEDS)
        return GATE.run(Inputs())


def brought(seed):
    """Tokens of all that a session brings."""
    made = load_pinned("swe").script(seed)
    return sum(s.tokens for s in made.stimuli if isinstance(s, Arrival))


def test_an_unmanaged_run_is_completed_if_all_of_it_fits(verdict):
    whole = [brought(seed) for seed in range(SEEDS)]
    for window, budget in window_gap._BUDGETS.items():
        fits = 100 * sum(tokens <= budget for tokens in whole) / SEEDS
        assert verdict.context[f"completed, {window}, no-op, %"] == pytest.approx(fits)
        assert verdict.simulated[f"{window}, points"] == pytest.approx(
            verdict.context[f"completed, {window}, hybrid, %"] - fits
        )


def test_it_judges_what_the_page_asks_for(verdict):
    bounds = {c.name: (c.low, c.high) for c in verdict.criteria}
    assert bounds == {
        "32k > 64k > 96k > 128k": (0.0, None),
        "last less half the first": (None, 0.0),
    }
    assert set(verdict.simulated) == set(GATE.published)


@pytest.mark.parametrize(
    ("done", "agrees"),
    [
        ((10, 40, 60, 80), True),  # gaps 90, 60, 40, 20
        ((10, 40, 40, 80), False),  # the third is no smaller than the second
        ((10, 40, 50, 54), False),  # 46 is more than half of 90
        ((10, 40, 50, 55), True),  # 45 is half of 90
    ],
)
def test_gaps_that_fall_and_close(monkeypatch, done, agrees):
    """A hundred runs each, all of them completed where they are managed."""

    def play(scenario, wanted, seeds, inputs):
        unmanaged = dict(zip(window_gap._BUDGETS, done, strict=True))
        found = {}
        for label, arm in wanted.items():
            completed = unmanaged[label.split(",")[0]] if arm.policy == "no-op" else 100
            found[label] = [
                {"status": "completed" if n < completed else "failed"} for n in range(100)
            ]
        return found

    monkeypatch.setattr(window_gap.arms, "play", play)
    assert GATE.run(Inputs()).agrees is agrees
