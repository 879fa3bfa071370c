"""Workers by what a user asks for: a word, the address of a cluster, or an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from bench.executors.address import PROCESSES, scheduler
from bench.executors.processes import local
from bench.executors.workers import DIED, Workers
from sim.errors import EvictbenchError

if TYPE_CHECKING:
    from bench.kit import Kit

__all__ = ["opened"]


def opened(
    executor: str | Executor | None, jobs: int, kit: Callable[[], Kit]
) -> AbstractContextManager[Workers]:
    """Return the workers that *executor* stands for, to be used in a ``with``.

    ``processes``, or None, is *jobs* processes of this machine, ``dask`` a Dask cluster of as many;
    ``dask://HOST:PORT`` the workers of a scheduler, all of which must have the *kit*; an Executor
    is used as it is, for *jobs* tasks at a time. Raises InputError for what cannot be used, and
    EvictbenchError where a worker has died and the others cannot go on.
    """
    if isinstance(executor, Executor):
        return _given(executor, jobs)
    address = scheduler(executor or PROCESSES)
    if executor in (None, PROCESSES):
        return local(jobs)
    from bench.executors.dask import connected, started

    return started(jobs, kit()) if address is None else connected(address, kit())


@contextmanager
def _given(executor: Executor, jobs: int) -> Iterator[Workers]:
    try:
        yield Workers(executor, jobs)
    except BrokenExecutor:
        raise EvictbenchError(DIED) from None
