"""Workers: an executor, with what must be known of it to share work out well."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

__all__ = ["DIED", "WORTH", "Workers"]

WORTH = 0.5
"""Seconds of work from which a task is worth sending to another process."""

DIED = "a worker process died, perhaps for want of memory; try fewer with --jobs"
"""What is said of workers that cannot go on after one of them has died."""


@dataclass(frozen=True, slots=True)
class Workers:
    """An *executor* that does *count* tasks at a time, each of at least *worth* seconds if it can.

    *remote* is whether they may be on other machines, with files of their own.
    """

    executor: Executor
    count: int
    worth: float = WORTH
    remote: bool = False
