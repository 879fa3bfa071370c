"""Work given out to workers in batches, and what comes back from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from time import perf_counter
from typing import TypeVar

from bench.executors.batching import Batches
from bench.executors.workers import Workers

__all__ = ["scatter"]

Task = TypeVar("Task")
Result = TypeVar("Result")

AHEAD = 2
"""Batches under way for each worker, so that none waits for its next."""


def scatter(
    workers: Workers,
    fn: Callable[[Task], Result],
    tasks: Sequence[Task],
    kind: Callable[[Task], Hashable] = lambda task: None,
) -> Iterator[Result]:
    """Yield what *fn* returns for each of *tasks*, as it comes.

    Tasks of one *kind* take about as long as each other. The first exception of a task ends the
    iteration.
    """
    batches = Batches(tasks, kind, workers.worth)
    running: dict[Future[list[tuple[Result, float]]], list[Task]] = {}
    while True:
        count = workers.at_work()
        while len(running) < AHEAD * count and (batch := batches.deal(count)):
            running[workers.executor.submit(_carry_out, fn, batch)] = batch
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            for task, (result, seconds) in zip(running.pop(future), future.result(), strict=True):
                batches.took(task, seconds)
                yield result


def _carry_out(fn: Callable[[Task], Result], batch: Sequence[Task]) -> list[tuple[Result, float]]:
    """Return, for each task of *batch*, its result and the seconds that it took."""
    found = []
    for task in batch:
        began = perf_counter()
        found.append((fn(task), perf_counter() - began))
    return found
