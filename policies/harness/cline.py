"""cline: near the most input, all but the newest tokens and the latest prompt is summarised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.cline_basic import Basic
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.history import typed
from sim.segments import Kind
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Cline"]


class Cline(Summarising):
    """Summarises what is older than the newest 20,000 tokens, but for the latest typed prompt.

    Fewer stay where more than 0.7 of the trigger would be left. Where no summary comes, and where
    the provider refuses the request, all that was typed and the newest stay, and a list of files
    and commands takes the place of the rest; its length is assumed. The most input is the budget.
    Source: sdk/packages/core/src/extensions/context of Cline at 21cb8d25, compaction.ts,
    agentic-compaction.ts and basic-compaction.ts (read in source).
    """

    name = "cline"
    summary = "near the most input, summarises all but the newest tokens and the latest prompt"
    source = "Cline SDK, agentic-compaction.ts"
    version = "Cline 21cb8d25, read in source"
    options = (
        CAP,
        number("trigger", "share of the budget from which on it compacts", 0.9, 0.0, 1.0),
        number("target", "share of the trigger that may be left", 0.7, 0.0, 1.0),
        whole("keep", "newest history that stays", "tokens", 20_000, 0),
        whole("results", "what the summariser sees of a result", "characters", 2_000, 1),
        whole("list", "length of the list in the place of a summary", "tokens", 100, 1),
        *FREE_TEXT,
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["cline"])
        yield _Agentic(Asking.of(options), options)


class _Agentic(Compacting):
    def __init__(self, asking: Asking, options: Options) -> None:
        super().__init__(asking)
        self._basic = Basic(options)
        self._results: int = options["results"]

    def start(self, view: View) -> None:
        super().start(view)
        self._basic.start(view)

    def due(self, view: View) -> bool:
        return self._basic.due(view)

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        prompts = [segment for segment in history if typed(segment)]
        return self._basic.outgoing(view, history, prompts[-1:])

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        cap = max(1, view.tokens_of(self._results, Kind.TOOL_RESULT))
        return (Summariser(window=view.context_window, result_cap=cap),)

    def otherwise(self, view: View) -> Iterator[Action]:
        yield from self._basic.on_overflow(view)

    def on_overflow(self, view: View) -> Iterator[Action]:
        yield from self._basic.on_overflow(view)
