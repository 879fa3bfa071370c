"""agent-framework: in stages, results are collapsed first, and then the oldest goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from policies.options import Options, number, switch, whole
from policies.parts.clearing import is_result
from policies.parts.history import History, in_history
from policies.parts.rewriting import taggable
from policies.policy import Composed
from sim.actions import Evict, Rewrite

if TYPE_CHECKING:
    from sim.view import View

__all__ = ["AgentFramework"]


class AgentFramework(Composed):
    """Collapses results above half of the budget, and truncates the history above 0.8 of it.

    Both go oldest first and stop where their limit is met; what stays at the least is not said in
    the source. A result leaves a short text beside its call, whose length is assumed. Source:
    Microsoft Agent Framework, page on compaction (documentation).
    """

    name = "agent-framework"
    summary = "in stages, collapses the oldest results, and then drops the oldest messages"
    source = "Microsoft Agent Framework, compaction"
    version = "learn.microsoft.com, documentation"
    options = (
        switch("collapse", "put a short text in the place of the oldest results"),
        number("results", "share of the budget above which it does", 0.5, 0.0, 1.0),
        whole("stub", "what is put in the place of each, with its tag", "tokens", 12, 1),
        switch("truncate", "drop the oldest messages"),
        number("history", "share of the budget above which it does", 0.8, 0.0, 1.0),
    )

    def compose(self, options: Options) -> Iterable[Any]:
        """Return the two stages."""
        if options.on("collapse"):
            yield _Collapse(options["results"], options["stub"])
        if options.on("truncate"):
            yield _Truncate(options["history"])

    def breaks(self, options: Options) -> Iterable[str]:
        """Return the rules that it knows nothing of."""
        return ("ignores_pins", "spends", "untagged")


class _Collapse:
    def __init__(self, share: float, stub: int) -> None:
        self._share = share
        self._stub = stub
        self._results = History(lambda s: is_result(s) and not s.sources and s.tokens > stub)

    def start(self, view: View) -> None:
        self._results.start(view)

    def before_call(self, view: View) -> Iterator[Rewrite]:
        for result in self._results:
            if view.tokens <= self._share * view.budget:
                return
            says = taggable([result])
            yield Rewrite((result.id,), self._stub, says, "results", stub=True, preview=(0, 0))


class _Truncate:
    def __init__(self, share: float) -> None:
        self._share = share
        self._history = History(in_history)

    def start(self, view: View) -> None:
        self._history.start(view)

    def before_call(self, view: View) -> Iterator[Evict]:
        for segment in self._history:
            if view.tokens <= self._share * view.budget:
                return
            yield Evict(segment.id, "history")
