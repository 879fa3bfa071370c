"""A sweep on a cluster of real processes, one of which is killed midway: nothing changes."""

from __future__ import annotations

import signal

import pytest

from bench import api
from tests.bench.executors.cluster import PATIENCE, running

VARY = ["salience.decay=0.5:0.99:4", "rehydrate.threshold=0.1:0.9:3"]


def swept(out, **more):
    more |= {"seeds": 4, "settings": {"turns": 60, "budget": 20_000}, "turns": True}
    api.sweep("doc-analysis", ["slack-swap-refuse"], VARY, out=out, **more)
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.mark.slow
def test_a_killed_worker_changes_no_byte(tmp_path):
    with running(tmp_path / "cluster", workers=2) as cluster:
        killed = []

        def kill(done, planned):
            if done and not killed:
                assert done < planned
                killed.append(done)
                cluster.workers[0].kill()

        found = swept(tmp_path / "cluster-sweep", executor=cluster.address, report=kill)
        assert killed and cluster.workers[0].wait(PATIENCE) == -signal.SIGKILL
    assert found == swept(tmp_path / "serial") and "turns.parquet" in found
