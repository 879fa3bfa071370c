"""How often `diff` names a change where there is none: ``python -m tests.bench.diff.rates``.

Noise is drawn twice over: from distributions that a mean finds hard, and from the simulator, whose
runs of one policy on different seeds differ by chance alone. Prints the table of docs/results.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.api import compare
from bench.diff import diff
from bench.results import Results
from sim.streams import generator
from tests.bench.diff.made import results
from tests.bench.rows import row

METRICS = ("stale", "total_cost_usd", "peak_tokens")
POLICIES = ("p", "q")

Draw = Callable[[np.random.Generator, int], Any]
Pairs = Iterator[tuple[Results, Results]]

NOISE: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(10.0, 2.0, n),
    "seldom": lambda rng, n: rng.poisson(0.2, n).astype(float),
    "heavy": lambda rng, n: rng.lognormal(0.0, 1.5, n),
}

SIMULATED: dict[str, tuple[str, dict[str, Any]]] = {
    "support-agent": ("naive-rewrite", {"turns": 40, "budget": 24_000, "reader": "measured"}),
    "doc-analysis": ("tag-or-drop", {"turns": 40, "reader": "measured"}),
}


def drawn(rng: np.random.Generator, draw: Draw, n: int, worse: float = 0.0) -> Results:
    """Rows of n seeds; the second policy's share a part with the first's, as metrics do."""
    made = []
    shared = {metric: draw(rng, n) for metric in METRICS}
    for policy in POLICIES:
        values = {m: shared[m] + draw(rng, n) + worse * (policy == "q") for m in METRICS}
        made += [row(policy, s, **{m: values[m][s] for m in METRICS}) for s in range(n)]
    return results(made)


def noise(name: str, n: int, stream: str) -> Pairs:
    """Pairs of results of n seeds that are drawn alike, without end."""
    rng = generator(7, "rates", stream, name, n)
    while True:
        yield drawn(rng, NOISE[name], n), drawn(rng, NOISE[name], n)


def dealt(rows: list[dict[str, Any]], n: int, stream: str) -> Pairs:
    """Runs of one policy, dealt to both results n each, without end."""
    rng = generator(7, "rates", stream, rows[0]["scenario"], n)
    while True:
        order = rng.permutation(len(rows))[: 2 * n]
        one, other = (
            results({**rows[at], "seed": seed} for seed, at in enumerate(half))
            for half in (order[:n], order[n:])
        )
        yield one, other


def simulated(scenario: str, pool: int) -> list[dict[str, Any]]:
    """Runs of one policy on so many seeds, every one of which completed."""
    policy, settings = SIMULATED[scenario]
    rows = compare([scenario], [policy], seeds=pool, settings=settings).rows
    assert {each["status"] for each in rows} == {"completed"}
    return rows


def count(pairs: Pairs, number: int, metrics: tuple[str, ...] = ()) -> tuple[int, int]:
    """In how many of so many pairs a change was named, and in how many the exit code is 1."""
    changes = alarms = 0
    for _ in range(number):
        found = diff(*next(pairs), metrics)
        changes += any(line["verdict"] in ("worse", "better") for line in found.lines)
        alarms += found.regression
    return changes, alarms


def main(number: int) -> None:
    """Print a line for each kind of noise."""

    def show(says: str, n: int, found: tuple[int, int]) -> None:
        changes, alarms = (f"{100 * each / number:.1f} %" for each in found)
        print(f"| {says} | {n} | {changes} | {alarms} |", flush=True)

    for name, n in (("normal", 6), ("normal", 20), ("seldom", 12), ("heavy", 8), ("heavy", 30)):
        show(f"drawn, {name}", n, count(noise(name, n, "page"), number, METRICS))
    for scenario, (policy, _) in SIMULATED.items():
        runs = dealt(simulated(scenario, 400), 30, "page")
        show(f"`{policy}` on `{scenario}`, other seeds", 30, count(runs, number))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6_000)
