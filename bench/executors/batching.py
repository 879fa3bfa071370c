"""Batches: tasks dealt out in handfuls that are worth sending, by what others like them took."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from math import ceil
from typing import Generic, TypeVar

__all__ = ["Batches"]

Task = TypeVar("Task")


class Batches(Generic[Task]):
    """Deals *tasks* out in their order, about *worth* seconds of them to a batch.

    Tasks of one *kind* are expected to take as long as the latest of it did, those of a kind that
    none is known of as long as all did on average; of such a kind, a batch gets one task and no
    more.
    """

    def __init__(
        self, tasks: Iterable[Task], kind: Callable[[Task], Hashable], worth: float
    ) -> None:
        self._left = deque(tasks)
        self._kind = kind
        self._worth = worth
        self._pace: dict[Hashable, float] = {}
        self._seconds, self._done = 0.0, 0

    def deal(self, workers: int) -> list[Task]:
        """Return the next batch; it is empty when every task was dealt out.

        Where the tasks left do not suffice for a batch to each of *workers*, it is a fair share.
        """
        most = ceil(len(self._left) / workers)
        batch: list[Task] = []
        seconds = 0.0
        tried: set[Hashable] = set()
        while len(batch) < most and (not batch or seconds < self._worth):
            kind = self._kind(self._left[0])
            if kind not in self._pace:
                if kind in tried:
                    break
                tried.add(kind)
            batch.append(self._left.popleft())
            seconds += self._expected(kind)
        return batch

    def took(self, task: Task, seconds: float) -> None:
        """Take in that *task* took so many *seconds*."""
        kind = self._kind(task)
        self._pace[kind] = (self._pace.get(kind, seconds) + seconds) / 2
        self._seconds += seconds
        self._done += 1

    def _expected(self, kind: Hashable) -> float:
        """Return the seconds that a task of *kind* may take; *worth* while nothing is known."""
        average = self._seconds / self._done if self._done else self._worth
        return self._pace.get(kind, average)
