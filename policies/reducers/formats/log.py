"""Plain logs: lines of no tool that is known."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.form import Form
from policies.reducers.log import Log, Span
from policies.reducers.plain import Plain

__all__ = ["REDUCER", "PlainLog"]


class PlainLog:
    """Any lines."""

    name = "log"
    kind = "log"
    about = "repeated lines once with a count, errors kept, head and tail with a marked gap"
    rank = 0
    hints = ()

    def find(self, log: Log) -> Iterator[Span]:
        """Yield all of *log*."""
        yield Span(0, len(log))

    def read(self, log: Log) -> Form | None:
        """Return its lines, to be folded where they repeat."""
        return Plain(log)


REDUCER = PlainLog()
