"""Where runs are carried out: in this process, or in worker processes of this machine.

Both are a ``concurrent.futures.Executor``; whatever else is one can stand in for them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

__all__ = ["InProcess", "available_jobs", "local", "scatter"]

Task = TypeVar("Task")
Result = TypeVar("Result")


class InProcess(Executor):
    """Carries out each task in this process, at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def available_jobs() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def local(jobs: int) -> Iterator[Executor]:
    """Give an executor of *jobs* processes, this one alone if there is but one.

    Left by an exception, it ends its processes without waiting for what they are at.
    """
    if jobs == 1:
        yield InProcess()
        return
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        _start_server()
    before = set(multiprocessing.active_children())
    pool = _Pool(jobs, mp_context=context, initializer=_set_up_worker)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    pool.shutdown()


def scatter(
    executor: Executor, fn: Callable[[Task], Result], tasks: Iterable[Task], ahead: int
) -> Iterator[Result]:
    """Yield what *fn* returns for each of *tasks* as it comes, at most *ahead* of them under way.

    The first exception of a task ends the iteration.
    """
    waiting = iter(tasks)
    running: set[Future[Result]] = set()
    while True:
        for task in islice(waiting, ahead - len(running)):
            running.add(executor.submit(fn, task))
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


def _start_server() -> None:
    """Start what forks the workers, deaf to Ctrl-C from its first line on, as they are then."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # it unblocks what is blocked before it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Put a Ctrl-C off until this is over; only the main thread is ever interrupted by one."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


class _Pool(ProcessPoolExecutor):
    """A pool that is not interrupted while it starts a process, which nobody would then end."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with _no_interrupt():
            return super().submit(fn, *args, **kwargs)


def _set_up_worker() -> None:
    """Leave Ctrl-C to the process that collects, and end with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
