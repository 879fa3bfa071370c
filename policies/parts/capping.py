"""Capping: the most of a result that a harness lets in, in its own units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.options import switch
from policies.parts.tools import is_command
from sim.actions import Admit
from sim.segments import Kind

if TYPE_CHECKING:
    from policies.options import Options
    from sim.segments import Segment
    from sim.view import View

__all__ = ["CAP", "OF", "Cap", "Capping", "capping"]

CAP = switch("cap", "cut what is over the harness's limit for a result as it comes in")
"""Option of a policy whose harness has a limit for what comes in."""

OF: dict[str, Callable[[Segment], bool]] = {
    "results": lambda segment: True,
    "commands": is_command,
    "reads": lambda segment: segment.kind is Kind.FILE,
    "others": lambda segment: segment.kind is not Kind.FILE and not is_command(segment),
}
"""What a cap is for: every result, those of commands, files that were read, or all other ones."""

_RESULTS = frozenset({Kind.FILE, Kind.TOOL_RESULT})


@dataclass(frozen=True, slots=True)
class Cap:
    """The most of a result that comes in, and what is left of one that is over it.

    A result is over it that has more than any of *characters* (bytes count as characters),
    *lines* and *tokens*, or more than *remaining* characters for each token that the context window
    has left. It is then cut to the smallest of these, or to *leaves* lines where they are given,
    in one of the forms of ``sim.reduction``. Notes on what was cut count with what is left. Of a
    form that keeps the whole in a file, one read brings as much as the cap allows.
    """

    form: str
    characters: int | None = None
    lines: int | None = None
    tokens: int | None = None
    remaining: float | None = None
    leaves: int | None = None
    of: str = "results"
    """One of :data:`OF`."""

    @property
    def keeps(self) -> bool:
        """Whether the harness keeps the whole, and says where."""
        return self.form == "pointer" or self.form.endswith("-saved")

    def admission(self, view: View, segment: Segment) -> Admit | None:
        """Return how an arrival enters that is over the cap, None if it is not."""
        limits = list(self._limits(view, segment))
        if not any(over for over, _ in limits):
            return None
        allowed = max(1, min(tokens for _, tokens in limits))
        tokens = min(self._left(view, segment, allowed), segment.tokens)
        return Admit(tokens, self.form, page=allowed if self.keeps else None)

    def _limits(self, view: View, segment: Segment) -> Iterator[tuple[bool, int]]:
        """Yield for each limit whether *segment* is over it, and its tokens."""
        kind, characters = segment.kind, view.characters(segment)
        if self.characters is not None:
            yield characters > self.characters, view.tokens_of(self.characters, kind)
        if self.remaining is not None:
            room = self.remaining * max(0, view.context_window - view.tokens)
            yield characters > room, view.tokens_of(room, kind)
        if self.lines is not None:
            room = self.lines * view.settings.line_characters
            yield view.lines(segment) > self.lines, view.tokens_of(room, kind)
        if self.tokens is not None:
            size = view.size(segment)
            yield size > self.tokens, math.floor(segment.tokens * self.tokens / size)

    def _left(self, view: View, segment: Segment, allowed: int) -> int:
        """Return what of a result that is over the cap comes in, in tokens."""
        if self.form == "pointer":
            return max(1, view.settings.surrogate_tag_tokens)
        if self.leaves is None:
            return allowed
        characters = self.leaves * view.settings.line_characters
        return max(1, min(allowed, view.tokens_of(characters, segment.kind)))


class Capping:
    """A door open to everything, where a result over the first of *caps* that is for it is cut.

    What is read of a file that holds the rest of a result has been cut already.
    """

    def __init__(self, caps: Sequence[Cap]) -> None:
        self._caps = caps

    def on_arrival(self, view: View, segment: Segment) -> Iterator[Admit]:
        """Admit *segment*."""
        cap = None
        if segment.kind in _RESULTS and segment.page_of is None:
            cap = next((cap for cap in self._caps if OF[cap.of](segment)), None)
        cut = None if cap is None else cap.admission(view, segment)
        yield cut or Admit(segment.tokens)


def capping(options: Options, caps: Sequence[Cap]) -> Iterable[Capping]:
    """Yield the door of a policy with the option :data:`CAP` and these *caps*, if it is on."""
    if options.on("cap"):
        yield Capping(caps)
