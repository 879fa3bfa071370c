"""The simulator against a second, deliberately naive implementation, in every metric.

What both take from the definition as one of several possible readings stands as a named constant
at the head of the modules of ``tests.oracle``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from bench.cells import run_one
from policies import registry
from scenarios import catalogue
from sim.script import Arrival, Script, script_to_json
from tests.oracle import run as naive
from tests.oracle.policies import POLICIES as KNOWN
from tests.support.dense import dense
from tests.test_random_paging import written

POLICIES = [name for name in registry.names() if name in KNOWN]
"""The policies that the definition describes."""
FORMS = (
    "arrival=on",
    "arrival=off",
    "arrival=head-tail",
    "arrival=page",
    "arrival=spill",
    "delta=on",
    "arrival=page,delta=on",
    "arrival=spill,delta=on",
)
"""Forms in which results enter."""
TIERED = tuple(f"tiered:{form}" for form in FORMS)
DISCIPLINED = tuple(f"disciplined:{form}" for form in FORMS)
PRICES: tuple[dict[str, Any], ...] = (
    {"price": "claude-sonnet-5", "cache.minimum": 16},
    {"price": "gpt-4.1", "cache.minimum": 64, "cache.step": 16},
)
"""Small minima, so that small requests are cached."""


def _stories() -> Iterator[str]:
    for name in catalogue.names():
        scenario = catalogue.load(name)
        if scenario.kind == "story":
            yield name
            yield from (f"{name}/{flip}" for flip in (*scenario.flips, *scenario.variants))


def _agree(script: Script, policy: str) -> None:
    ours, _ = run_one(script, policy)
    if ours["status"] == "not-applicable":
        return
    theirs = naive(json.loads(json.dumps(script_to_json(script))), policy)
    apart = {
        name: (value, ours[name])
        for name, value in theirs.items()
        if name != "reason" and not _equal(value, ours[name])
    }
    assert not apart, f"{policy}; naive, ours: {apart}"


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and one == pytest.approx(other, rel=1e-9)
    return bool(one == other)


def _priced(script: Script, seed: int, **more: Any) -> Script:
    return replace(script, settings={**script.settings, **PRICES[seed % 2], **more})


@pytest.mark.parametrize("name", list(_stories()))
def test_stories(name: str) -> None:
    script = catalogue.load(name).script(0)
    for policy in POLICIES:
        _agree(script, policy)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in _stories()
        if name.startswith(("last-of-forty", "first-of-each-file", "signature-change"))
    ],
)
def test_forms_in_which_a_result_enters(name: str) -> None:
    script = catalogue.load(name).script(0)
    for policy in (*TIERED, *DISCIPLINED):
        _agree(script, policy)


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize(
    ("name", "budget"),
    [("doc-analysis", 30_000), ("coding-agent", 60_000), ("support-agent", 20_000)],
)
def test_families(name: str, budget: int, keep: int) -> None:
    overrides = {"turns": 50, "budget": budget, "surrogate.keep": keep}
    script = catalogue.load(name, overrides).script(keep)
    for policy in POLICIES:
        _agree(script, policy)


def _paged(seed: int) -> Script:
    """Return results over their limits and questions for what stands in them."""
    pick = random.Random(seed)
    draw = pick.randint
    results = []
    for _ in range(draw(1, 6)):
        facts = [(draw(0, 1_000), draw(0, 3)) for _ in range(draw(0, 4))]
        results.append((draw(1, 900), draw(10 if seed % 3 else 40, 300), draw(1, 6), facts))
    budget = pick.choice((draw(50, 1_500), draw(300, 1_500), 1_000_000))
    script = written(results, budget, pick.random() < 0.5)
    if seed % 2:
        script = replace(script, stimuli=tuple(map(_of_two_tools, script.stimuli)))
    more: dict[str, Any] = {}
    if seed % 5 == 0:
        shares = {"fetch_tagged": 0.5, "abstain_tagged": 0.3, "invent_tagged": 0.2}
        more = {f"reader.{name}": share for name, share in shares.items()}
    if seed % 7 == 0:
        more["surrogate.keep"] = 0.5
    return _priced(script, seed, **more)


def _of_two_tools(stimulus: Any) -> Any:
    """Let results supersede one another."""
    if not isinstance(stimulus, Arrival) or stimulus.tool is None:
        return stimulus
    return replace(stimulus, tool="lint" if stimulus.tool[-1] in "024" else "tests")


@pytest.mark.parametrize("block", range(8))
def test_results_that_are_read_page_by_page(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        script = _paged(seed)
        for policy in (*TIERED, *DISCIPLINED):
            _agree(script, policy)


@pytest.mark.parametrize("seed", range(40))
def test_long_runs_in_which_everything_happens_often(seed: int) -> None:
    script = _priced(dense(seed), seed)
    for policy in POLICIES:
        _agree(script, policy)


@pytest.mark.parametrize("seed", range(40, 52))
def test_long_runs_with_each_form(seed: int) -> None:
    script = _priced(dense(seed), seed)
    for policy in (*TIERED[1:], *DISCIPLINED[1:]):
        _agree(script, policy)
