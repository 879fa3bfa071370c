from __future__ import annotations

import os
import signal
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from bench.executors import InProcess, available_jobs, local, scatter


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
        self._open: list[Future[Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._open = [future for future in self._open if not future.done()]
        future: Future[Any] = Future()
        self._open.append(future)
        self.most = max(self.most, len(self._open))
        if len(self._open) == 3:
            for waiting in self._open:
                waiting.set_result(None)
        return future


def test_one_job_is_this_process() -> None:
    with local(1) as executor:
        assert isinstance(executor, InProcess)
        assert set(scatter(executor, process_of, range(3), 2)) == {os.getpid()}


def test_more_jobs_are_other_processes_and_every_result_comes_back() -> None:
    with local(2) as executor:
        assert sorted(scatter(executor, double, range(20), 4)) == list(range(0, 40, 2))
        assert os.getpid() not in set(scatter(executor, process_of, range(4), 4))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_a_task_ends_it_all(jobs: int) -> None:
    with pytest.raises(ValueError, match="three"), local(jobs) as executor:
        list(scatter(executor, fail_at_three, range(100), 2))


def test_no_more_than_asked_for_is_under_way() -> None:
    executor = Watched()
    assert list(scatter(executor, double, range(9), 3)) == [None] * 9
    assert executor.most == 3


def test_tasks_are_drawn_only_as_they_are_needed() -> None:
    drawn = []

    def tasks() -> Any:
        for n in range(100):
            drawn.append(n)
            yield n

    results = scatter(InProcess(), double, tasks(), 2)
    next(results)
    assert len(drawn) <= 3


def test_a_worker_that_dies_is_named() -> None:
    with pytest.raises(BrokenProcessPool), local(2) as executor:
        list(scatter(executor, die, range(4), 4))


def test_an_interrupt_does_not_wait_for_what_is_under_way() -> None:
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), local(2) as executor:
        assert sorted(scatter(executor, double, range(2), 2)) == [0, 2]
        executor.submit(dawdle, 60.0)
        raise KeyboardInterrupt
    assert time.monotonic() - started < 30.0


def test_an_interrupt_reaches_the_caller_of_this_process() -> None:
    def interrupt(n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(scatter(InProcess(), interrupt, range(3), 2))


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
    with pytest.raises(KeyboardInterrupt), local(2) as executor:
        executor.submit(double, 1)
    assert len(started) == 1
    assert signal.getsignal(signal.SIGINT) == before
