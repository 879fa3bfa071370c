"""Comparisons on clusters of real processes: rows are those of a serial run, whatever befalls."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import pytest
from distributed import Client

from bench import api, break_even
from bench.code_digest import PACKAGES
from bench.executors import dask
from bench.output import csv_text
from sim.errors import EvictbenchError, InputError
from tests.bench.executors.cluster import PATIENCE, ROOT, Cluster, running, wait_for
from tests.scenarios.transcripts.made import short

POLICIES = ["tiered", "no-op"]
LONG: dict[str, Any] = {"seeds": 20, "settings": {"turns": 60}}
BRIEF: dict[str, Any] = {"seeds": 3, "settings": {"turns": 12}}

MINE = """
class Mine:
    label = "mine"

    def before_call(self, view):
        return ()
"""

STAYS = """
import os
import time
from pathlib import Path

class Stays:
    label = "stays"

    def before_call(self, view):
        if os.getpid() == {victim}:
            Path({mark!r}).touch()
            time.sleep(600)
        return ()
"""

DEADLY = """
import os

class Deadly:
    label = "deadly"

    def before_call(self, view):
        os._exit(1)
"""

WATCHED = """
import os
from pathlib import Path

class Watched:
    label = "watched"

    def before_call(self, view):
        if view.turn == 1:
            with Path({log!r}).open("a") as log:
                log.write(f"{{os.getpid()}}\\n")
        return ()
"""

BOOK = """
[prices.mine]
like = "claude-sonnet-5"
input = 1.0
assumed = ["input"]
"""

HIDDEN = """
import sys
from pathlib import Path

sys.path[:] = [path for path in sys.path if not (Path(path or ".") / "bench").is_dir()]
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running(tmp_path_factory.mktemp("cluster"), workers=2) as found:
        yield found


@pytest.fixture(scope="module")
def serial() -> str:
    """The rows of one process, as text."""
    return text_of(compared(None))


def compared(executor: str | None, policies: list[str] = POLICIES, **more: Any) -> api.Comparison:
    return api.compare(["doc-analysis"], policies, executor=executor, **{**LONG, **more})


def text_of(comparison: api.Comparison) -> str:
    return csv_text(comparison.rows, comparison.columns)


class Once:
    """A report that does something as soon as a run has ended, and once."""

    def __init__(self, act: Any) -> None:
        self._act = act
        self.at = 0

    def __call__(self, done: int, planned: int) -> None:
        if done and not self.at:
            assert done < planned
            self.at = done
            self._act()


# -- whatever befalls the workers ------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_works_changes_nothing(tmp_path: Path) -> None:
    policy, stays = tmp_path / "stays.py", tmp_path / "stays"
    with running(tmp_path / "cluster", workers=2) as cluster:
        victim, other = cluster.workers
        policy.write_text(STAYS.format(victim=victim.pid, mark=str(stays)))

        def kill() -> None:
            wait_for(stays.exists)
            victim.kill()

        midway = Once(kill)
        policies = [*POLICIES, f"{policy}:Stays"]
        found = compared(cluster.address, policies, report=midway)
        assert midway.at
        assert victim.wait(PATIENCE) == -signal.SIGKILL
        assert other.poll() is None
    assert len(found.rows) == 20 * len(policies)
    assert text_of(found) == text_of(compared(None, policies))
    assert (found.manifest["effort"]["jobs"], found.manifest["effort"]["executor"]) == (
        2,
        cluster.address,
    )


@pytest.mark.slow
def test_a_worker_that_comes_later_takes_part(tmp_path: Path) -> None:
    log, policy = tmp_path / "log", tmp_path / "watched.py"
    policy.write_text(WATCHED.format(log=str(log)))
    with running(tmp_path / "cluster", workers=1) as cluster:
        compared(cluster.address, [f"{policy}:Watched"], report=Once(cluster.add_worker))
        assert set(map(int, log.read_text().split())) == {w.pid for w in cluster.workers}


