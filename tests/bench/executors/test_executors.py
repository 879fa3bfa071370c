from __future__ import annotations

import os
import signal
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

import pytest

from bench.executors import InProcess, Workers, available_jobs, local, opened, scatter
from bench.kit import Kit
from sim.errors import EvictbenchError


def double(n: int) -> int:
    return 2 * n


def fail_at_three(n: int) -> int:
    if n == 3:
        raise ValueError("three")
    return n


def process_of(n: int) -> int:
    time.sleep(0.01)
    return os.getpid()


def die(n: int) -> None:
    os._exit(1)


def dawdle(seconds: float) -> None:
    time.sleep(seconds)


class Watched(Executor):
    """Notes how many tasks were under way at most."""

    def __init__(self) -> None:
        self.most = 0
        self._open: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._open = [(future, batch) for future, batch in self._open if not future.done()]
        future: Future[Any] = Future()
        self._open.append((future, args[1]))
        self.most = max(self.most, len(self._open))
        if len(self._open) == 4:
            for waiting, batch in self._open:
                waiting.set_result([(task, 1.0) for task in batch])
        return future


def test_one_job_is_this_process() -> None:
    with local(1) as workers:
        assert isinstance(workers.executor, InProcess)
        assert set(scatter(workers, process_of, range(3))) == {os.getpid()}


def test_more_jobs_are_other_processes_and_every_result_comes_back() -> None:
    with local(2) as workers:
        assert sorted(scatter(workers, double, range(20))) == list(range(0, 40, 2))
        assert os.getpid() not in set(scatter(workers, process_of, range(4)))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_a_task_ends_it_all(jobs: int) -> None:
    with pytest.raises(ValueError, match="three"), local(jobs) as workers:
        list(scatter(workers, fail_at_three, range(100)))


def test_two_tasks_for_each_worker_are_under_way_and_no_more() -> None:
    executor = Watched()
    assert sorted(scatter(Workers(executor, 2), double, range(12))) == list(range(12))
    assert executor.most == 4


def test_what_was_done_is_told_before_the_rest_is_begun() -> None:
    done = []
    results = scatter(Workers(InProcess(), 1, worth=0), done.append, range(100))
    next(results)
    assert len(done) == 2


@pytest.mark.parametrize("given", [False, True])
def test_a_worker_that_dies_is_told(given: bool) -> None:
    pool = ProcessPoolExecutor(1) if given else None
    with pytest.raises(EvictbenchError, match="died"), opened(pool, 2, Kit.of) as workers:
        list(scatter(workers, die, range(4)))


def test_an_interrupt_does_not_wait_for_what_is_under_way() -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), local(2) as workers:
        assert sorted(scatter(workers, double, range(2))) == [0, 2]
        workers.executor.submit(dawdle, 60.0)
        raise KeyboardInterrupt
    assert time.monotonic() - started < 30.0


def test_an_interrupt_reaches_the_caller_of_this_process() -> None:
    def interrupt(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(scatter(Workers(InProcess(), 1), interrupt, range(3)))


def test_there_is_a_processor() -> None:
    assert available_jobs() >= 1


def test_an_interrupt_waits_until_a_worker_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    submit, started = ProcessPoolExecutor.submit, []

    def interrupted(self: ProcessPoolExecutor, fn: Any, /, *args: Any) -> Future[Any]:
        os.kill(os.getpid(), signal.SIGINT)
        started.append(submit(self, fn, *args))
        return started[-1]

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), local(2) as workers:
        workers.executor.submit(double, 1)
    assert len(started) == 1
    assert signal.getsignal(signal.SIGINT) == before
