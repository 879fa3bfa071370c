"""Workers by what a user asks for: a word, the address of a cluster, or an executor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import AbstractContextManager, contextmanager

from bench.executors.processes import local
from bench.executors.workers import DIED, Workers
from sim.errors import EvictbenchError

__all__ = ["opened"]


def opened(executor: Executor | None, jobs: int) -> AbstractContextManager[Workers]:
    """Return the workers that *executor* stands for, to be used in a ``with``.

    None is *jobs* processes of this machine; an Executor is used as it is, for *jobs* tasks at a
    time. Raises EvictbenchError where a worker has died and the others cannot go on.
    """
    return local(jobs) if executor is None else _given(executor, jobs)


@contextmanager
def _given(executor: Executor, jobs: int) -> Iterator[Workers]:
    try:
        yield Workers(executor, jobs)
    except BrokenExecutor:
        raise EvictbenchError(DIED) from None