@pytest.mark.slow
def test_a_worker_that_comes_later_with_other_code_ends_it_and_what_was_done_is_kept(
    tmp_path: Path, other_code: Path, serial: str
) -> None:
    with running(tmp_path / "cluster", workers=1) as cluster:
        come = Once(lambda: cluster.add_worker(other_code))
        found = compared(cluster.address, report=come, partial=True)
    assert type(found.stopped) is EvictbenchError
    assert "came later, has other code of evictbench" in str(found.stopped)
    kept, whole = text_of(found).splitlines(), serial.splitlines()
    assert 1 < len(kept) < len(whole)
    assert set(kept) < set(whole)


@pytest.mark.slow
def test_a_task_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    policy = tmp_path / "deadly.py"
    policy.write_text(DEADLY)
    allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    says = "^2 workers died one after another at the same task, the last of them tcp://"
    with (
        running(tmp_path / "cluster", workers=2, **allowed) as cluster,
        pytest.raises(EvictbenchError, match=says),
    ):
        compared(cluster.address, [f"{policy}:Deadly"], seeds=1)


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_it_and_what_was_done_is_kept(
    tmp_path: Path, serial: str
) -> None:
    with running(tmp_path, workers=1) as cluster:
        found = compared(cluster.address, report=Once(cluster.scheduler.kill), partial=True)
    assert str(found.stopped) == "the connection to the scheduler was lost"
    kept, whole = text_of(found).splitlines(), serial.splitlines()
    assert 1 < len(kept) < len(whole)
    assert set(kept) < set(whole)


# -- what a worker must have -----------------------------------------------------------------


@pytest.fixture
def other_code(tmp_path: Path) -> Path:
    """This code with a line more in one of its files."""
    root = tmp_path / "other"
    for package in PACKAGES:
        copytree(ROOT / package, root / package, ignore=ignore_patterns("__pycache__"))
    with (root / "sim" / "engine.py").open("a") as file:
        file.write("# more\n")
    return root


