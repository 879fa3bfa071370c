"""openhands-llm-summarizing: past so many events, the middle becomes one summary event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.history import before_pairs, is_event
from sim.errors import InputError
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.segments import Segment
    from sim.view import View

__all__ = ["OpenhandsLlmSummarizing"]


class OpenhandsLlmSummarizing(Summarising):
    """Keeps the first events and a tail, and has the summary before and the rest summarised.

    The events that are left, the summary among them, are half of ``max_size``. The configuration's
    defaults are 100 events and the first 1; the user interface sets 120 and 4. Source:
    LLMSummarizingCondenser of OpenHands V0, openhands/memory/condenser/impl at 156d0686 (read in
    source).
    """

    name = "openhands-llm-summarizing"
    summary = "past so many events, makes one summary of all but the first and a tail"
    source = "OpenHands V0, LLMSummarizingCondenser"
    version = "OpenHands 156d0686, read in source"
    options = (
        CAP,
        whole("max_size", "events above which it condenses", "events", 100, 1),
        whole("keep_first", "first events that stay, the system prompt among them", "events", 1, 0),
        whole("event", "what the summariser sees of each event", "characters", 10_000, 1),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the condenser; raises InputError where no tail would be left."""
        yield from capping(options, CAPS["openhands"])
        first, half = options["keep_first"], options["max_size"] // 2
        if first >= half - 1:
            raise InputError(
                f"policy {self.name}: keep_first {first} leaves no tail of the {half} events that "
                "are half of max_size"
            )
        yield _Condenser(Asking.of(options), options)


class _Condenser(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking, is_event)
        self._most: int = options["max_size"]
        self._first: int = options["keep_first"]
        self._event: int = options["event"]

    def due(self, view: View) -> bool:
        return len(self.history) > self._most

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        tail = self._most // 2 - self._first - 1
        cut = before_pairs(view, history, len(history) - tail)
        return history[self._first : cut]

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        cap = view.tokens_of(self._event, Kind.TOOL_RESULT)
        return (Summariser(window=view.context_window, item_cap=max(1, cap)),)
