"""What stands at each moment of random runs, against the engine's own state and reader."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.explain.findings import findings, is_wrong, tell
from bench.explain.standing import ABSENT, LOST, OPEN, READABLE, Reader, of_fact
from policies.registry import make, names
from sim.engine import lacking
from tests.bench.explain.live import play
from tests.support.chaos import Chaos
from tests.support.dense import dense
from tests.support.scripts import scripts

MANY = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LEVELS = {"correct": READABLE, "asks": OPEN, "never": LOST}
POLICIES = (*names(), "tiered:arrival=page,delta=on", "disciplined:arrival=spill", "chaos")


def keys_of(script):
    stimuli = [*script.stimuli, *(s for a in script.attempts for s in (*a.ok, *a.failed))]
    return sorted({fact.key for s in stimuli for fact in getattr(s, "facts", None) or ()})


def same(script, policy):
    """Check what is rebuilt of a run, record by record, against the engine as it was then."""
    keys = keys_of(script)
    live = play(script, policy, keys)
    told = tell(script, live.records)
    world, reader = told.rebuilt(), Reader.of(told.settings)
    pending = set()
    for index, record in enumerate(live.records):
        world.apply(record, told.follower(index))
        if record[0] == "arrive":
            pending.add(record[3])
        elif record[0] in ("admit", "refuse"):
            pending.discard(record[3])
        expected = live.windows[index]
        assert [(i.id, i.tokens) for i in world.window] == [(n, t) for n, t, _ in expected]
        for item, (_, _, s) in zip(world.window, expected, strict=True):
            if record[0] not in ("turn", "attempt", "score", "run"):
                assert world.salience(item) == pytest.approx(s, rel=1e-9, abs=1e-12)
        if pending or record[0] in ("arrive", "page", "write"):
            continue
        for key in keys:
            level = of_fact(world, key, reader)
            if level != ABSENT:
                assert level == LEVELS[live.possible[index][key]], (index, record, key)
    return told


@MANY
@given(scripts(), st.sampled_from(POLICIES), st.integers(0, 9))
def test_what_stands_is_what_the_engine_holds(script, name, seed):
    policy = Chaos(seed) if name == "chaos" else make(name)
    if lacking(script, policy):
        return
    agree(script, policy)


def agree(script, policy):
    """Check that what a wrong answer came of is what stood when it was given."""
    told = same(script, policy)
    for finding in findings(told):
        record = told.records[finding.index]
        assert is_wrong(record)
        if finding.level == READABLE:
            assert "distraction" in finding.cause
        if finding.level == OPEN:
            assert "distraction" in finding.cause or finding.cause.startswith(("tagged", "paged"))
        if finding.level == LOST:
            assert finding.lost is not None and finding.lost < finding.index


@pytest.mark.parametrize("seed", range(24))
def test_what_stands_in_long_runs(seed):
    name = POLICIES[seed % len(POLICIES)]
    script = dense(seed)
    policy = Chaos(seed) if name == "chaos" else make(name)
    if lacking(script, policy):
        pytest.skip("not applicable")
    agree(script, policy)
