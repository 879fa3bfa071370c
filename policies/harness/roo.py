"""roo: near the window, the whole history becomes one summary with the read files' signatures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.oldest import without_oldest
from sim.segments import Kind

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Roo"]


class Roo(Summarising):
    """Condenses everything, the task included, into a summary and folded signatures of read files.

    How long signatures are is assumed, as a share of what was read of each file. Where no summary
    comes, the older half of the messages behind the first is hidden; where the provider refuses,
    the oldest quarter, up to 3 times. What is hidden comes back for a user who rewinds alone, so
    it is gone here. Commands in the first message, which stay, are not told apart from its text.
    Source: src/core/condense and src/core/context-management of Roo Code at cb836567 (read in
    source).
    """

    name = "roo"
    summary = "near the window, summarises everything; hides the older half where that fails"
    source = "Roo Code, condense"
    version = "Roo Code cb836567, read in source"
    options = (
        CAP,
        number("threshold", "share of W from which on it condenses", 1.0, 0.0, 1.0),
        number("buffer", "share of W that stays free", 0.1, 0.0, 1.0),
        whole("reserve", "room for the answer", "tokens", 8_192, 0),
        number("signatures", "length of signatures, of what was read of a file", 0.1, 0.0, 1.0),
        whole("folded", "most that signatures take together", "characters", 50_000, 0),
        number("overflow", "share of the messages that stays on overflow", 0.75, 0.0, 1.0),
        whole("tries", "how often it hides on overflow", "times", 3, 0),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condensing."""
        yield from capping(options, CAPS["roo"])
        yield _Condense(Asking.of(options), options)


class _Condense(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._threshold: float = options["threshold"]
        self._buffer: float = options["buffer"]
        self._reserve: int = options["reserve"]
        self._signatures: float = options["signatures"]
        self._folded: int = options["folded"]
        self._stays: float = options["overflow"]
        self._tries: int = options["tries"]

    def due(self, view: View) -> bool:
        return view.tokens >= self._threshold * view.context_window or self._cramped(view)

    def _cramped(self, view: View) -> bool:
        return view.tokens > (1 - self._buffer) * view.context_window - self._reserve

    def more(self, view: View, sources: Sequence[Segment]) -> int:
        read = {s.path: s.tokens for s in sources if s.path is not None and not s.sources}
        folded = int(self._signatures * sum(read.values()))
        return min(folded, view.tokens_of(self._folded, Kind.SUMMARY))

    def otherwise(self, view: View) -> Iterator[Action]:
        if self._cramped(view):
            yield from without_oldest(list(self.history), 0.5, "hidden")

    def on_overflow(self, view: View) -> Iterator[Action]:
        for _ in range(self._tries):
            if view.over <= 0:
                return
            yield from without_oldest(list(self.history), 1 - self._stays, "hidden")
