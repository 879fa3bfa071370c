"""The difference between the last two results of a tool: usually it says more than either."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from policies.reducers.form import Laid
from policies.reducers.gap import HeadTail
from policies.reducers.log import Log

if TYPE_CHECKING:
    from policies.reducers.room import Room

__all__ = ["difference"]


def difference(before: str, after: str, room: Room) -> Laid:
    """Return what is new in *after* and what is gone of *before*, which is still to be seen.

    Both are reduced texts, so that neither is long. Lines that are gone begin with ``-``, new ones
    with ``+``; the first line says how many there are. What does not fit is cut to head and tail,
    with a marked gap.
    """
    old, new = Log.of(before).lines, Log.of(after).lines
    changed = list(_changed(old, new))
    gone = sum(line[0] == "-" for line in changed)
    head = (
        f"[the same as the result before, but for {gone:,} lines gone and "
        f"{len(changed) - gone:,} new]"
    )
    if not changed:
        head = "[the same as the result before]"
    text = "\n".join([head, *changed])
    return Laid(text) if room.fits(text) else HeadTail(Log.of(text)).lay(room)


def _changed(old: list[str], new: list[str]) -> Iterator[str]:
    for what, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            yield from (f"- {line}" for line in old[i:j])
            yield from (f"+ {line}" for line in new[k:m])
