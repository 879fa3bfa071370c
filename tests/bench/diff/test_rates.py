"""How often a difference is found where there is none, and where there is one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bench.api import compare
from bench.diff import LEVEL, diff
from sim.streams import generator
from tests.bench.diff.made import results
from tests.bench.diff.rates import METRICS, NOISE, count, dealt, drawn, noise, simulated

PAIRS = 1_000


def is_at_most(alarms: int, level: float) -> bool:
    """Whether a rate of at most *level* would give so many alarms in one of 1,000 tries."""
    return stats.binomtest(alarms, PAIRS, level, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [("normal", 20), ("seldom", 12), ("heavy", 8)])
def test_noise_is_called_a_change_as_seldom_as_is_claimed(name: str, n: int) -> None:
    changes, alarms = count(noise(name, n, "test"), PAIRS, METRICS)
    assert is_at_most(changes, LEVEL), changes
    assert is_at_most(alarms, LEVEL), alarms


@pytest.mark.slow
def test_runs_of_one_policy_on_other_seeds_are_no_regression() -> None:
    rows = simulated("support-agent", 120)
    assert len({each["confabulation_rate"] for each in rows}) > 10
    changes, alarms = count(dealt(rows, 12, "test"), PAIRS)
    assert is_at_most(changes, LEVEL), changes
    assert is_at_most(alarms, LEVEL), alarms


@pytest.mark.parametrize(("name", "deviation"), [("normal", 2.0), ("seldom", 0.45), ("heavy", 9.0)])
def test_a_shift_that_is_larger_than_the_noise_is_found(name: str, deviation: float) -> None:
    """Of 20 seeds by three deviations of a difference, each of four draws: always."""
    rng = generator(7, "test", "shift", name)
    for _ in range(20):
        a = drawn(rng, NOISE[name], 20)
        b = drawn(rng, NOISE[name], 20, worse=float(3.0 * np.sqrt(4.0) * deviation))
        worse = {(line["policy"], line["metric"]) for line in diff(a, b, METRICS).of("worse")}
        assert worse >= {("q", metric) for metric in METRICS}


def test_a_policy_made_worse_is_found() -> None:
    """Without its tag, what is rewritten is invented: the rule, switched off, is a regression."""

    def played(policy: str) -> list[dict[str, object]]:
        rows = compare(["doc-analysis"], [policy], seeds=12, settings={"turns": 60}).rows
        return [{**each, "policy": "mine"} for each in rows]

    before, after = results(played("tag-or-drop")), results(played("naive-rewrite"))
    found = diff(before, after)
    assert found.regression
    assert found.of("worse")[0]["metric"] == "confabulation_rate"
    assert not diff(before, before).regression
