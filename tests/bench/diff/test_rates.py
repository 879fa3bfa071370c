"""How often a difference is found where there is none, and where there is one.

Noise is drawn twice over: from distributions that a mean finds hard, and from the simulator, whose
runs of one policy on different seeds differ by chance alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.api import compare
from bench.diff import LEVEL, diff
from sim.streams import generator
from tests.bench.diff.made import results
from tests.bench.rows import row

METRICS = ("stale", "total_cost_usd", "peak_tokens")
POLICIES = ("p", "q")

Draw = Callable[[np.random.Generator, int], Any]

NOISE: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(10.0, 2.0, n),
    "seldom": lambda rng, n: rng.poisson(0.2, n).astype(float),
    "heavy": lambda rng, n: rng.lognormal(0.0, 1.5, n),
}


def drawn(rng: np.random.Generator, draw: Draw, n: int, worse: float = 0.0) -> list[dict[str, Any]]:
    """Rows of n seeds; the second policy's share a part with the first's, as metrics do."""
    made = []
    shared = {metric: draw(rng, n) for metric in METRICS}
    for policy in POLICIES:
        values = {m: shared[m] + draw(rng, n) + worse * (policy == "q") for m in METRICS}
        made += [row(policy, s, **{m: values[m][s] for m in METRICS}) for s in range(n)]
    return made


def is_at_most(alarms: int, pairs: int, level: float) -> bool:
    """Whether a rate of at most *level* would give so many alarms in one of 1,000 tries."""
    return stats.binomtest(alarms, pairs, level, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [("normal", 20), ("seldom", 12), ("heavy", 8)])
def test_noise_is_called_a_change_as_seldom_as_is_claimed(name: str, n: int) -> None:
    rng = generator(7, "test", name, n)
    pairs, changes, alarms = 1_000, 0, 0
    for _ in range(pairs):
        a, b = (results(drawn(rng, NOISE[name], n)) for _ in "ab")
        found = diff(a, b, METRICS)
        changes += any(line["verdict"] in ("worse", "better") for line in found.lines)
        alarms += found.regression
    assert is_at_most(changes, pairs, LEVEL), changes
    assert is_at_most(alarms, pairs, LEVEL), alarms


@pytest.mark.slow
def test_runs_of_one_policy_on_other_seeds_are_no_regression() -> None:
    """Seeds of one pool, dealt to A and to B, 1,000 times over."""
    pool, n, pairs = 90, 12, 1_000
    settings = {"turns": 40, "budget": 24_000, "reader": "measured"}
    played = compare(["support-agent"], ["naive-rewrite"], seeds=pool, settings=settings)
    rng = generator(7, "test", "deals")
    changes = 0
    for _ in range(pairs):
        dealt = rng.permutation(pool)[: 2 * n]
        a, b = (
            results({**played.rows[at], "seed": seed} for seed, at in enumerate(half))
            for half in (dealt[:n], dealt[n:])
        )
        found = diff(a, b)
        changes += any(line["verdict"] in ("worse", "better") for line in found.lines)
    assert {r["status"] for r in played.rows} == {"completed"}
    assert len({r["confabulation_rate"] for r in played.rows}) > 10
    assert is_at_most(changes, pairs, LEVEL), changes


@pytest.mark.parametrize("name", NOISE)
def test_a_shift_that_is_larger_than_the_noise_is_found(name: str) -> None:
    """Of 20 seeds by three standard deviations of a difference: always, in that policy alone."""
    rng = generator(7, "test", "shift", name)
    apart = 3.0 * np.sqrt(2.0) * {"normal": 2.0 * np.sqrt(2), "seldom": 0.64, "heavy": 13.0}[name]
    for _ in range(20):
        a = results(drawn(rng, NOISE[name], 20))
        b = results(drawn(rng, NOISE[name], 20, worse=float(apart)))
        found = diff(a, b, METRICS)
        worse = {(line["policy"], line["metric"]) for line in found.of("worse")}
        assert worse >= {("q", metric) for metric in METRICS}


def test_a_policy_made_worse_is_found() -> None:
    """Without its tag, what is rewritten is invented: the rule, switched off, is a regression."""
    settings = {"turns": 60}
    a, b = (
        results(
            {**r, "policy": "mine"}
            for r in compare(["doc-analysis"], [p], seeds=12, settings=settings).rows
        )
        for p in ("tag-or-drop", "naive-rewrite")
    )
    found = diff(a, b)
    assert found.regression
    assert found.of("worse")[0]["metric"] == "confabulation_rate"
    assert not diff(a, a).regression
