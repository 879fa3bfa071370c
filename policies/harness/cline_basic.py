"""cline-basic: near the most input, a list of files and commands takes the place of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from policies.harness.caps import CAPS
from policies.harness.summarising import Summarising
from policies.options import Options, number, whole
from policies.parts.asking import Asking
from policies.parts.capping import CAP, capping
from policies.parts.history import History, behind_pairs, newest, typed
from policies.parts.units import size
from sim.summariser import Summariser

if TYPE_CHECKING:
    from sim.actions import Action
    from sim.segments import Segment
    from sim.view import View

__all__ = ["Basic", "ClineBasic"]


class ClineBasic(Summarising):
    """Keeps all that was typed and the newest 20,000 tokens, and asks no model about the rest.

    It is what ``cline`` falls back to. Fewer stay where more than 0.7 of the trigger would be left.
    The length of the list is assumed. It acts where the provider refuses, too. Source: Cline at
    21cb8d25, sdk/packages/core/src/extensions/context/basic-compaction.ts (read in source).
    """

    name = "cline-basic"
    summary = "near the most input, keeps what was typed and the newest, and lists the rest"
    source = "Cline SDK, basic-compaction.ts"
    version = "Cline 21cb8d25, read in source"
    options = (
        CAP,
        number("trigger", "share of the budget from which on it compacts", 0.9, 0.0, 1.0),
        number("target", "share of the trigger that may be left", 0.7, 0.0, 1.0),
        whole("keep", "newest history that stays", "tokens", 20_000, 0),
        whole("list", "length of the list in the place of the rest", "tokens", 100, 1),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the cap and the compaction."""
        yield from capping(options, CAPS["cline"])
        yield Basic(options)


class Basic:
    """Puts a list of a fixed length in the place of what is neither typed nor among the newest."""

    def __init__(self, options: Options) -> None:
        self._trigger: float = options["trigger"]
        self._target: float = options["target"]
        self._keep: int = options["keep"]
        self._length: int = options["list"]
        self._asking = Asking(lambda view: 0.0)
        self._history = History()

    def start(self, view: View) -> None:
        """Ask for the history, in the order of the request."""
        self._history.start(view)

    def due(self, view: View) -> bool:
        """Whether the request has come to the trigger."""
        return view.tokens >= self._trigger * view.budget

    def outgoing(
        self, view: View, history: Sequence[Segment], prompts: Sequence[Segment]
    ) -> list[Segment]:
        """Return what goes of *history* where *prompts* and the newest stay."""
        sizes = [view.size(segment) for segment in history]
        apart = view.tokens - sum(sizes) + sum(map(view.size, prompts))
        left = int(self._target * self._trigger * view.budget) - apart
        cut = behind_pairs(view, history, newest(sizes, min(self._keep, max(0, left))))
        return [segment for segment in history[:cut] if segment not in prompts]

    def before_call(self, view: View) -> Iterator[Action]:
        """Make the list if it is due."""
        if self.due(view):
            yield from self.on_overflow(view)

    def on_overflow(self, view: View) -> Iterator[Action]:
        """Make the list."""
        history = list(self._history)
        went = self.outgoing(view, history, [segment for segment in history if typed(segment)])
        if size(went) > self._length:
            # Nobody is asked by a summariser that is shown nothing: it leaves a fixed text.
            yield from self._asking.ask(view, went, Summariser(input_cap=0), more=self._length - 1)
