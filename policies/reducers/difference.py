"""The difference between the last two results of a tool: usually it says more than either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.reducers.log import Log
    from policies.reducers.room import Room

__all__ = ["difference"]


def difference(before: Log, after: Log, room: Room) -> str | None:
    """Return what *after* says that *before*, which is still to be seen, did not; and what is gone.

    Lines that are gone begin with ``-``, new ones with ``+``, each in the order of its output; the
    first line says how many there are. Blank lines do not count. None if the difference does not
    fit: it is never cut.
    """
    old, new = before.lines, after.lines
    gone, come = list(_beyond(old, new)), list(_beyond(new, old))
    if gone or come:
        head = f"[as before, but for {_lines(len(gone))} gone and {len(come):,} new]"
    else:
        head = "[the same as before]"
    text = "\n".join([head, *(f"- {line}" for line in gone), *(f"+ {line}" for line in come)])
    return text if room.fits(text) else None


def _beyond(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield the *lines* that stand in *others* less often, as often as they do."""
    left = Counter(others)
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        elif line and not line.isspace():
            yield line


def _lines(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"
