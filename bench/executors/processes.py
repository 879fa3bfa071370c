"""Worker processes of this machine, which leave Ctrl-C to the process that collects."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from bench.executors.in_process import InProcess
from bench.executors.interrupts import deaf, put_off
from bench.executors.workers import DIED, Workers
from sim.errors import EvictbenchError

__all__ = ["available_jobs", "local"]


def available_jobs() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def local(jobs: int) -> Iterator[Workers]:
    """Give *jobs* processes of this machine, this one alone if there is but one.

    Left by an exception, it ends its processes without waiting for what they are at. Raises
    EvictbenchError where one of them has died.
    """
    if jobs == 1:
        yield Workers(InProcess(), 1, worth=0)
        return
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        from multiprocessing import forkserver

        with deaf():
            forkserver.ensure_running()
    before = set(multiprocessing.active_children())
    pool = _Pool(jobs, mp_context=context, initializer=_set_up_worker)
    try:
        yield Workers(pool, jobs)
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise EvictbenchError(DIED) from None
        raise
    pool.shutdown()


class _Pool(ProcessPoolExecutor):
    """A pool that is not interrupted while it starts a process, which nobody would then end."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with put_off():
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
