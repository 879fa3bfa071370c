"""Every token of every request is due to something: against a second, naive reckoning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.registry import make, names
from sim.engine import Run, run
from sim.prices import CacheRules, Price, Speed
from sim.records import Record, to_dict
from sim.script import CHANGES, Arrival, Change, KeepAlive, Script, Wait
from sim.streams import uniform
from tests.support.attribution import explain
from tests.support.chaos import Chaos
from tests.support.dense import dense
from tests.support.scripts import scripts
from tests.test_random_runs import examples

SPEED = Speed(1_000.0, 10_000.0, 0.5, 100.0)
AUTO = Price("auto", 2.0, 2.5, 0.2, 10.0, CacheRules("auto", 40, 16, 60.0), SPEED)
MARKED = replace(
    AUTO,
    name="marked",
    rules=CacheRules("breakpoints", minimum=30, ttl=60.0, lookback=3, long_ttl=600.0),
    long_write=4.0,
    cliff_tokens=400,
    cliff_input=2.0,
)
BLOCKS = replace(AUTO, name="blocks", rules=CacheRules("blocks", step=8, capacity=40))
PRICES = (AUTO, MARKED, BLOCKS, replace(AUTO, rules=CacheRules("none")))
NAMED = replace(
    AUTO,
    name="named",
    rules=CacheRules("breakpoints", ttl=60.0, marks="head", renews=False, lookback=None),
    storage=4.5,
    cliff_tokens=300,
    cliff_input=2.0,
    cliff_inclusive=True,
)
LATEST = replace(MARKED, name="latest", rules=replace(MARKED.rules, lookback=None, matched=3))
NEAR = replace(MARKED, name="near", rules=replace(MARKED.rules, lookback=0))


class Told(Chaos):
    """Chaos that says which of its rewrites are whole: all, where one may come to nothing.

    Of a request that came to nothing no record says what it was sent for.
    """

    def __init__(self, seed: int, script: Script) -> None:
        super().__init__(seed)
        self._whole = script.settings["summariser.fail"] > 0

    def _some(self, view: Any, share: float) -> Iterator[Any]:
        for action in super()._some(view, share):
            if hasattr(action, "whole"):
                action = replace(action, whole=action.whole or self._whole)
                action = replace(action, reason="compaction" if action.whole else "chaos")
            yield action


def shaken(script: Script, seed: int) -> Script:
    """Return *script* with waits, pings and changes at turns that *seed* picks."""
    more: list[Any] = []
    for turn in range(2, script.settings["turns"] + 1):
        if uniform(seed, "wait", turn) < 0.5:
            more.append(Wait(turn, (10.0, 60.0, 130.0)[int(uniform(seed, "long", turn) * 3)]))
        if uniform(seed, "ping", turn) < 0.4:
            more.append(KeepAlive(turn, (25.0, 60.0)[int(uniform(seed, "every", turn) * 2)]))
        if uniform(seed, "change", turn) < 0.3:
            what = CHANGES[int(uniform(seed, "what", turn) * len(CHANGES))]
            more.append(Change(turn, what, ("default", "low")[turn % 2]))
    return replace(script, stimuli=(*script.stimuli, *more))


def _purpose(given: dict[str, Any], records: Sequence[Record]) -> str | None:
    """Return what a request that answers nothing is sent for."""
    if given["type"] == "ping":
        return "keep-alive"
    if given["type"] == "wasted":
        return "compaction"
    if given["type"] == "maintain":
        (reason,) = {r[9] for r in records if r[0] == "rewrite" and r[3] == given["surrogate"]}
        return "compaction" if reason == "compaction" else "rewrite"
    return None


def agrees(found: Run, price: Price, long: int = 0, placed: Sequence[str] = ()) -> None:
    """Check causes, dollars, S, what was broken and w of every request."""
    passes: list[Record] = []
    told = {id(each.record): each for each in explain(found.records, price, long, placed)}
    for record in found.records:
        if record[0] == "pass":
            passes.append(record)
        each = told.get(id(record))
        if each is None:
            continue
        given = to_dict(record)
        causes = {cause: (tokens, usd) for cause, tokens, usd in given["causes"]}
        purpose = _purpose(given, found.records)
        tokens, dollars = dict(each.tokens), dict(each.dollars)
        if purpose is not None:
            calls = given.get("calls", 1)
            size = sum(tokens.values()) // calls
            output = calls * price.output_cost(given["output"] // calls, size)
            tokens[purpose] = tokens.get(purpose, 0) + tokens.pop("read", 0)
            dollars[purpose] = dollars.get(purpose, 0.0) + dollars.pop("read", 0.0) + output
        assert {c: n for c, (n, _) in causes.items() if n} == {c: n for c, n in tokens.items() if n}
        for cause, (_, usd) in causes.items():
            assert usd == pytest.approx(dollars[cause], rel=1e-9, abs=1e-15), cause
        if passes:
            said = to_dict(passes.pop())
            assert (said["behind"], said["broken"], said["live"], said["write"]) == (
                each.behind, each.broken, each.live, each.write,
            )  # fmt: skip


@pytest.mark.parametrize("price", PRICES, ids=lambda price: price.rules.rule)
@pytest.mark.parametrize("policy", [*names(), "tiered:order=first", "tag-or-drop:tag=off"])
def test_policies_on_dense_scripts(policy: str, price: Price) -> None:
    for seed in range(4):
        script = shaken(dense(seed), seed)
        long = seed % 3 if price.long_write else 0
        script = replace(script, settings={**script.settings, "cache.long": long})
        agrees(run(script, make(policy), price), price, long)


@pytest.mark.parametrize("price", (*PRICES, NAMED, LATEST, NEAR), ids=lambda price: price.name)
def test_chaos_on_dense_scripts(price: Price) -> None:
    for seed in range(20):
        script = shaken(dense(seed, harness=seed % 2 == 1), seed)
        agrees(run(script, Told(seed, script), price), price)


@pytest.mark.parametrize("price", (MARKED, NAMED, LATEST, NEAR), ids=lambda price: price.name)
def test_breakpoints_that_stand_from_the_beginning(price: Price) -> None:
    """Two changes a turn, and marks after some of what comes first."""
    for seed in range(20):
        script = shaken(shaken(dense(seed), seed), seed + 100)
        placed = tuple(s.id for s in script.stimuli if isinstance(s, Arrival))[: seed % 5]
        long = seed % 4 if price.long_write else 0
        settings = {**script.settings, "cache.breakpoints": placed, "cache.long": long}
        policy = make(names()[seed % len(names())])
        agrees(run(replace(script, settings=settings), policy, price), price, long, placed)


@given(scripts(), st.integers(0, 99), st.sampled_from(PRICES), st.booleans())
@examples(60)
def test_anything(script: Script, seed: int, price: Price, chaotic: bool) -> None:
    script = shaken(script, seed)
    policy: Any = Told(seed, script) if chaotic else make(names()[seed % len(names())])
    agrees(run(script, policy, price), price)
