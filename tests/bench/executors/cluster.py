"""A Dask cluster made of processes of its own, on this machine and on no fixed port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = "127.0.0.1"
PATIENCE = 60.0


def wait_for(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


class Cluster:
    """A scheduler, and workers that can be started and killed.

    *folder* is where they run and write what they say. A worker has the code of this checkout
    unless it is given another path of modules.
    """

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self._environment = environment
        self._file = folder / "scheduler.json"

    def start(self) -> None:
        """Start the scheduler, and wait until it listens."""
        options = ("--host", HERE, "--port", "0", "--idle-timeout", "5 minutes")
        self.scheduler = self._start("scheduler", *options, "--scheduler-file", self._file)
        wait_for(lambda: self.scheduler.poll() is not None or self._file.exists())

    @property
    def address(self) -> str:
        """What ``--executor`` is given."""
        return self._address().replace("tcp://", "dask://")

    def add_worker(self, path: Path | str = ROOT, *options: str) -> subprocess.Popen[bytes]:
        """Start a worker of one thread that nobody starts again, and wait until it is known."""
        known = self.known()
        more = ("--no-nanny", "--nthreads", "1", "--death-timeout", "30", *options)
        worker = self._start(
            *("worker", "--scheduler-file", self._file, "--host", HERE, *more), path=path
        )
        self.workers.append(worker)
        wait_for(lambda: self.known() > known)
        return worker

    def known(self) -> int:
        """How many workers the scheduler knows."""
        from distributed import Client

        with Client(self._address(), set_as_default=False) as client:
            return len(client.nthreads())

    def stop(self) -> None:
        """End every process there is."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)

    def _start(self, *arguments: object, path: Path | str = ROOT) -> subprocess.Popen[bytes]:
        said = self.folder / f"{len(self._processes)}.log"
        command = [sys.executable, "-m", "dask", *map(str, arguments), "--no-dashboard"]
        with said.open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(path), **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def _address(self) -> str:
        address: str = json.loads(self._file.read_text())["address"]
        return address


@contextmanager
def running(folder: Path, workers: int, **environment: str) -> Iterator[Cluster]:
    """Give a cluster of so many *workers*, which ends whatever happens."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder, **environment)
    try:
        cluster.start()
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.stop()
