"""Arrival: how much of a tool result enters the window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from sim.actions import Admit

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["ARRIVAL", "Admission", "Sizing", "first_page", "reduced", "whole"]

Sizing = Callable[["Segment"], tuple[int, str]]
"""Says at which size an arrival enters, and how: whole, reduced or page."""


def whole(segment: Segment) -> tuple[int, str]:
    """Everything, whatever its size."""
    return segment.tokens, "whole"


def reduced(segment: Segment) -> tuple[int, str]:
    """A result over its tool's limit in the form that its own structure leaves."""
    if segment.reduced_tokens is None or segment.reduced_tokens >= segment.tokens:
        return whole(segment)
    return segment.reduced_tokens, "reduced"


def first_page(segment: Segment) -> tuple[int, str]:
    """A result over its tool's limit as its first page, with a cursor."""
    limit = segment.max_result_tokens
    if limit is None or limit >= segment.tokens:
        return whole(segment)
    return limit, "page"


ARRIVAL: dict[str, Sizing] = {"on": reduced, "off": whole, "page": first_page}
"""What the option ``arrival`` of a policy chooses from."""


class Admission:
    """A door that is open to everything, at the size that *sizing* says."""

    def __init__(self, sizing: Sizing) -> None:
        self._sizing = sizing

    def on_arrival(self, view: View, segment: Segment) -> Iterator[Admit]:
        """Admit *segment*."""
        yield Admit(*self._sizing(segment))
