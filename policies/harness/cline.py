"""cline: near the most input, all but the newest tokens and the latest prompt is summarised."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import FREE_TEXT, Asking
from policies.parts.capping import CAP, capping
from policies.parts.compacting import Compacting
from policies.parts.history import behind_pairs, newest, typed
from policies.parts.units import size
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
        self._trigger: float = options["trigger"]
        self._target: float = options["target"]
        self._keep: int = options["keep"]
        self._results: int = options["results"]
        self._list = Asking(lambda view: 0.0)
        self._length: int = options["list"]

    def due(self, view: View) -> bool:
        return view.tokens >= self._trigger * view.budget

    def chosen(self, view: View, history: Sequence[Segment]) -> Sequence[Segment]:
        prompts = [segment for segment in history if typed(segment)]
        return self._but(view, history, prompts[-1:])

    def _but(
        self, view: View, history: Sequence[Segment], prompts: Sequence[Segment]
    ) -> Sequence[Segment]:
        """Return what goes of *history* where *prompts* and the newest stay."""
        sizes = [view.size(segment) for segment in history]
        apart = view.tokens - sum(sizes) + sum(map(view.size, prompts))
        left = int(self._target * self._trigger * view.budget) - apart
        cut = behind_pairs(view, history, newest(sizes, min(self._keep, max(0, left))))
        return [segment for segment in history[:cut] if segment not in prompts]

    def summarisers(self, view: View, sources: Sequence[Segment]) -> Sequence[Summariser]:
        cap = max(1, view.tokens_of(self._results, Kind.TOOL_RESULT))
        return (Summariser(window=view.context_window, result_cap=cap),)

    def otherwise(self, view: View) -> Iterator[Action]:
        history = list(self.history)
        went = self._but(view, history, [segment for segment in history if typed(segment)])
        if size(went) > self._length:
            # Nobody is asked by a summariser that is shown nothing: it leaves a fixed text.
            yield from self._list.ask(view, went, Summariser(input_cap=0), more=self._length - 1)

    def on_overflow(self, view: View) -> Iterator[Action]:
        yield from self.otherwise(view)
