"""Workers: an executor, with what must be known of it to share work out well."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

__all__ = ["DIED", "WORTH", "Workers"]

WORTH = 1.0
"""Seconds of work that a task is made of: twice what makes it worth sending, being a guess."""

DIED = "a worker process died, perhaps for want of memory; try fewer with --jobs"
"""What is said of workers that cannot go on after one of them has died."""


@dataclass(frozen=True, slots=True)
class Workers:
    """An *executor* that does *count* tasks at a time, each made of about *worth* seconds.

    *remote* is whether they may be on other machines, with files of their own. *now* tells how
    many tasks it does at a time by now, where workers come and go.
    """

    executor: Executor
    count: int
    worth: float = WORTH
    remote: bool = False
    now: Callable[[], int] | None = None

    def at_work(self) -> int:
        """Return how many tasks are done at a time by now, 1 where there is no worker left."""
        return self.count if self.now is None else max(1, self.now())