@pytest.mark.slow
def test_workers_without_this_code_are_refused_by_name(tmp_path: Path, other_code: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(HIDDEN)
    with running(tmp_path / "cluster", workers=1) as cluster:
        for path, says in (
            (other_code, r"has other code of evictbench \(sim/engine.py\)"),
            (hidden, "has no evictbench"),
        ):
            worker = cluster.add_worker(path)
            with pytest.raises(InputError, match=rf"^worker tcp://127\.0\.0\.1:\d+ {says}$"):
                compared(cluster.address, **BRIEF)
            worker.kill()
            wait_for(lambda: cluster.known() == 1)


@pytest.mark.slow
def test_a_policy_of_ones_own_need_not_be_there(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    policies = ["mine.py:Mine", "no-op"]
    assert not (cluster.folder / "mine.py").exists()
    found = compared(cluster.address, policies, **BRIEF)
    assert text_of(found) == text_of(compared(None, policies, **BRIEF))
    Path("mine.py").write_text(MINE.replace('"mine"', '"theirs"'))
    assert compared(cluster.address, policies, **BRIEF).manifest["policies"] == ["no-op", "theirs"]


@pytest.mark.slow
def test_a_policy_that_needs_more_than_its_file_is_refused(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lies_beside.py").write_text("")
    policy = tmp_path / "mine.py"
    policy.write_text("import lies_beside\n" + MINE)
    with pytest.raises(InputError, match=r"^worker tcp://.* cannot make the policy .*mine.py:Mine"):
        compared(cluster.address, [f"{policy}:Mine"], **BRIEF)


@pytest.mark.slow
def test_files_must_lie_there_at_the_same_path(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    short().write(tmp_path / "a.jsonl")
    whole, away = str(tmp_path / "a.jsonl"), cluster.address
    alone = api.replay([whole], POLICIES)
    assert text_of(api.replay([whole], POLICIES, executor=away)) == text_of(alone)
    with pytest.raises(InputError, match=r"^the worker on .* has no a.jsonl$"):
        api.replay(["a.jsonl"], POLICIES, executor=away)
    Path("mine.toml").write_text(BOOK)
    mine = {"prices": str(tmp_path / "mine.toml"), "price": "mine", **BRIEF}
    assert text_of(compared(away, **mine)) == text_of(compared(None, **mine))
    with pytest.raises(InputError, match=r"^worker tcp://.* has no mine.toml; 1 more of 2 are"):
        compared(away, **{**mine, "prices": "mine.toml"})


@pytest.mark.slow
def test_the_passes_of_a_cluster_are_those_of_one_process(cluster: Cluster) -> None:
    small = {"turns": 40, "budget": 30_000}
    work = break_even.workload(["doc-analysis"], POLICIES, seeds=3, settings=small)
    found = break_even.collect(work, executor=cluster.address)
    assert found == break_even.collect(work)
    assert sum(len(run.passes) for run in found) > 0


# -- a cluster of this machine ---------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_cluster_of_this_machine_gives_the_rows_of_a_serial_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as taken:
        with suppress(OSError):  # whoever has it, it is taken
            taken.bind(("127.0.0.1", 8787))  # where Dask would show a dashboard
            taken.listen()
        found = compared("dask", jobs=2, **BRIEF)
    assert capfd.readouterr() == ("", "")
    assert text_of(found) == text_of(compared(None, **BRIEF))
    assert (found.manifest["effort"]["jobs"], found.manifest["effort"]["executor"]) == (2, "dask")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux's /proc")
def test_an_interrupt_of_all_keeps_what_was_finished_and_leaves_nothing(tmp_path: Path) -> None:
    runs, policy, out = tmp_path / "log", tmp_path / "watched.py", tmp_path / "out"
    policy.write_text(WATCHED.format(log=str(runs)))
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "bench", "compare", "doc-analysis", "-p", f"{policy}:Watched"),
            *("--seeds", "50000", "--set", "turns=5", "--executor", "dask", "--jobs", "2"),
            *("--out", str(out), "--format", "json"),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(lambda: runs.exists() and len(runs.read_text().split()) > 200)
        os.killpg(process.pid, signal.SIGINT)
        printed, says = process.communicate(timeout=PATIENCE)
    finally:
        with pytest.raises(ProcessLookupError):
            wait_for(lambda: os.killpg(process.pid, 0) is not None, seconds=10)
    rows = len(json.loads(printed)["rows"])
    assert process.returncode == 130
    assert 0 < rows < 50_000
    assert says == (
        f"evictbench: interrupted; {rows} of 50000 runs were finished and are kept in {out}\n"
    )


# -- where there is no cluster ---------------------------------------------------------------


def test_a_scheduler_that_is_not_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "REACHED", 0.2)
    with pytest.raises(InputError, match=r"^no scheduler is reached at tcp://127\.0\.0\.1:1: "):
        compared("dask://127.0.0.1:1", **BRIEF)


@pytest.mark.parametrize(
    ("greeting", "says"),
    [(b"", "nothing that listens there answers"), (b"SSH-2.0-x\r\n" * 9, "what is there is none")],
    ids=["silent", "other"],
)
def test_what_is_no_scheduler_is_told(
    monkeypatch: pytest.MonkeyPatch, greeting: bytes, says: str
) -> None:
    monkeypatch.setattr(dask, "REACHED", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(greeting)
                while connection.recv(1024):
                    pass

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        told = f"^no scheduler is reached at tcp://{address}: {says}"
        with pytest.raises(InputError, match=told):
            compared(f"dask://{address}", **BRIEF)
        thread.join(PATIENCE)


@pytest.mark.slow
def test_a_worker_is_no_scheduler(cluster: Cluster) -> None:
    with Client(cluster.address.replace("dask:", "tcp:"), set_as_default=False) as client:
        worker = min(client.scheduler_info()["workers"])
    with pytest.raises(InputError, match=rf"^no scheduler is reached at {worker}: it is a worker$"):
        compared(worker, **BRIEF)


@pytest.mark.slow
def test_a_scheduler_without_workers_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "STAFFED", 0.2)
    with (
        running(tmp_path, workers=0) as cluster,
        pytest.raises(InputError, match=r"^the scheduler at tcp://.* has no workers$"),
    ):
        compared(cluster.address, **BRIEF)


def test_the_docs_say_how_long_is_waited() -> None:
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    waited = (
        f"answers within {dask.REACHED:.0f} seconds, or it has no workers for {dask.STAFFED:.0f}"
    )
    assert waited in page


def test_what_to_install_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install evictbench\[cluster\]$"):
        compared("dask", **BRIEF)
