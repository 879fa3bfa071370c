"""The simulator against a second, deliberately naive implementation, in every metric."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bench.cells import run_one
from policies import registry
from scenarios import catalogue
from sim.script import Script, script_to_json
from tests.oracle import run as naive

POLICIES = registry.names()


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
    assert not apart, "naive, ours: " + repr(apart)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and one == pytest.approx(other, rel=1e-9)
    return bool(one == other)


@pytest.mark.parametrize("name", list(_stories()))
def test_stories(name: str) -> None:
    script = catalogue.load(name).script(0)
    for policy in POLICIES:
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
