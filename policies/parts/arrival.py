"""Arrival: how much of a tool result enters the window, and in which form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from policies.options import choice, switch
from sim.actions import Admit

if TYPE_CHECKING:
    from policies.options import Options
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OPTIONS", "Admission", "Sizing", "sizing", "whole"]

Sizing = Callable[["View", "Segment"], tuple[int, str]]
"""Says at which size an arrival enters, and in which of the forms of ``sim.reduction``.

What it says holds for the window as it is: a difference rests on another result, which may leave.
"""


def whole(view: View, segment: Segment) -> tuple[int, str]:
    """Everything, whatever its size."""
    return segment.tokens, "whole"


def reduced(view: View, segment: Segment) -> tuple[int, str]:
    """A result over its tool's limit as its structure leaves it, or paged if its tool pages."""
    if segment.paged:
        return first_page(view, segment)
    if segment.reduced_tokens is None or segment.reduced_tokens >= segment.tokens:
        return whole(view, segment)
    return segment.reduced_tokens, "reduced"


def cut(view: View, segment: Segment) -> tuple[int, str]:
    """A result over its tool's limit as head and tail, whatever its structure."""
    limit = _limit(segment)
    return whole(view, segment) if limit is None else (limit, "head-tail")


def first_page(view: View, segment: Segment) -> tuple[int, str]:
    """A result over its tool's limit as its first page, with a cursor."""
    limit = _limit(segment)
    return whole(view, segment) if limit is None else (limit, "page")


def spilled(view: View, segment: Segment) -> tuple[int, str]:
    """A result over its tool's limit reduced, with a pointer to the file that holds all of it."""
    limit = _limit(segment)
    if limit is None or segment.reduced_tokens is None:
        return whole(view, segment)
    pointer = view.settings.surrogate_tag_tokens
    return min(limit, segment.reduced_tokens + pointer), "spill"


def _limit(segment: Segment) -> int | None:
    """Return the limit that *segment* exceeds, None if it does not."""
    limit = segment.max_result_tokens
    over = limit is not None and limit < segment.tokens and segment.reduced_tokens is not None
    return limit if over else None


_FORMS: dict[str, Sizing] = {
    "on": reduced,
    "off": whole,
    "head-tail": cut,
    "page": first_page,
    "spill": spilled,
}

OPTIONS = (
    choice(
        "arrival",
        "of an oversized result let in what its structure leaves; head-tail: both ends; page: the "
        "first page; spill: reduced, and the whole in a file",
        "on",
        *_FORMS,
    ),
    switch(
        "delta", "let in only what differs from the result before it, while that is here", off=True
    ),
)
"""Options of a policy that decides how much of a result enters."""


def sizing(options: Options) -> Sizing:
    """Return how *options* size what arrives."""
    form = _FORMS[options["arrival"]]
    return _difference(form) if options.on("delta") else form


def _difference(form: Sizing) -> Sizing:
    """Return *form*, but for a result that is shorter as the difference to the one before it."""

    def size(view: View, segment: Segment) -> tuple[int, str]:
        tokens, how = form(view, segment)
        before, delta = segment.previous, segment.delta_tokens
        if before is None or not before.resident or delta is None or delta >= tokens:
            return tokens, how
        return delta, "delta"

    return size


class Admission:
    """A door that is open to everything, at the size that *sizing* says."""

    def __init__(self, sizing: Sizing) -> None:
        self._sizing = sizing

    def on_arrival(self, view: View, segment: Segment) -> Iterator[Admit]:
        """Admit *segment*."""
        yield Admit(*self._sizing(view, segment))
