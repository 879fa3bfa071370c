"""roo-truncation: near the window, half of the messages behind the first are hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.editing import Dropping
from policies.options import Options, number, whole
from policies.parts.capping import CAP, capping
from policies.parts.history import History, in_history
from policies.parts.oldest import without_oldest

if TYPE_CHECKING:
    from sim.actions import Evict
    from sim.view import View

__all__ = ["RooTruncation"]


class RooTruncation(Dropping):
    """Hides the older half of the messages behind the first, an even number, without a summary.

    It is what ``roo`` falls back to, with condensing off. Where the provider refuses, it hides the
    oldest quarter, up to 3 times. What is hidden comes back for a user who rewinds alone, so that
    it is gone here. What the model said in one turn is one message. Source: Roo Code at cb836567,
    src/core/context-management/index.ts (read in source).
    """

    name = "roo-truncation"
    summary = "near the window, hides the older half of the messages behind the first"
    source = "Roo Code, context-management"
    version = "Roo Code cb836567, read in source"
    options = (
        CAP,
        number("buffer", "share of W that stays free", 0.1, 0.0, 1.0),
        whole("reserve", "room for the answer", "tokens", 8_192, 0),
        number("hidden", "share of the messages that is hidden", 0.5, 0.0, 1.0),
        number("overflow", "share of the messages that stays on overflow", 0.75, 0.0, 1.0),
        whole("tries", "how often it hides on overflow", "times", 3, 0),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the truncation."""
        yield from capping(options, CAPS["roo"])
        yield _Truncation(options)


class _Truncation:
    def __init__(self, options: Options) -> None:
        self._buffer: float = options["buffer"]
        self._reserve: int = options["reserve"]
        self._hidden: float = options["hidden"]
        self._stays: float = options["overflow"]
        self._tries: int = options["tries"]
        self._history = History(in_history)

    def start(self, view: View) -> None:
        self._history.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        if view.tokens > (1 - self._buffer) * view.context_window - self._reserve:
            yield from without_oldest(list(self._history), self._hidden, "hidden")

    def on_overflow(self, view: View) -> Iterator[Evict]:
        for _ in range(self._tries):
            if view.over <= 0:
                return
            yield from without_oldest(list(self._history), 1 - self._stays, "hidden")
