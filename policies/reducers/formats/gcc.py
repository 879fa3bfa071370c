"""gcc, clang and their kin: the first error of each file, the linker's too."""

from __future__ import annotations

from collections.abc import Iterator

from policies.reducers.build import build, last_words
from policies.reducers.compilers import (
    ANCHORS,
    clusters,
    diagnostics,
    is_closing,
    lines_with,
    listed,
    noted,
    widened,
)
from policies.reducers.form import Form
from policies.reducers.log import Log, Span

__all__ = ["REDUCER", "Gcc"]

_GAP = 30
"""Lines of something else, such as commands, that may stand between two diagnostics."""


class Gcc:
    """Diagnostics of gcc, g++, clang, clang-tidy, gfortran, nvcc and the linkers.

    The layout is that of "Formatting of diagnostics" in the gcc manual and of clang's
    ``-fdiagnostics-format=clang``.
    """

    name = "gcc"
    about = "the first error of each file, the linker's too; warnings counted"
    kind = "build"
    rank = 48
    hints = ANCHORS

    def find(self, log: Log) -> Iterator[Span]:
        """Yield the runs of diagnostics with their include chains and source lines."""
        own = set(listed(log))
        for group in clusters(sorted(own.union(noted(log))), _GAP) if own else ():
            if not own.isdisjoint(group):
                yield widened(log, group)

    def read(self, log: Log) -> Form | None:
        """Return the errors by file, or the warnings where there is no error."""
        numbers = lines_with(log, ANCHORS)
        found = diagnostics(log, numbers=numbers)
        closing = [
            log.lines[number]
            for number in lines_with(log, ("compilation terminated", "generated", "error"))
            if is_closing(log.lines[number])
        ]
        if not found and not closing:
            return None
        return build(self.name, log, found, verdict=last_words(closing))


REDUCER = Gcc()
