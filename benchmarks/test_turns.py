"""Time of a simulated turn, beside that of nine bare SimPy timeouts."""

from __future__ import annotations

import pytest
import simpy

from bench.cells import price_of
from policies.registry import make
from scenarios import catalogue
from sim.engine import run

TURNS = 200


def _timeouts() -> None:
    def nine(env: simpy.Environment):
        for _ in range(9 * TURNS):
            yield env.timeout(1)

    env = simpy.Environment()
    env.process(nine(env))
    env.run()


def test_nine_bare_timeouts_a_turn(benchmark) -> None:
    benchmark.group = f"{TURNS} turns"
    benchmark(_timeouts)


@pytest.mark.parametrize("policy", ["tag-or-drop", "tiered", "slack-swap-refuse"])
def test_doc_analysis(benchmark, policy: str) -> None:
    scenario = catalogue.load("doc-analysis", {"turns": TURNS})
    script = scenario.script(0)
    price, digest = price_of(scenario.settings), script.digest()
    benchmark.group = f"{TURNS} turns"
    benchmark(lambda: run(script, make(policy), price, digest=digest))
