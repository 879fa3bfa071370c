"""Time of a request of an agent, by how many share the server: it may grow with the logarithm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.cells import price_of
from policies.registry import make
from scenarios import catalogue
from sim.fleet import FleetRun, run_fleet

AGENTS = (10, 100, 1_000)
TURNS = 10
PRICES = ("vllm", "claude-sonnet-5")

Key = tuple[str, int]
"""Price row and agents."""


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[dict[Key, tuple[float, int]]]:
    """Collect the seconds of each fleet and its requests, and print the time of one request."""
    found: dict[Key, tuple[float, int]] = {}
    yield found
    lines = [f"{'price':20}{'agents':>8}{'requests':>10}{'seconds':>10}{'ms a request':>14}"]
    for (price, agents), (seconds, requests) in found.items():
        each = 1e3 * seconds / requests
        lines.append(f"{price:20}{agents:>8,}{requests:>10,}{seconds:>10.2f}{each:>14.2f}")
    capture = request.config.pluginmanager.getplugin("capturemanager")
    if found and capture:
        with capture.global_and_fixture_disabled():
            print("\n", *lines, sep="\n")


@pytest.mark.parametrize("agents", AGENTS)
@pytest.mark.parametrize("price", PRICES)
def test_agents_on_one_server(benchmark, table, price: str, agents: int) -> None:
    scenario = catalogue.load("coding-agent", {"turns": TURNS, "price": price})
    scripts = [scenario.script(0, number) for number in range(agents)]
    digests = [script.digest() for script in scripts]
    at = price_of(scenario.settings)

    def play() -> FleetRun:
        return run_fleet(scripts, [make("tiered") for _ in scripts], at, digests=digests)

    benchmark.group = f"{price}, {TURNS} turns"
    found = benchmark.pedantic(play, rounds=1)
    assert found.metrics["turns"] >= agents
    if benchmark.stats is not None:
        table[price, agents] = (benchmark.stats["median"], found.metrics["calls"])
