"""A Dask cluster: one that is running somewhere, or one of this machine for as long as it takes.

A task of a worker that is lost is done by another. The workers are looked at before the work
begins, and each that comes later before its first task, so that all rows are as this process
would make them.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from bench.code_digest import PACKAGES, code_files, differing
from bench.executors.interrupts import deaf
from bench.executors.parcel import Parcel
from bench.executors.workers import Workers
from bench.kit import CODE, Kit
from sim.errors import EvictbenchError, InputError

__all__ = ["connected", "started"]

REACHED = 5.0
"""Seconds in which a scheduler must answer."""

STAFFED = 30.0
"""Seconds in which a scheduler must have a worker."""

CLOSED = 5.0
"""Seconds that a connection has to close in good order."""

_HERE = "127.0.0.1"

_LOST = "the connection to the scheduler was lost"

_NAMED = 3
"""Files that are named of those that differ."""

Client = Any
"""A ``distributed.Client``; the library is not there unless it was asked for."""


@contextmanager
def connected(address: str, kit: Kit) -> Iterator[Workers]:
    """Give the workers of the scheduler at *address*, all of which have the *kit*.

    Raises InputError where there is no such scheduler, where it has no workers and where one of
    them lacks something; EvictbenchError where the cluster fails later.
    """
    _require()
    from distributed import Client

    with _quiet():
        _greet(address)
        try:
            client = Client(address, timeout=REACHED, set_as_default=False)
        except (OSError, ValueError) as error:
            why = " ".join(str(error).split())
            raise InputError(f"no scheduler is reached at {address}: {why}") from None
        with _closing(client):
            try:
                client.wait_for_workers(1, timeout=STAFFED)
            except TimeoutError:
                raise InputError(f"the scheduler at {address} has no workers") from None
            yield from _work(client, kit)


def _greet(address: str) -> None:
    """Raise InputError where what is at *address*, if anything, does not say that it schedules.

    A client would wait without end for what says nothing, and take the first words of a web server
    for a length of exabytes.
    """
    from distributed.core import rpc
    from distributed.security import Security

    async def asked() -> str:
        about = Security().get_connection_args("client")
        async with (
            asyncio.timeout(REACHED + 1.0),
            rpc(address, timeout=REACHED, connection_args=about) as there,
        ):
            return str((await there.identity())["type"])

    try:
        with ThreadPoolExecutor(1) as thread:  # this one may have a loop of its own
            kind = thread.submit(asyncio.run, asked()).result()
        why = None if kind == "Scheduler" else f"it is a {kind.lower()}"
    except TimeoutError:
        why = "nothing that listens there answers"
    except (OSError, ValueError, TypeError) as error:  # the last for want of certificates
        why = " ".join(str(error).split())
    except Exception as error:
        why = f"what is there is none ({type(error).__name__})"
    if why is not None:
        raise InputError(f"no scheduler is reached at {address}: {why}")


@contextmanager
def started(jobs: int, kit: Kit) -> Iterator[Workers]:
    """Give a cluster of *jobs* worker processes on this machine, which ends with the work."""
    _require()
    from distributed import Client, LocalCluster

    with _quiet():
        with deaf():
            cluster = LocalCluster(
                n_workers=jobs,
                threads_per_worker=1,
                host=_HERE,
                dashboard_address=f"{_HERE}:0",
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
            )
        try:
            with _closing(Client(cluster, set_as_default=False)) as client:
                yield from _work(client, kit)
        finally:
            cluster.close(timeout=CLOSED)


class _Cluster(Executor):
    """Sends each task in a parcel, the same for every cluster; tasks that are equal are all done.

    Its own futures are those of Dask's executor, which learn of the loss of a worker or a
    scheduler.
    """

    def __init__(self, client: Client, kit: Kit) -> None:
        self._executor = client.get_executor(pure=False)
        self._run = uuid4().hex
        self._kit = kit

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        import cloudpickle

        parcel = Parcel(self._run, self._kit, fn, *args)
        future: Future[Any] = self._executor.submit(pickle.loads, cloudpickle.dumps(parcel))
        return future


def _work(client: Client, kit: Kit) -> Iterator[Workers]:
    """Yield the workers of *client* once they were looked at; say in words what befalls them."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    def threads() -> int:
        try:
            return sum(client.nthreads().values())
        except OSError:
            raise EvictbenchError(_LOST) from None

    _look_at(client, kit)
    try:
        yield Workers(_Cluster(client, kit), threads(), remote=True, now=threads)
    except KilledWorker as error:
        raise EvictbenchError(
            f"{error.allowed_failures + 1} workers died one after another at the same task, "
            f"the last of them {error.last_worker.address}, perhaps for want of memory"
        ) from None
    except (CancelledError, CommClosedError):
        raise EvictbenchError(_LOST) from None
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in PACKAGES:
            raise
        raise EvictbenchError(f"a worker, which came later, {CODE} or none") from None


def _look_at(client: Client, kit: Kit) -> None:
    """Raise InputError with the first worker that lacks something of *kit*, and how many do."""
    found: Mapping[str, Any] = _everywhere(client, kit.lacking)
    unfit = {worker: lacking for worker, lacking in found.items() if lacking is not None}
    if not unfit:
        return
    worker, lacking = min(unfit.items())
    if isinstance(lacking, ImportError | AttributeError):
        lacking = "has no evictbench" if lacking.name in PACKAGES else f"{CODE} ({lacking})"
    elif isinstance(lacking, Exception):
        lacking = f"fails, {type(lacking).__name__}: {lacking}"
    elif lacking == CODE:
        lacking += _which(client, worker)
    others = f"; {len(unfit) - 1} more of {len(found)} are unfit" if len(unfit) > 1 else ""
    raise InputError(f"worker {worker} {lacking}{others}")


def _which(client: Client, worker: str) -> str:
    """Return the names of files in which the code of *worker* is another, in parentheses."""
    theirs = _everywhere(client, _own_files, [worker])[worker]
    names = differing(code_files(), theirs)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f" ({', '.join(names[:_NAMED])}{more})"


def _own_files() -> dict[str, str]:
    return dict(code_files())


class _Call:
    """A call that is made where it is unpickled."""

    def __init__(self, fn: Callable[[], Any]) -> None:
        self._fn = fn

    def __reduce__(self) -> tuple[Callable[[], Any], tuple[()]]:
        return self._fn, ()


def _everywhere(
    client: Client, fn: Callable[[], Any], workers: list[str] | None = None
) -> dict[str, Any]:
    """Return what *fn* returns on each worker, or the exception that it raises there."""
    call = pickle.dumps(_Call(fn))
    found: dict[str, Any] = client.run(pickle.loads, call, workers=workers, on_error="return")
    return found


@contextmanager
def _closing(client: Client) -> Iterator[Client]:
    """Give *client*, and close it; left by an exception, what it has asked for is given up."""
    try:
        yield client
    finally:
        client.close(timeout=CLOSED)


def _require() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError(
            "a Dask cluster needs the package distributed: pip install evictbench[cluster]"
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Dask say nothing of its own: what a user must know is said in a sentence."""
    from distributed.versions import VersionMismatchWarning

    names = [name for name in logging.root.manager.loggerDict if _of_dask(name)]
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)


def _of_dask(name: str) -> bool:
    return name.partition(".")[0] in ("distributed", "tornado")
