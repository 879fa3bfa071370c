"""The gate masking-uncached against sums over the scripts, without a simulator."""

import pytest

from bench.gates import arms, masking_uncached
from bench.gates.gate import Inputs
from bench.gates.masking_uncached import GATE
from scenarios.pinned import load_pinned
from sim.script import Arrival
from sim.segments import Kind

INPUT, OUTPUT = 2e-6, 10e-6
SEEDS = 4


@pytest.fixture(scope="module")
def verdict():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(masking_uncached, "_SEEDS", SEEDS)
        return GATE.run(Inputs())


def uncached(seed, keep=None):
    """Dollars of a session whose every request is paid in full, all results but *keep* as 12."""
    made = load_pinned("swe").script(seed)
    came = [s for s in made.stimuli if isinstance(s, Arrival)]
    usd, words, results = 0.0, 0, []
    for turn in range(1, made.settings["turns"] + 1):
        for arrival in (a for a in came if a.turn == turn):
            if arrival.kind is Kind.TOOL_RESULT:
                results.append(arrival.tokens)
            else:
                words += arrival.tokens
        old = results[: max(0, len(results) - keep)] if keep is not None else []
        sent = words + sum(min(12, r) for r in old) + sum(results[len(old) :])
        usd += sent * INPUT + made.output_tokens.get(turn, 150) * OUTPUT
    return usd


def test_raw_and_masked_sessions_cost_what_their_requests_add_up_to(verdict):
    raw = sum(map(uncached, range(SEEDS)))
    masked = sum(uncached(seed, 10) for seed in range(SEEDS))
    assert verdict.simulated["mask, %"] == pytest.approx(100 * (masked / raw - 1))


def test_the_price_is_the_plain_one_where_nothing_is_cached():
    script = arms.script("swe", {"price": "claude-sonnet-5", "cache.rule": "none"}, 3)
    assert arms.cost(script) == pytest.approx(uncached(3))


def test_longer_runs_are_an_input_that_is_taken_away_again(verdict):
    longer = verdict.simulated["summary, %"] - verdict.context["uncached, summary, no longer, %"]
    assert longer > 0
    halved = verdict.simulated["hybrid, %"] - verdict.context["uncached, hybrid, no longer, %"]
    assert 0 < halved < longer


def test_it_judges_what_the_page_asks_for(verdict):
    bounds = {c.name: (c.low, c.high) for c in verdict.criteria}
    assert bounds == {
        "dearest of the three": (None, 0.0),
        "mask": (-65.0, -35.0),
        "summary less mask": (0.0, None),
        "hybrid less mask": (None, 5.0),
    }
    assert set(verdict.simulated) == set(GATE.published)


def test_with_a_cache_masking_costs_more_and_a_breakpoint_makes_it_less(verdict):
    cached = verdict.context
    assert 0 < cached["breakpoints, mask, marked, %"] < cached["breakpoints, mask, %"]
    assert cached["auto, mask, marked, %"] == pytest.approx(cached["auto, mask, %"])


def test_the_same_by_any_number_of_processes(verdict, monkeypatch):
    monkeypatch.setattr(masking_uncached, "_SEEDS", SEEDS)
    seen = []
    other = GATE.run(Inputs(jobs=2, report=lambda done, planned: seen.append((done, planned))))
    assert other == verdict
    arms = masking_uncached._arms(masking_uncached._POLICIES)
    assert seen[-1][0] == seen[-1][1] == SEEDS * len(arms)
