"""How far a comparison has come, with the time left: on a terminal only, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Report", "shown"]

Report = Callable[[int, int], object]
"""Told the number of runs that are done and the number planned."""


@contextmanager
def shown(what: str) -> Iterator[Report]:
    """Give a report that draws a bar for *what*; it draws nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda done, planned: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, planned: bar.update(task, completed=done, total=planned)
